"""`autograder export`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli.exit_codes import ATTENTION, OK
from autograder.cli.setting import Setting
from autograder.course import Assignment
from autograder.exports.standing import Exported, Standing, standing
from autograder.grading import GradingError
from autograder.grading.parts import MODULES, assignment_of, part_of
from autograder.intake import Roster, read_roster

if TYPE_CHECKING:
    from autograder.grading.store import Store

MOST_SHOWN = 20


def run(
    course: Path | None,
    to: str,
    assignment: str,
    roster: Path | None,
    template: Path | None,
    output: Path | None,
    column: str | None,
    by: str | None,
    students: Sequence[str],
    require_isolation: str | None,
    store: str | None,
) -> int:
    """Write the files of a format. Returns the exit code: attention where students are left out."""
    if template is not None and to != "canvas":
        raise click.UsageError("--template is for canvas; the other formats fill no file of yours")
    if (column or by) and template is None:
        raise click.UsageError("--column and --by say what in a --template is meant")
    setting = Setting.find(course)
    graded = setting.course.assignment(assignment_of(assignment))
    part = part_of(assignment)
    if to in ("gradescope-zip", "classroom"):
        if part is not MODULES:
            raise GradingError(f"{to} is made for the modules; write `autograder export {to} {graded.id}`")
        exported = _of_the_course(setting, to, graded, require_isolation)
    else:
        people = read_roster(roster) if roster else None
        with setting.store(store) as receipts:
            found = standing(receipts, graded, assignment)
            exported = _of_the_class(receipts, to, found, people, template, column, by, students)
    places = _places(exported, to, assignment, output, template)
    for path, data in places:
        _write(path, data)
    if len(places) == 1:
        click.echo(f"wrote {places[0][0]}")
    else:
        click.echo(f"wrote {len(places)} files to {places[0][0].parent}")
    for remark in exported.remarks:
        click.echo(remark)
    for sentence in exported.left_out[:MOST_SHOWN]:
        click.echo(sentence, err=True)
    if len(exported.left_out) > MOST_SHOWN:
        click.echo(f"and {len(exported.left_out) - MOST_SHOWN} more are left out", err=True)
    return ATTENTION if exported.left_out else OK


def _of_the_course(setting: Setting, to: str, assignment: Assignment, require_isolation: str | None) -> Exported:
    if to == "classroom":
        from autograder.exports.classroom import classroom

        return classroom(setting.files, assignment)
    from autograder.exports.gradescope.package import package

    return package(setting.files, assignment, require_isolation)


def _of_the_class(
    receipts: Store,
    to: str,
    found: Standing,
    roster: Roster | None,
    template: Path | None,
    column: str | None,
    by: str | None,
    students: Sequence[str],
) -> Exported:
    if to == "canvas":
        from autograder.exports import canvas

        if template is not None:
            return canvas.fill(found, template.name, template.read_bytes(), column, by)
        if roster is None:
            raise GradingError(
                "give the gradebook that Canvas exported (--template), or a roster with Canvas's ids (--roster)"
            )
        return canvas.new(found, roster)
    if to == "moodle":
        from autograder.exports.moodle import moodle

        return moodle(found, roster)
    if to == "junit":
        from autograder.exports.junit import junit

        if unknown := set(students) - {row.student for row in found.rows}:
            raise GradingError(f"{', '.join(sorted(unknown))} has no receipt for {found.id}")
        return junit(found, students or None)
    if to == "gradescope":
        from autograder.exports.gradescope.results import gradescope

        return gradescope(found, _withheld(receipts, found))
    from autograder.exports.table import table

    return table(found)


def _withheld(receipts: Store, found: Standing) -> dict[str, str]:
    """Why hints are not told yet, by student."""
    from autograder.grading.disclosure import hint_withheld

    now = datetime.now(UTC)
    return {
        row.student: hint_withheld(found.assignment, _attempts(receipts, found, row.student), now, row.student)
        for row in found.rows
    }


def _attempts(receipts: Store, found: Standing, student: str) -> int:
    """How many different submissions of a student were graded; counted only where the policy asks for it."""
    if found.assignment.hint != "after_first_attempt":
        return 1
    return len({receipt.submission_hash for receipt in receipts.history(found.id, student)})


def _write(path: Path, data: bytes) -> None:
    """In one step, so that no half of a gradebook is ever there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_bytes(data)
    fresh.replace(path)


def _places(
    exported: Exported, to: str, assignment: str, output: Path | None, template: Path | None
) -> list[tuple[Path, bytes]]:
    """Where each file goes; never over the template, which stays as Canvas wrote it."""
    if to in ("gradescope", "classroom"):
        folder = output or Path("." if to == "classroom" else f"{assignment.replace('/', '_')}_gradescope")
        return [(folder / name, data) for name, data in exported.files.items()]
    ((name, data),) = exported.files.items()
    if template is None:
        return [(output or Path(name), data)]
    target = output or template.with_name(f"{template.stem}_filled{template.suffix}")
    if target.resolve() == template.resolve():
        raise GradingError(f"{target} is the template itself; write to another file")
    return [(target, data)]
