"""Proof that a release gives no answer away: nothing secret in the sources is found in what students get.

The search knows nothing of how the cut works. It splits the sources by their markers once more, collects what must stay
here (solution lines, hidden checks, references, stand-ins, values of hidden traces), and looks for it in every file.
`quiz.leaks` looks there for the keys of the quiz.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path

from autograder.authoring.bundle.progress import PROGRESS
from autograder.authoring.contents import MANIFEST, read_source
from autograder.authoring.errors import AuthoringError
from autograder.authoring.kit_files import BUNDLE, KIT
from autograder.course import Assignment, CourseFiles, TraceEntry, load_course, load_traces
from autograder.quiz.answers_file import NAME as ANSWERS
from autograder.quiz.bank import has_quiz, load_bank
from autograder.quiz.formula import flat
from autograder.quiz.leaks import DIGITS, DISTINCTIVE, Search, Secret, contains, held

VALUES = ("an accepted text", "an output", "the key of")
"""What the quiz's search calls words and numbers that may be common knowledge, unlike an explanation."""

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d{1,2})?(?!\w|\.\d)")
_TITLE = re.compile(r"@pytest\.mark\.points\([^,]+,\s*([\"'])(.*?)\1", re.DOTALL)
_MARKER = re.compile(r"###\s*(BEGIN|END)\s+(SOLUTION|HIDDEN TESTS)")


def scan(folder_or_zip: Path, files: CourseFiles, assignment: Assignment) -> list[str]:
    """What a release, or its archive, gives away: one sentence for each leak, none when it is clean. What a student who
    works in the folder has written there is no part of it.

    Raises:
        AuthoringError: there is nothing at that path, or it cannot be read.
    """
    return leaks_in(_read(Path(folder_or_zip)), files, assignment)


def leaks_in(found: Mapping[str, bytes], files: CourseFiles, assignment: Assignment) -> list[str]:
    """The same for files at hand: path -> bytes."""
    names = [exercise.name for exercise in assignment.exercises]
    collected, public = _sources(files, assignment)
    secrets, numbers = _not_public(collected, public), _numbers_of_hidden_traces(files, names, public)
    leaks = _of_the_quiz(found, files, assignment, public)
    for path, data in sorted(found.items()):
        text = data.decode("utf-8", "replace")
        plain = _plain(text)
        leaks += [f"{path} holds {s.kind}: `{s.text[:80]}`" for s in held(plain, secrets)]
        if path.rpartition("/")[2] != MANIFEST.rpartition("/")[2]:
            written = _numbers(text)
            leaks += [f"{path} holds {kind}: {number}" for number, kind in numbers.items() if number in written]
        if marker := _MARKER.search(text):
            leaks.append(f"{path} still has the marker `{marker[0]}`")
        root = files.root.resolve()
        if str(root) in text and len(root.parts) > 2:
            leaks.append(f"{path} names a folder of this machine")
    return leaks


def _read(path: Path) -> dict[str, bytes]:
    if path.is_dir():
        found = {p.relative_to(path).as_posix(): p for p in sorted(path.rglob("*")) if p.is_file()}
        return {name: p.read_bytes() for name, p in found.items() if name not in (ANSWERS, PROGRESS)}
    try:
        with zipfile.ZipFile(path) as archive:
            return {entry.filename: archive.read(entry) for entry in archive.infolist() if not entry.is_dir()}
    except (OSError, zipfile.BadZipFile):
        raise AuthoringError(f"{path} is neither a folder nor a zip archive") from None


def _of_the_quiz(
    found: Mapping[str, bytes], files: CourseFiles, assignment: Assignment, public: Iterable[str]
) -> list[str]:
    """What the files give away of the quiz. Words and numbers that stand in a public check, a worked example or the
    workbook are no secret."""
    if not has_quiz(files, assignment.id):
        return []
    search = Search(load_bank(files, load_course(files.root), assignment.id))
    every = b"\n".join(data for _, data in sorted(found.items()))
    workbook = _text(files, files.workbook(assignment.id))
    for kind in ("SOLUTION", "HIDDEN TESTS"):
        workbook = split(workbook, kind)[1]
    readable = "\n".join([*public, workbook, *_public_examples(files, assignment)])
    known = {leak for leak in search.leaks(readable) if leak.startswith(VALUES)}
    if set(search.leaks(every)) <= known:
        return []
    return [
        f"{path} holds {leak}"
        for path, data in sorted(found.items())
        for leak in search.leaks(data)
        if leak not in known
    ]


def _public_examples(files: CourseFiles, assignment: Assignment) -> Iterator[str]:
    """Values of the worked examples that students get."""
    for exercise in assignment.exercises:
        path = files.traces(exercise.name)
        for entry in load_traces(path).values() if path.is_file() else ():
            if entry.public:
                yield json.dumps([entry.inputs, *(value.value for value in entry.values.values())])


