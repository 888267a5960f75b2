"""`make bench-class`: a whole class by `autograder grade`, with a grader per core: how fast, how much memory; then once
more, unchanged.

    python tests/bench/bench_class.py [--submissions 1000] [--jobs N]

Memory is that of the command and all that it started, what they share counted once (PSS), looked at every second.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[1] / "kit"))

from killing import below
from submissions import COMMAND, ENVIRONMENT, ROOT, write_mixed_class

from autograder.cluster.jobs import cores

EVERY = 5.0
"""Seconds between two looks at the memory; a look takes a tenth of a second of CPU time."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--jobs", type=int, help="graders (default: what `grade` takes)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_mixed_class(folder / "class", options.submissions)
        arguments = ["grade", "week08", str(folder / "class"), "--store", f"sqlite:///{folder / 'receipts.sqlite'}"]
        arguments += ["--jobs", str(options.jobs)] if options.jobs else []
        print(f"{options.submissions} submissions, {cores()} cores, {options.jobs or 'default'} jobs")
        seconds, memory = _measured(arguments)
        print(f"graded:   {options.submissions * 60 / seconds:6.0f} a minute ({seconds:.1f} s, start-up included)")
        _tell_memory(memory)
        seconds, memory = _measured(arguments)
        print(f"again:    {options.submissions * 60 / seconds:6.0f} a minute ({seconds:.1f} s), nothing had changed")
        if memory:
            print(f"          {max(memory):.0f} MB at most")


def _measured(arguments: list[str]) -> tuple[float, list[float]]:
    """Seconds, and the memory in MB from one look to the next."""
    begun, is_over, memory = time.monotonic(), threading.Event(), []
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:

        def look() -> None:
            while not is_over.wait(EVERY):
                memory.append(sum(map(_share_mb, below(process.pid))))

        watcher = threading.Thread(target=look)
        watcher.start()
        code = process.wait()
        seconds = time.monotonic() - begun
        is_over.set()
        watcher.join()
    assert code in (0, 1), code
    return seconds, memory


def _share_mb(pid: int) -> float:
    """The memory of a process, with its share of what others use too."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def _tell_memory(memory: list[float]) -> None:
    """The peak, and whether it grows: the medians of four parts of the run."""
    quarter = max(1, len(memory) // 4)
    parts = [
        statistics.median(memory[i : i + quarter]) for i in range(0, quarter * 4, quarter) if memory[i : i + quarter]
    ]
    told = ", ".join(f"{part:.0f}" for part in parts)
    print(f"memory:   {max(memory, default=0):6.0f} MB at most; median of each quarter of the time: {told} MB")


if __name__ == "__main__":
    main()
