"""What runs in Gradescope's container for each submission: `python -m autograder.exports.gradescope.job /autograder`

There, `submission/` is what was handed in, `submission_metadata.json` says by whom and when, `source/` is our
unpacked zip, and `results/results.json` is to be written, whatever happens. The deadline is the student's own in
Gradescope, where one is set there, so that extensions given there count; otherwise that of course.yml.
"""

from __future__ import annotations

import json
import secrets
import sys
import traceback
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from autograder.course import Assignment, CourseFiles, load_course
from autograder.exports.gradescope.package import SETTINGS
from autograder.exports.gradescope.results import failed, results, written
from autograder.grading.disclosure import hint_withheld
from autograder.grading.errors import GradingError
from autograder.grading.final import final_scores
from autograder.grading.receipt import Receipt
from autograder.intake import Submission, collect_one, parts_of


def main(root: Path) -> int:
    """Grade and write the results; 0 when the submission was graded."""
    code = 0
    try:
        document = graded(root)
    except Exception as error:  # a fault of the kit too has to become a document that Gradescope can read
        traceback.print_exc()
        document, code = failed(f"{type(error).__name__}: {error}"), 1
    target = root / "results" / "results.json"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(written(document))
    return code


def graded(root: Path) -> dict[str, Any]:
    """The results of the submission that lies in `root`. Raises GradingError when it cannot be graded."""
    settings = json.loads((root / "source" / SETTINGS).read_bytes())
    files = CourseFiles(root / "source" / "course")
    course = load_course(files.root)
    metadata = _metadata(root / "submission_metadata.json")
    assignment = _with_their_deadline(course.assignment(settings["assignment"]), metadata, course.zone)
    names = [exercise.name for exercise in assignment.exercises]
    parts = parts_of(files, assignment)
    submission = collect_one(root / "submission", _student(metadata), names, assignment.id, parts)
    submission = replace(submission, name=_name(metadata), handed_in=_time(metadata.get("created_at")))
    receipt = _receipt(files, course.id, assignment, submission, settings["require_isolation"])
    if not receipt.complete:
        raise GradingError("the checks had trouble: " + "; ".join(c.trouble for c in receipt.checks if c.trouble))
    attempts = 1 + len(metadata.get("previous_submissions") or ())
    withheld = hint_withheld(assignment, attempts, datetime.now(UTC), submission.student)
    return results(receipt, final_scores(receipt, [], assignment), withheld)


def _receipt(
    files: CourseFiles, course: str, assignment: Assignment, submission: Submission, required: str | None
) -> Receipt:
    from autograder.grading.batch import Batch
    from autograder.grading.run import grade

    receipts: list[Receipt] = []
    seed = secrets.randbelow(2**31)
    batch = Batch(files, course, assignment, [submission], seed, required_isolation=required)
    grade(batch, receipts.append, lambda _: None)
    return receipts[0]


def _metadata(path: Path) -> Mapping[str, Any]:
    """What Gradescope says of the submission; nothing where it says nothing that can be read."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        print(f"{path.name} cannot be read ({error}); who handed in, and when, is not known")
        return {}
    return data if isinstance(data, dict) else {}


def _users(metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [user for user in metadata.get("users") or () if isinstance(user, dict)]


def _student(metadata: Mapping[str, Any]) -> str:
    """The student's number where Gradescope knows one, else the email address; of a group, of all of them."""
    ids = [str(user.get("sid") or user.get("email") or user.get("id")) for user in _users(metadata)]
    return " + ".join(ids) or "unknown"


def _name(metadata: Mapping[str, Any]) -> str | None:
    return ", ".join(str(user["name"]) for user in _users(metadata) if user.get("name")) or None


def _with_their_deadline(assignment: Assignment, metadata: Mapping[str, Any], zone: ZoneInfo) -> Assignment:
    """With the deadline that Gradescope has for this student, on the course's clocks: they say when a day ends."""
    own = [user["assignment"] for user in _users(metadata) if isinstance(user.get("assignment"), dict)]
    everybody = metadata.get("assignment")
    for dates in [*own, *([everybody] if isinstance(everybody, dict) else [])]:
        if due := _time(dates.get("due_date")):
            return assignment.model_copy(update={"deadline": datetime.fromisoformat(due).astimezone(zone)})
    return assignment


def _time(text: object) -> str | None:
    """A time with its zone in ISO form, or None where it is none."""
    try:
        time = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return time.isoformat(timespec="seconds") if time is not None and time.utcoffset() is not None else None


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