def _sources(files: CourseFiles, assignment: Assignment) -> tuple[list[Secret], list[str]]:
    """Texts that must not leave, and what students may read anyway."""
    names = [exercise.name for exercise in assignment.exercises]
    public: list[str] = [path.read_text("utf-8") for path in _kit_sources()]
    secret: list[Secret] = []
    for name in names:
        inside, outside = split(_text(files, files.solutions(assignment.id) / f"{name}.py"), "SOLUTION")
        secret += _lines(inside, f"a line of the solution of {name}")
        public.append(outside)
        suite = split(_text(files, files.suite_file(assignment.id, name)), "HIDDEN TESTS")
        rig = split(_text(files, files.rig(assignment.id, name)), "HIDDEN TESTS")
        if not contains(suite[1], "rig"):  # no public check uses it, so that nothing of it is public
            rig = "\n".join(rig), ""
        for (inside, outside), what in ((suite, "checks"), (rig, "rig")):
            secret += _lines(inside, f"a line of the hidden {what} of {name}")
            secret += [Secret(found, f"a name of the hidden {what} of {name}") for found in _function_names(inside)]
            titles = [_plain(found[2]) for found in _TITLE.finditer(inside)]
            secret += [Secret(title, f"the title of a hidden check of {name}") for title in titles]
            public.append(outside)
        for path in _oracles(files, name):
            text = _text(files, path)
            if path == files.mistakes(name):
                text = text.partition("\nmistakes:")[2]  # what stands before it is help for students
            secret += _lines(text, f"a line of {path.relative_to(files.root).as_posix()}")
    return secret, public


def split(text: str, kind: str) -> tuple[str, str]:
    """The lines inside and outside the regions of a kind."""
    parts: tuple[list[str], list[str]] = ([], [])
    inside = False
    for line in text.splitlines():
        if line.strip() in (f"### BEGIN {kind}", f"### END {kind}"):
            inside = "BEGIN" in line
        else:
            parts[0 if inside else 1].append(line)
    return "\n".join(parts[0]), "\n".join(parts[1])


def _not_public(secret: Iterable[Secret], public: Iterable[str]) -> list[Secret]:
    """Each secret once, without what students may read anyway."""
    known = _plain("\n".join(public))
    once = {s.text: s for s in reversed(list(secret))}
    readable = {s.text for s in held(known, once.values())}
    return sorted((s for s in once.values() if s.text not in readable), key=lambda s: (s.kind, s.text))


def _lines(text: str, kind: str) -> list[Secret]:
    """The distinctive lines of a text, without the comment at their end where enough is left."""
    lines = [_plain(line) for line in text.splitlines()]
    codes = [line.partition(" # ")[0] for line in lines]
    lines = [code if len(code) >= DISTINCTIVE else line for code, line in zip(codes, lines, strict=True)]
    return [Secret(line, kind) for line in lines if len(line) >= DISTINCTIVE]


def _function_names(text: str) -> list[str]:
    """Names that a text defines; a short one such as `model` may be an ordinary word."""
    names = re.findall(r"^\s*(?:def|class) (\w+)", text, re.MULTILINE)
    return [name for name in names if name.startswith("test_") or len(name) >= DISTINCTIVE]


def _oracles(files: CourseFiles, exercise: str) -> list[Path]:
    """All text under reference/ about an exercise, except its traces, which are numbers."""
    named = files.reference(exercise).parent.rglob(f"{exercise}.*")
    return sorted(
        p for p in named if p.suffix in (".py", ".yml", ".yaml", ".json", ".md") and p != files.traces(exercise)
    )


def _kit_sources() -> list[Path]:
    return sorted(path for folder in (KIT / "suite", KIT / "sandbox", BUNDLE) for path in folder.glob("*.py"))


def _numbers_of_hidden_traces(files: CourseFiles, names: Iterable[str], public: Iterable[str]) -> dict[str, str]:
    """Distinctive numbers of traces that students must not have -> what they are."""
    entries = [
        (name, entry)
        for name in names
        if files.traces(name).is_file()
        for entry in load_traces(files.traces(name)).values()
    ]
    known = _numbers("\n".join(public)).union(*(_stated(entry) for _, entry in entries if entry.public))
    hidden = {
        number: f"a value of the hidden trace {entry.id} of {name}"
        for name, entry in entries
        if not entry.public
        for number in sorted(_stated(entry))
    }
    return {number: kind for number, kind in hidden.items() if number not in known}


def _stated(entry: TraceEntry) -> set[str]:
    """The distinctive numbers of an entry, in full and as rounded to the digits that the course prints."""
    found = {_normal(repr(number)) for value in entry.inputs.values() for number in flat(value)}
    for value in entry.values.values():
        for number in [*flat(value.value), *flat([] if value.printed is None else value.printed)]:
            found |= {_normal(repr(number)), _normal(f"{number:.{value.digits}f}")}
    return {number for number in found if _significant(number) >= DIGITS}


def _numbers(text: str) -> set[str]:
    return {_normal(number) for number in _NUMBER.findall(text) if len(number) < 40}


def _normal(number: str) -> str:
    """A number without sign and trailing zeros, so that 0.50, -0.5 and 5e-1 are one."""
    return f"{abs(Decimal(number)).normalize():f}"


def _significant(number: str) -> int:
    return len(number.replace(".", "").strip("0"))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _text(files: CourseFiles, path: Path) -> str:
    return read_source(files, path) if path.is_file() else ""
