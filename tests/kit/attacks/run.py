"""Grade every attack between honest work, in one run, and print what came of it as JSON.

    python -m attacks.run [--only NAME ...] [--about-the-host] [--without MECHANISM ...] [--harmless] [--scratch] [--apart N]

A program of its own, so that it can be run as another user and under the rules of another host (see `hosts`). What it
is started with holds PLANTED=MARKER_<16 hex digits>_environment, for readers of /proc to find.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import secrets
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attacks.corpus import RIGHT, WRONG, Attack
from grading import ROOT, small_course

from autograder.course import CourseFiles, load_course
from autograder.grading.batch import Batch
from autograder.grading.receipt import Receipt
from autograder.grading.run import grade
from autograder.intake import collect
from autograder.sandbox.host.zygotes import Zygotes

READING = ("reading_files", "reading_roundabout", "reading_memory", "reading_kernel")
BREAKING = ("breaking_processes", "breaking_packages", "breaking_machine", "breaking_reports")
ABOUT_THE_HOST = (*READING, "reaching", "lingering", *BREAKING)
"""Categories of what the operating system has to stop; the others are the grader's own to stop, on every host alike."""
FORGING = ("forging_objects", "forging_tensors", "forging_outcomes", "forging_replies", "forging_engine")
EXHAUSTING = ("exhausting_time", "exhausting_memory", "exhausting_output")
CATEGORIES = (*ABOUT_THE_HOST, *FORGING, *EXHAUSTING, "handing_in")
ABOUT_FILES = (*READING, "lingering", *BREAKING)
"""Those of them that a folder to write to could help."""
SCRATCH = "scratching"
"""The category of attacks that need a folder to write to."""
LIMITS = "{seconds_per_check: 3, seconds_per_submission: 6, memory_mb: 512, output_kb: 16}"
SHORT = {"seconds_per_check": 0.5, "seconds_per_submission": 1.0}


def attacks(categories: Sequence[str] = CATEGORIES) -> list[Attack]:
    """The corpus, category by category."""
    found = [attack for name in categories for attack in importlib.import_module(f"attacks.{name}").ATTACKS]
    assert len({attack.name for attack in found}) == len(found), "two attacks have one name"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--about-the-host", action="store_true", help="leave out what no host can change")
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument(
        "--harmless", action="store_true", help="leave out attacks that hurt where nothing confines them"
    )
    parser.add_argument("--scratch", action="store_true", help="in workers that have scratch, with what that invites")
    parser.add_argument("--apart", type=int, default=1, help="attacks from one honest submission to the next")
    options = parser.parse_args()
    categories = (*ABOUT_FILES, SCRATCH) if options.scratch else CATEGORIES
    chosen = attacks(ABOUT_THE_HOST if options.about_the_host else categories)
    chosen = [a for a in chosen if a.name in options.only or not options.only]
    chosen = [a for a in chosen if not (options.harmless and a.hurts)]
    print(json.dumps(outcome(chosen, options.without, options.scratch, options.apart), indent=1))


def outcome(chosen: list[Attack], without: list[str], scratch: bool = False, apart: int = 1) -> dict[str, Any]:
    """Grade the attacks, an honest submission after every few of them and after the last, and one that is honestly wrong
    before the first."""
    marker = os.environ["PLANTED"].removesuffix("_environment")
    mine = secrets.token_hex(4)  # runs may overlap: what is left of this one goes by names of its own
    with tempfile.TemporaryDirectory(prefix="kit_place_") as folder, _something_listening(Path(folder)) as words:
        place = Path(folder)
        place.chmod(0o755)
        words |= _planted(place, marker, scratch)
        words |= {"kit_leftover": f"kit_{mine}", "60.4242": f"60.{int(mine, 16):010}"}
        work = place / "submissions"
        honest = sorted({*range(0, len(chosen), apart), len(chosen) - 1})
        words["@OTHER@"] = str(work / "0000z_honest" / "layer_norm.py")
        _hand_in(work / "0000_wrong", WRONG)
        for number, attack in enumerate(chosen):
            _hand_in(work / f"{number:04}_{attack.name}", _filled(attack.source, words))
            for name, text in attack.beside:
                (work / f"{number:04}_{attack.name}" / name).write_text(_filled(text, words))
            if number in honest:
                _hand_in(work / f"{number:04}z_honest", f"# {marker}_neighbour {number}\n{RIGHT}")
        before = _watched(place)
        waiting = {f"{n:04}" for n, attack in enumerate(chosen) if attack.waits}
        receipts, isolation, seconds = _graded(place / "course", work, without, waiting)
        time.sleep(0.05)
        return {
            "isolation": isolation,
            "seconds": seconds,
            "attacks": {a.name: _said(receipts[f"{n:04}_{a.name}"], marker) for n, a in enumerate(chosen)},
            "wrong": float(receipts["0000_wrong"].earned),
            "honest": [_said(receipts[f"{n:04}z_honest"], marker) for n in honest],
            "graded": len(receipts),
            "survivors": _survivors(words["kit_leftover"], words["60.4242"]),
            "changed": sorted(key for key, value in _watched(place).items() if before.get(key) != value),
        }


