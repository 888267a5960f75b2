"""Read one student module so that a fault in it costs only what it touches.

The file is compiled statement by statement. A statement that does not parse, or raises, becomes a note with its line;
the functions around it still count. This module runs in the student's process, so nothing it says is trusted.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import re
import sys
import tokenize
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from io import BytesIO
from typing import Any

MAX_PIECES = 400
"""A file with more top-level pieces than this is not repaired, only reported."""

_PIECE = re.compile(r"(?:@|def |async def |class |import |from |if |for |while |with |try|[A-Za-z_(\[\"'#!%])")
_DEFINES = re.compile(r"(?:async\s+def|def|class)\s+(\w+)|(\w+)\s*(?::[^=]{1,80})?=(?!=)")


@dataclass
class Loaded:
    """A module that was read as far as it goes. `broken` maps a name to the sentence that says why it is not there."""

    module: types.ModuleType
    notes: list[str] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)


def load_module(name: str, source: bytes, filename: str) -> Loaded:
    """Execute `source` as module `name`, as far as it goes. Only a hard end of the process escapes."""
    module = types.ModuleType(name)
    module.__file__ = filename
    loaded = Loaded(module)
    sys.modules[name] = module
    text = decode(source, loaded.notes)
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    code = _compiled(text, filename)
    if code is None:
        left = list(_statements(text, filename, loaded))
    else:
        left = _run(code, lambda: ast.parse(text, filename).body, filename, loaded)
    flags = _future_flags(text) if left else 0
    while left:
        left = _run_statements(left, flags, filename, loaded)
    return loaded


@cache
def _compiled(text: str, filename: str) -> types.CodeType | None:
    """The code of a whole file, or None when it does not compile."""
    try:
        return compile(text, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _run(code: types.CodeType, parse: Callable[[], list[ast.stmt]], filename: str, loaded: Loaded) -> list[ast.stmt]:
    """Execute; when a statement raises, note that one. Returns the statements that are left to do."""
    try:
        exec(code, loaded.module.__dict__)
    except Exception as error:
        nodes = parse()
        at = _reached(nodes, _top_line(error, filename, nodes[0].lineno))
        _note_statement(nodes[at], error, filename, loaded)
        return nodes[at + 1 :]
    except BaseException as error:
        line = _top_line(error, filename, 1)
        name = builtin_name(error)
        loaded.notes.append(f"line {line} stopped the program ({name}); nothing after it was read")
    return []


def _run_statements(nodes: list[ast.stmt], flags: int, filename: str, loaded: Loaded) -> list[ast.stmt]:
    """Execute statements; one that does not compile is noted and left out. Returns what is left to do."""
    try:
        code = compile(ast.Module(nodes, []), filename, "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        at = _reached(nodes, getattr(error, "lineno", None) or nodes[0].lineno)
        _note_statement(nodes[at], error, filename, loaded)
        return nodes[:at] + nodes[at + 1 :]
    return _run(code, lambda: nodes, filename, loaded)


def _future_flags(text: str) -> int:
    names = re.findall(r"^from __future__ import ([\w, ]+)", text, re.MULTILINE)
    features = [getattr(__future__, name.strip(), None) for line in names for name in line.split(",")]
    flags: set[int] = {getattr(feature, "compiler_flag", 0) for feature in features}
    return sum(flags)


def _reached(nodes: list[ast.stmt], line: int) -> int:
    """Index of the statement that a line belongs to."""
    return max((i for i, node in enumerate(nodes) if _first_line(node) <= line), default=0)


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _top_line(error: BaseException, filename: str, default: int) -> int:
    """The line of the module's own top level at which an exception left it."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == filename and code.co_name == "<module>":
            return trace.tb_lineno
        trace = trace.tb_next
    return default


def decode(source: bytes, notes: list[str]) -> str:
    """The text of a source file: a BOM, a coding line and any line ends are fine; other bytes are read as Latin-1."""
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(source).readline)
        text = source.decode(encoding)
    except (SyntaxError, LookupError, UnicodeError):
        text = _decode_anyway(source, notes)
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode_anyway(source: bytes, notes: list[str]) -> str:
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = source[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        notes.append(
            f"line {line}, column {column}: byte 0x{source[error.start]:02X} is not UTF-8; "
            "the file was read as Latin-1, save it as UTF-8"
        )
        return source.decode("latin-1")


def _statements(text: str, filename: str, loaded: Loaded) -> Iterator[ast.stmt]:
    try:
        yield from ast.parse(text, filename).body
        return
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        first = error
    starts = _piece_starts(text)
    if len(starts) > MAX_PIECES:
        loaded.notes.append(f"the file does not parse: {_syntax_sentence(first, text)}")
        return
    first_start = starts[0] if starts else None
    if any(line.strip() for line in text.split("\n")[:first_start]):
        loaded.notes.append(f"{_syntax_sentence(first, text)}; the rest of the file was still read")
    yield from _repaired(text, starts, filename, loaded)


def statements_of(source: bytes) -> list[ast.stmt]:
    """The statements of a source that would be executed, without executing them.

    Raises:
        RecursionError, MemoryError: it is too deep to be parsed; it may still be possible to execute it.
    """
    text = decode(source, [])
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError):
        return list(_statements(text, "source", Loaded(types.ModuleType("source"))))


