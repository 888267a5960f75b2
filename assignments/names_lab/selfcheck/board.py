"""Collects the results of a self-check and shows them by exercise at the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from selfcheck.progress import record_checks

LETTERS = {"passed": ".", "not attempted": "-"}


class Board:
    """A pytest plugin: one row for each exercise of `folder` that takes part in this run."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.seed = seed
        self.traces: dict[str, Any] = _read(folder / "selfcheck" / "traces.json")
        self.exercises: dict[str, Any] = _read(folder / "selfcheck" / "exercises.json")["exercises"]
        self.forbidden = {name: record["forbidden"] for name, record in self.exercises.items()}
        self.results: dict[str, dict[str, Any]] = {}
        self._folder = folder
        self._rows: set[str] = set()
        self._interrupted = ""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Also exercises whose checks are never reached get a row."""
        paths = {item.path for item in session.items if item.path.parent == self._folder}
        self._rows |= {path.stem.removeprefix("test_") for path in paths}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the result of a check; a later one of the same check takes its place."""
        result = getattr(report, "self_check", None)
        if result is not None and result["exercise"] in self.exercises:
            self.results[report.nodeid] = result

    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        """Category, letter and word. Checks of unwritten parts are counted apart from failures."""
        result = getattr(report, "self_check", None)
        if result is None or result["exercise"] not in self.exercises:
            return None
        outcome = result["outcome"]
        category = outcome if outcome in LETTERS else "failed"
        return category, LETTERS.get(outcome, "F"), outcome.upper()

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Ctrl-C: remember where the student's code was."""
        self._interrupted = str(excinfo.value)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, None, None]:
        """The table, after everything else that pytest has to say."""
        yield
        rows = [name for name in self.exercises if name in self._rows or self._of(name)]
        if not rows:
            return
        terminalreporter.ensure_newline()
        terminalreporter.section("self-check")
        for line in (*self._remarks(rows), *self._table(rows), *self._footer(), *self._record()):
            terminalreporter.write_line(line)

    def _record(self) -> list[str]:
        """Keep what passed in the student's progress; a sentence where that is not possible."""
        found: dict[str, dict[str, bool]] = {}
        for node, result in self.results.items():
            passed = result["outcome"] == "passed"
            found.setdefault(result["exercise"], {})[node.rpartition("::")[2]] = passed
        totals = {name: record["public_checks"] for name, record in self.exercises.items()}
        said = record_checks(self._folder, found, totals) if found else ""
        return [said] if said else []

    def _of(self, exercise: str) -> list[dict[str, Any]]:
        return [result for result in self.results.values() if result["exercise"] == exercise]

    def _remarks(self, rows: list[str]) -> list[str]:
        """What is not written yet and what could not be read, once for each exercise."""
        lines = [self._interrupted] if self._interrupted else []
        for name in rows:
            missing = Counter(r["sentence"] for r in self._of(name) if r["outcome"] == "not attempted")
            lines += [f"{name}: {sentence} ({_checks(count)})" for sentence, count in missing.items()]
            lines += [f"{name}.py: {note}" for note in dict.fromkeys(n for r in self._of(name) for n in r["notes"])]
        return [*lines, ""] if lines else []

    def _table(self, rows: list[str]) -> list[str]:
        cells = [("exercise", "checks", "points", "status"), *(self._row(name) for name in rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(3)]
        lines = ["  ".join([*map(str.ljust, row[:3], widths), row[3]]) for row in cells]
        return [lines[0], "  ".join("-" * width for width in [*widths, len("status")]), *lines[1:]]

    def _row(self, name: str) -> tuple[str, str, str, str]:
        exercise, results = self.exercises[name], self._of(name)
        earned = sum((Fraction(r["points"]) * Fraction(str(r["share"])) for r in results), Fraction(0))
        passed = sum(r["outcome"] == "passed" for r in results)
        total = exercise["public_checks"]
        points = f"{_points(earned)} of {_points(exercise['public_points'])}"
        return name, f"{passed}/{total}", points, _status(results, total)

    def _footer(self) -> list[str]:
        every = self.exercises.values()
        total = sum((Fraction(e["points"]) for e in every), Fraction(0))
        hidden = total - sum((Fraction(e["public_points"]) for e in every), Fraction(0))
        lines = [
            "",
            f"The hidden checks ({_points(hidden)} of {_points(total)} points) run when your instructor grades.",
            "Grading puts correct earlier parts under each exercise; here it runs on your own.",
        ]
        if any(r["outcome"] not in LETTERS for r in self.results.values()):
            lines.append(f"The same random inputs again: --inputs {self.seed}")
        return lines


def _status(results: list[dict[str, Any]], total: int) -> str:
    counts = Counter(result["outcome"] for result in results)
    if counts["passed"] == total:
        return "all public checks pass"
    if counts["not attempted"] == total:
        return "not attempted"
    said = [f"{count} {outcome}" for outcome, count in counts.items() if outcome != "passed"]
    left = total - len(results)
    return ", ".join([*said, f"{left} not run"] if left else said)


def _points(value: Any) -> str:
    return f"{float(Fraction(value)):.2f}".rstrip("0").rstrip(".")


def _checks(count: int) -> str:
    return "1 check" if count == 1 else f"{count} checks"


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found
