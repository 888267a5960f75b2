"""Everything a release of an assignment holds, as bytes, made from the sources alone."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from autograder.authoring.cut import cut_hidden_parts, cut_hidden_tests, cut_solution, public_part, with_line_feeds
from autograder.authoring.errors import AuthoringError
from autograder.authoring.imports import refuse_absent
from autograder.authoring.kit_files import self_check
from autograder.authoring.public import PublicSuite, read_public
from autograder.authoring.readme import readme
from autograder.authoring.regions import parse
from autograder.authoring.workbook import cut as cut_workbook
from autograder.authoring.workbook import has_workbook
from autograder.course import Assignment, CourseFiles, Exercise, TraceEntry, load_course, load_traces
from autograder.course.mistakes import load_mistakes

MANIFEST = "selfcheck/MANIFEST"


def contents(files: CourseFiles, assignment: Assignment) -> dict[str, bytes]:
    """Path in the release -> bytes, sorted by path: stubs, public checks, the self-check, examples, data, a README, the
    manifest.

    Raises:
        AuthoringError: a source is missing or at fault.
        CourseError: a file of traces or mistakes is.
    """
    texts = self_check()
    suites: dict[str, PublicSuite] = {}
    traces: dict[str, dict[str, Any]] = {}
    for exercise in assignment.exercises:
        name = exercise.name
        solution, suite = files.solutions(assignment.id) / f"{name}.py", files.suite_file(assignment.id, name)
        texts[f"{name}.py"] = cut_solution(read_source(files, solution), shown(files, solution))
        texts[f"test_{name}.py"] = cut_hidden_tests(read_source(files, suite), shown(files, suite))
        suites[name] = read_public(public_part(read_source(files, suite), shown(files, suite)), shown(files, suite))
        traces[name] = _traces(files, name, suites[name], shown(files, suite))
        if suites[name].uses_rig:
            rig = files.rig(assignment.id, name)
            texts[f"rigs/{name}.py"] = cut_hidden_parts(read_source(files, rig), shown(files, rig))
    public = {name: sum(suite.points.values(), Fraction(0)) for name, suite in suites.items()}
    texts["selfcheck/exercises.json"] = _exercises(assignment, suites, public)
    texts["selfcheck/traces.json"] = _one_entry_a_line(traces)
    texts["selfcheck/hints.json"] = json.dumps(_hints(files, assignment), indent=1, ensure_ascii=False) + "\n"
    examples = _examples(files, assignment)
    texts |= examples
    texts["README.md"] = readme(assignment, public, _programs(examples), has_workbook(files, assignment))
    texts |= {f"data/{name}": read_source(files, files.data(name)) for name in assignment.data}
    found = {path: text.encode() for path, text in sorted(texts.items())}
    if has_workbook(files, assignment):
        found[f"{assignment.id}.ipynb"] = cut_workbook(files, assignment)
    return dict(sorted({**found, MANIFEST: manifest(found)}.items()))


def manifest(found: Mapping[str, bytes]) -> bytes:
    """One line for each file, as `sha256sum -c` reads it."""
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {path}\n" for path, data in sorted(found.items())).encode()


def read_source(files: CourseFiles, path: Path) -> str:
    """The text of a source file. Raises AuthoringError."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise AuthoringError(f"{shown(files, path)} is missing") from None
    except OSError as error:
        raise AuthoringError(f"{shown(files, path)} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise AuthoringError(f"{shown(files, path)} is not UTF-8; save it as UTF-8") from None


def shown(files: CourseFiles, path: Path) -> str:
    """A path as messages show it: from the course's folder on."""
    return path.relative_to(files.root).as_posix() if path.is_relative_to(files.root) else str(path)


def _examples(files: CourseFiles, assignment: Assignment) -> dict[str, str]:
    """Worked programs, which students get as they are: Python that runs with what lies in their folder, and texts."""
    folder = files.examples(assignment.id)
    places = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    places = [place for place in places if not any(part.startswith((".", "__pycache__")) for part in place.parts)]
    beside = {"selfcheck", *(exercise.name for exercise in assignment.exercises), *(place.stem for place in places)}
    found = {}
    for place in places:
        text, file = read_source(files, folder / place), shown(files, folder / place)
        if place.suffix == ".py":
            if place.name.startswith(("test_", "conftest.")):
                raise AuthoringError(f"{file}: pytest would take it for checks of the students; call it otherwise")
            text = with_line_feeds(text)
            refuse_absent(parse(text, file), file, beside)
        found[f"examples/{place.as_posix()}"] = text
    return found


def _programs(examples: Mapping[str, str]) -> dict[str, str]:
    """Those examples that can be run -> what they say of themselves in their first line."""
    runs = {path: text for path, text in examples.items() if path.endswith(".py") and '__name__ == "__main__"' in text}
    return {path: (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0] for path, text in runs.items()}


def _traces(files: CourseFiles, exercise: str, suite: PublicSuite, suite_file: str) -> dict[str, Any]:
    """The traces that public checks use, in the plain form that `trace.make_trace` reads."""
    path = files.traces(exercise)
    entries = load_traces(path) if path.is_file() else {}
    used = {name: entry for name, entry in entries.items() if name in suite.traces}
    for name, entry in used.items():
        if not entry.public:
            raise AuthoringError(
                f"{suite_file}: a public check uses the trace `{name}`, which {shown(files, path)} "
                "keeps from students; say `public: true` there or move the check into the hidden region"
            )
    return {name: _plain(entry) for name, entry in used.items()}


def _plain(entry: TraceEntry) -> dict[str, Any]:
    values = {name: {"value": value.value, "digits": value.digits} for name, value in entry.values.items()}
    return {"where": entry.where, "inputs": entry.inputs, "values": values}


def _hints(files: CourseFiles, assignment: Assignment) -> dict[str, list[dict[str, Any]]]:
    """The steps of help with each exercise, as `bundle.hints` reads them."""
    weeks = load_course(files.root).weeks
    titles = {f"Week {week.number} §{section.number}": section.title for week in weeks for section in week.sections}
    found: dict[str, list[dict[str, Any]]] = {}
    for exercise in assignment.exercises:
        steps = found.setdefault(exercise.name, [])
        path = files.mistakes(exercise.name)
        if path.is_file():
            ladder = load_mistakes(path).ladder
            steps.append({"step": "a question", "lines": [ladder.question]})
            shape = ladder.pseudocode.strip("\n").split("\n")
            steps.append({"step": "the shape of the solution, with blanks", "lines": shape})
        where = [" ".join([reference, titles.get(reference, "")]).strip() for reference in exercise.course]
        steps.append({"step": "where to read", "lines": where})
    return found


def _exercises(assignment: Assignment, suites: Mapping[str, PublicSuite], public: Mapping[str, Fraction]) -> str:
    """Names, points as exact text such as 10 or 10/3, number of public checks, course sections and needs."""
    records = {e.name: _record(e, suites[e.name], public[e.name]) for e in assignment.exercises}
    return _one_entry_a_line({"assignment": {"id": assignment.id, "title": assignment.title}, "exercises": records})


def _record(exercise: Exercise, suite: PublicSuite, public: Fraction) -> dict[str, Any]:
    if public > exercise.points:
        raise AuthoringError(
            f"the public checks of {exercise.name} are worth {public} points, the exercise only {exercise.points}"
        )
    return {
        "points": str(exercise.points),
        "public_points": str(public),
        "public_checks": len(suite.points),
        "course": list(exercise.course),
        "needs": list(exercise.needs),
        "forbidden": list(exercise.forbidden),
    }


def _one_entry_a_line(record: Mapping[str, Mapping[str, Any]]) -> str:
    """JSON of two levels with a line for each inner entry, so that a change shows as a small difference."""

    def written(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    outer = []
    for key, inner in record.items():
        lines = ",\n".join(f"  {written(name)}: {written(value)}" for name, value in inner.items())
        outer.append(f"{written(key)}: {{\n{lines}\n}}" if inner else f"{written(key)}: {{}}")
    return "{\n" + ",\n".join(outer) + "\n}\n"
