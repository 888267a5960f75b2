"""Notebooks: plain `nbgrader autograde`, the same command with our chain, and `autograder nbgrade`, in one run.

    python tests/bench/bench_notebooks.py [N]

N submissions of the workbook of week08 (default 6), each with right modules and a comment of its own. Plain nbgrader
starts a kernel for each and runs the public checks in it; what it cannot do is to run hidden ones out of reach.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COURSE = ("course.yml", "nbgrader_config.py", "solutions", "reference", "autograder", "tests/suites")
PLAIN = """
c = get_config()
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "assignments"
c.CourseDirectory.directory_structure = "{nbgrader_step}/notebooks/{student_id}/{assignment_id}"
c.ExecutePreprocessor.timeout = 120
"""


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = _course(Path(folder, "ours")), _course(Path(folder, "plain"))
        for root in (ours, plain):
            _nbgrader(root, "generate_assignment", "week08")
            for number in range(count):
                _hand_in(root, number)
        (plain / "nbgrader_config.py").write_text(PLAIN)
        shutil.copy(ours / ".autograder/gradebook.db", plain / "gradebook.db")
        rows = {
            "nbgrader autograde, plain": _measured(lambda: _nbgrader(plain, "autograde", "week08")),
            "nbgrader autograde, our chain": _measured(lambda: _nbgrader(ours, "autograde", "week08")),
            "autograder nbgrade": _measured(lambda: _again(ours)),
        }
    base = rows["nbgrader autograde, plain"]
    print(f"{count} submissions, seconds for each:")
    for name, (wall, cpu) in rows.items():
        print(
            f"  {name:32} wall {wall / count:6.2f} ({base[0] / wall:.1f}x as fast)   CPU {cpu / count:6.2f}"
            f" ({base[1] / cpu:.1f}x less)"
        )


def _course(root: Path) -> Path:
    for name in COURSE:
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return root


def _hand_in(root: Path, number: int) -> None:
    folder = root / f"submitted/notebooks/student{number}/week08"
    shutil.copytree(root / "assignments/notebooks/week08", folder)
    for module in (ROOT / "solutions/week08").glob("*.py"):
        (folder / module.name).write_text(f"{module.read_text('utf-8')}\n# {number}\n", "utf-8")


def _again(root: Path) -> None:
    """From nothing: without the receipts and notebooks of the run before."""
    shutil.rmtree(root / "autograded")
    (root / ".autograder/receipts.sqlite").unlink()
    code = "from autograder.cli import main; main()"
    _run([sys.executable, "-c", code, "nbgrade", "week08"], root)


def _nbgrader(root: Path, *arguments: str) -> None:
    _run([sys.executable, "-m", "nbgrader", *arguments], root)


def _run(command: list[str], root: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}")


def _measured(act: Callable[[], None]) -> tuple[float, float]:
    """Seconds on the wall and of CPU time."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    act()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - begun, cpu


if __name__ == "__main__":
    main()
