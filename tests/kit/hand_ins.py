"""What students hand in, written as files for tests of intake, and what is collected from it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from autograder.intake import Roster, Submission, collect

GOOD = b"def layer_norm(x, gamma, beta, eps=1e-5):\n    return x\n"
OTHER = b"def layer_norm(x, gamma, beta, eps=1e-5):\n    return x * gamma + beta\n"
THREE = Roster({"s01": "Ana", "s02": "Bo", "s03": None})
BOTH = ("layer_norm", "feed_forward")


def put(root: Path, tree: Mapping[str, bytes]) -> Path:
    """Writes files by relative name; a name that ends in / is an empty folder."""
    root.mkdir(parents=True, exist_ok=True)
    for name, content in tree.items():
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return root


def one(root: Path, tree: Mapping[str, bytes], exercises: tuple[str, ...] = ("layer_norm",)) -> Submission:
    """What is collected from a single student's folder."""
    (submission,) = collect([put(root / "s02", tree)], exercises, "week08", Roster({"s02": "Bo"}))
    assert submission.student == "s02"
    return submission


def said(submission: Submission) -> str:
    return "\n".join(submission.notes)