def _graded(course: Path, work: Path, without: list[str], waiting: set[str]) -> tuple[dict[str, Receipt], str, float]:
    """Grade what is handed in, first what runs into its limits (its number is in `waiting`) and its neighbours."""
    files, assignment = CourseFiles(course), load_course(course).assignment("week08")
    submissions = collect([work], ["layer_norm"], "week08")
    hasty = assignment.model_copy(update={"limits": assignment.limits.model_copy(update=SHORT)})
    receipts: dict[str, Receipt] = {}
    begun = time.monotonic()
    with Zygotes(without) as zygotes:
        isolation = zygotes.get().isolation
        for limited, soon in ((hasty, True), (assignment, False)):
            some = [s for s in submissions if (s.student[:4] in waiting) == soon]
            batch = Batch(files, "attacked", limited, some, seed=1)
            grade(batch, lambda r: receipts.__setitem__(r.student, r), lambda s: None, zygotes)
    return receipts, isolation, time.monotonic() - begun


def _said(receipt: Receipt, marker: str) -> dict[str, Any]:
    """What a receipt says of interest: points, outcomes, and whether the attack had its way."""
    told = json.dumps(receipt.to_dict())
    return {
        "earned": float(receipt.earned),
        "possible": float(receipt.possible),
        "outcomes": sorted({check.outcome for check in receipt.checks}),
        "status": receipt.status,
        "got": "GOT IT" in told,
        "leaked": marker in told.replace("\\u005f", "_"),
        "said": [*receipt.output.values()][:1],
    }


def _planted(place: Path, marker: str, scratch: bool) -> dict[str, str]:
    """A course, a secret and a home with markers in them; where they are, by their words in attacks."""
    course = small_course(place, limits=LIMITS, also=", scratch_mb: 2" if scratch else "")
    for name in ("tests/suites/week08/test_layer_norm.py", "reference/layer_norm.py"):
        path = course / name
        path.write_text(f"{path.read_text()}\nPLANTED = '{marker}_{path.parts[-2]}'\n")
    (place / "secret.txt").write_text(f"{marker}_secret\n")
    home = place / "home"
    home.mkdir()
    (home / ".bashrc").write_text("# nothing\n")
    for path in (home, home / ".bashrc"):
        path.chmod(0o777)
    return {"@SECRET@": str(place / "secret.txt"), "@COURSE@": str(course), "@HOME@": str(home), "@KIT@": str(ROOT)}


@contextmanager
def _something_listening(place: Path) -> Iterator[dict[str, str]]:
    with socket.create_server(("127.0.0.1", 0), backlog=500) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(place / "listens"))
        (place / "listens").chmod(0o777)
        unix.listen(500)
        yield {"@PORT@": str(tcp.getsockname()[1]), "@SOCKET@": str(place / "listens")}


def _hand_in(folder: Path, source: str | bytes) -> None:
    folder.mkdir(parents=True)
    (folder / "layer_norm.py").write_bytes(
        source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    )


def _filled(source: Any, words: dict[str, str]) -> Any:
    if isinstance(source, str):
        for word, meaning in words.items():
            source = source.replace(word, meaning)
    return source


def _watched(place: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of what an attack might write to, by path."""
    import numpy
    import torch

    paths = [p for p in place.rglob("*") if "__pycache__" not in p.parts]
    paths += [Path(torch.__file__), Path(numpy.__file__)]
    for folder in (tempfile.gettempdir(), "/dev/shm", "/var/tmp", os.getcwd()):
        paths += Path(folder).glob("*kit_attack*")
    return {str(p): (p.lstat().st_size, p.lstat().st_mtime_ns) for p in paths if not p.is_dir()}


def _survivors(called: str, seconds: str) -> list[str]:
    """Processes that an attack left: they are called so, or sleep for so many seconds."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            name, command = (entry / "comm").read_text().strip(), (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if name == called or seconds.encode() in command:
            found.append(f"{entry.name} {name}")
    return found


if __name__ == "__main__":
    main()