def _piece_starts(text: str) -> list[int]:
    """Numbers (from 0) of the lines on which a top-level piece may begin."""
    lines = text.split("\n")
    return [i for i, line in enumerate(lines) if line and not line[0].isspace() and _PIECE.match(line)]


def _repaired(text: str, starts: list[int], filename: str, loaded: Loaded) -> Iterator[ast.stmt]:
    """Statements of the pieces that parse. A piece is extended while that helps (a text in triple quotes may hold
    lines that look like a beginning); one that never parses is reported and left out."""
    lines = text.split("\n")
    ends = [*starts[1:], len(lines)]
    at = 0
    while at < len(starts):
        for last in range(at, min(at + 12, len(starts))):
            piece = "\n" * starts[at] + "\n".join(lines[starts[at] : ends[last]])
            try:
                body = ast.parse(piece, filename).body
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                if last == at:
                    first_error = error
                continue
            yield from body
            at = last + 1
            break
        else:
            piece = "\n".join(lines[starts[at] : ends[at]])
            sentence = _syntax_sentence(first_error, text)
            loaded.notes.append(f"{sentence}; the rest of the file was still read")
            if match := _DEFINES.match(piece[:200]):
                loaded.broken[match.group(1) or match.group(2)] = sentence
            at += 1


def _syntax_sentence(error: BaseException, text: str) -> str:
    if isinstance(error, SyntaxError) and error.lineno:
        lines = text.split("\n")
        line = lines[error.lineno - 1].strip() if error.lineno <= len(lines) else ""
        return f"line {error.lineno} does not parse: {error.msg} (`{line[:80]}`)"
    return f"the text does not parse ({type(error).__name__})"


def _note_statement(node: ast.stmt, error: Exception, filename: str, loaded: Loaded) -> None:
    """Say what was wrong with a statement. Words of the student's code are left out: they could carry anything."""
    raised_at = line_in(error, {filename})
    line = raised_at or node.lineno
    if isinstance(error, SyntaxError) and raised_at is None:
        sentence = f"line {error.lineno or line} does not parse: {error.msg}"
    elif isinstance(error, ModuleNotFoundError) and isinstance(node, (ast.Import, ast.ImportFrom)) and error.name:
        sentence = f"line {line} needs {_wanted(node, error.name)}, which is not installed here"
    elif isinstance(error, PermissionError) and isinstance(node, (ast.Import, ast.ImportFrom)):
        sentence = f"line {line} needs {_wanted(node, '')}, which is out of reach here"
    elif isinstance(error, EOFError):
        sentence = f"line {line} asks for input, and nobody is there to answer"
    else:
        sentence = f"line {line} raised {builtin_name(error)} (`{linecache.getline(filename, line).strip()[:80]}`)"
    loaded.notes.append(f"{sentence}; the rest of the file was still read")
    for name in _bound_names(node):
        loaded.broken.setdefault(name, sentence)


def _wanted(node: ast.stmt, missing: str) -> str:
    """The module as the import names it: `google.colab`, where only `google` is known to be missing."""
    named = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    named += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    return next((name for name in named if not missing or name.startswith(f"{missing}.")), missing)


def _bound_names(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name for alias in node.names]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def line_in(error: BaseException, files: set[str]) -> int | None:
    """The line of the innermost frame of `error` that lies in one of `files`."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in files:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def builtin_name(error: BaseException) -> str:
    """The nearest built-in class of an exception: `ValueError` for whatever the student derives from it."""
    return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")


def safe_text(error: BaseException) -> str:
    """The text of an exception, even when the student's class makes a mess of it."""
    try:
        return str(error)
    except BaseException:
        return "(its own text could not be made)"


class Siblings(MetaPathFinder, Loader):
    """Finds the other exercises' modules for `import layer_norm`: stand-ins, or the student's own files."""

    def __init__(self, sources: Mapping[str, bytes], filename: Callable[[str], str]) -> None:
        self.sources = sources
        self.filename = filename
        self.loaded: dict[str, Loaded] = {}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname in self.sources:
            return ModuleSpec(fullname, self, origin=self.filename(fullname))
        return None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        loaded = load_module(spec.name, self.sources[spec.name], self.filename(spec.name))
        self.loaded[spec.name] = loaded
        return loaded.module

    def exec_module(self, module: types.ModuleType) -> None:
        """The module was executed when it was made."""
