"""YAML as plain data, strictly: text stays text, no key twice, and every error says where it is.

Differs from `yaml.safe_load` on purpose. Numbers follow YAML 1.2 (`3e-4` is a number, `010` is ten, `1:30` is text),
dates stay text, and only true and false are truth values (a title may be `No`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from autograder.course.errors import CourseError, place

_PLAIN = [
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+", list("-+0123456789")),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
]
_COLLECTIONS = ("tag:yaml.org,2002:seq", "tag:yaml.org,2002:map")


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as the base has it


for _tag, _pattern, _first in _PLAIN:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first)


class _FastLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # not every PyYAML has it
    yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers


def read_yaml(path: Path, long: bool = False) -> Any:
    """The file's content as dicts, lists, text, numbers, truth values and None. Raises CourseError.

    A `long` file is read by libyaml where PyYAML has it, nine times as fast.
    """
    return parse_yaml(_read_text(path), path, long=long)


def parse_yaml(text: str, path: Path, long: bool = False, aliases: bool = True) -> Any:
    """The same of text at hand; `path` is for messages. Without `aliases`, a few lines of which can stand for millions
    of values, text may come from anybody."""
    try:
        root = yaml.compose(text, Loader=_FastLoader if long else _Loader)
    except yaml.MarkedYAMLError as error:
        problem = error.problem or "this cannot be read"
        raise CourseError.in_file(path, [f"{_line_and_column(error)}: not valid YAML, {problem}"]) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise CourseError.in_file(path, [f"line {line}: a control character stands here; remove it"]) from None
    except RecursionError:
        raise CourseError.in_file(path, ["file: nested too deeply"]) from None
    if root is None:
        raise CourseError.in_file(path, ["file: there is nothing in it"])
    problems = [] if aliases else _aliases(root)
    try:
        data = None if problems else _plain(root, (), (), problems)
    except RecursionError:
        raise CourseError.in_file(path, ["file: nested too deeply"]) from None
    if problems:
        raise CourseError.in_file(path, problems)
    return data


def _aliases(root: yaml.Node) -> list[str]:
    """What is wrong where an alias stands for another part: that part is met twice."""
    waiting, met = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in met:
            line = node.start_mark.line + 1
            return [f"line {line}: anchors and aliases are not used here; write the value where it belongs"]
        met.add(id(node))
        if isinstance(node, yaml.MappingNode):
            waiting += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
    return []


def _read_text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise CourseError(f"{path} does not exist") from None
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        problem = f"line {line}: byte {raw[error.start]:#04x} is not UTF-8; save the file as UTF-8"
        raise CourseError.in_file(path, [problem]) from None


def _line_and_column(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return f"line {mark.line + 1}, column {mark.column + 1}" if mark else "file"


def _plain(node: yaml.Node, where: tuple[str | int, ...], above: tuple[int, ...], problems: list[str]) -> Any:
    """A node as plain data; what is wrong with it goes to `problems`. `above` are the nodes it stands in."""
    if id(node) in above:
        problems.append(f"{place(where)}: an alias makes it contain itself")
        return None
    if isinstance(node, yaml.CollectionNode) and node.tag not in _COLLECTIONS:
        problems.append(f"{place(where)}: the tag {node.tag} is not used here")
        return None
    above += (id(node),)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, (*where, i), above, problems) for i, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, where, above, problems)
    return _scalar(node, where, problems)


def _mapping(
    node: yaml.MappingNode, where: tuple[str | int, ...], above: tuple[int, ...], problems: list[str]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        key = key_node.value
        if not isinstance(key_node, yaml.ScalarNode) or key_node.tag != "tag:yaml.org,2002:str":
            problems.append(f"{place(where)}: the key in line {line} must be text; put it in quotes")
            continue
        if key in found:
            problems.append(f"{place((*where, key))}: given twice, in lines {lines[key]} and {line}")
            continue
        lines[key] = line
        found[key] = _plain(value_node, (*where, key), above, problems)
    return found


def _scalar(node: yaml.Node, where: tuple[str | int, ...], problems: list[str]) -> Any:
    kind, text = node.tag.removeprefix("tag:yaml.org,2002:"), node.value
    try:
        match kind:
            case "str":
                return text
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int":
                return int(text)
            case "float":
                return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        problems.append(f"{place(where)}: {text[:20]}... cannot be read as a number")
        return None
    problems.append(f"{place(where)}: the tag {node.tag} is not used here")
    return None
