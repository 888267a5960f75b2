"""Marking a class: reading the files, the bare marking, and `autograder quiz mark` with its store, in one run.

    python tests/bench/bench_quiz.py [STUDENTS] [ITEMS]

STUDENTS answers files (default 1000) of ITEMS answers each (default 120) to the quiz of week08: most of them right,
the others a named wrong answer or something that nobody foresaw.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from click.testing import CliRunner

from autograder.cli import main as autograder
from autograder.course import CourseFiles, load_course
from autograder.quiz.bank import Bank, load_bank
from autograder.quiz.collect import find_answers
from autograder.quiz.marking import mark
from autograder.quiz.model import AnyItem, Drawn, Match, Multiple, Order, Output, ShortText, Single
from autograder.quiz.public import LETTERS, displayed_lefts, displayed_options, displayed_rights, displayed_steps

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    students, count = (int(n) for n in [*sys.argv[1:], *("1000", "120")[len(sys.argv) - 1 :]][:2])
    bank = load_bank(CourseFiles(ROOT), load_course(ROOT), "week08")
    items = list(islice((item for item in bank.items if item.counted), count))
    with tempfile.TemporaryDirectory() as folder:
        files = list(_class(bank, items, students, Path(folder, "class")))
        store = f"sqlite:///{folder}/receipts.sqlite"
        rows = {
            "json.loads": _measured(lambda: [json.loads(path.read_bytes()) for path in files]),
            "reading, strictly": _measured(lambda: find_answers([Path(folder, "class")], "week08")),
            "marking, no store": _measured(lambda: _marked(bank, items, files)),
            "quiz mark": _measured(lambda: _command(Path(folder, "class"), store)),
            "quiz mark, unchanged": _measured(lambda: _command(Path(folder, "class"), store)),
        }
    print(f"{students} students x {len(items)} items, on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for name, (wall, cpu) in rows.items():
        print(f"  {name:22} wall {wall:6.2f} s  CPU {cpu:6.2f} s  {students * len(items) / wall:12,.0f} items/s")


def _class(bank: Bank, items: list[AnyItem], students: int, folder: Path) -> Iterator[Path]:
    chance = random.Random(8)
    for number in range(students):
        student = f"student_{number:04d}"
        path = folder / student / "quiz_answers.json"
        path.parent.mkdir(parents=True)
        answers = {item.id: _answer(bank, item, student, chance) for item in items}
        path.write_text(json.dumps({"student": student, "answers": answers}))
        yield path


def _answer(bank: Bank, item: AnyItem, student: str, chance: random.Random) -> object:
    wrong = chance.random() < 0.3
    if chance.random() < 0.03:
        return "something else"
    match item:
        case Single() | Multiple():
            texts = displayed_options(item)
            return "".join(LETTERS[texts.index(o.text)] for o in item.options if o.key != wrong)[
                : 1 if item.type == "single" else 9
            ]
        case Drawn():
            draw = bank.draw(item, student)
            return str(chance.choice(draw.wrong)[0] if wrong else draw.value)
        case ShortText():
            return chance.choice(item.wrong).text if wrong else item.key.accept[0]
        case Order():
            shown = displayed_steps(item)
            return " ".join(LETTERS[shown.index(step)] for step in (reversed(item.steps) if wrong else item.steps))
        case Match():
            rights, lefts = displayed_rights(item), displayed_lefts(item)
            return {str(lefts.index(p.left) + 1): LETTERS[0 if wrong else rights.index(p.right)] for p in item.pairs}
        case Output():
            return chance.choice(item.wrong).output if wrong else item.key.output
    return ""


def _marked(bank: Bank, items: list[AnyItem], files: list[Path]) -> None:
    for path in files:
        data = json.loads(path.read_bytes())
        for item in items:
            mark(bank, item, data["answers"][item.id], data["student"])


def _command(folder: Path, store: str) -> None:
    with contextlib.chdir(ROOT):
        done = CliRunner().invoke(autograder, ["quiz", "mark", "week08", str(folder), "--store", store])
    assert done.exit_code == 1, done.output[-2000:]  # the answers that nobody foresaw need attention


def _measured(work: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


if __name__ == "__main__":
    main()
