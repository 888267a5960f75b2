"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.grading.final import Final
from autograder.grading.parts import MODULES, part_of
from autograder.grading.receipt import GRADED, GRADER_TROUBLE, WAITS, CheckResult, Diagnosis, Receipt, shown
from autograder.intake.names import shown as visible


@dataclass(frozen=True, slots=True)
class Row:
    """What a class's table says of one student: far less than the receipt, of which a large class has gigabytes."""

    student: str
    final: Final
    reasons: tuple[str, ...]
    """Why a human should look at it."""
    notes: tuple[str, ...]
    """Of the hand-in where it could not be graded, then of manual scores."""
    about_time: str
    """What an instructor should know of when it was handed in."""
    is_timed: bool

    @classmethod
    def of(cls, receipt: Receipt, final: Final, manual: Sequence[str]) -> Row:
        """The row of a receipt, with what stands for it and what is to be said of its manual scores."""
        hand_in = () if receipt.status == GRADED else receipt.remarks[:1]
        reasons, is_timed = tuple(receipt.attention()), receipt.handed_in is not None
        return cls(receipt.student, final, reasons, (*hand_in, *manual), receipt.handed_in_remark, is_timed)

    @property
    def remarks(self) -> list[str]:
        """All that is to be said beside the points; of the time where points depend on it, or nobody knows it."""
        late = self.final.late
        time = [self.about_time] if self.about_time and (late.percent or late.days is None) else []
        return [*self.reasons, *self.notes, *time]


_STYLES = {"passed": "green", "not attempted": "yellow", GRADER_TROUBLE: "magenta", WAITS: "magenta"}


def class_table(console: Console, rows: Sequence[Row], exercises: Sequence[str]) -> None:
    """One line per student: points by exercise and total, what is taken off for lateness where something is; then what
    to look at, student by student."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1))
    table.add_column("student", overflow="fold")
    labels = [name.replace("_", "\n") for name in exercises]
    is_late = any(row.final.late.percent for row in rows)
    wide = 28 + 8 * is_late + sum(3 + max(len(word) for word in label.split("\n")) for label in labels)
    numbered = console.width < wide
    for number, label in enumerate(labels, start=1):
        table.add_column(str(number) if numbered else label, justify="right", vertical="bottom")
    if is_late:
        table.add_column("late", justify="right", vertical="bottom")
    table.add_column("total", justify="right", style="bold", vertical="bottom")
    table.add_column("", vertical="bottom")
    for row in rows:
        final = row.final
        marks = {s.exercise: "*" if s.manual else "?" if s.is_open else "" for s in final.exercises}
        cells = {s.exercise: shown(s.points) + marks[s.exercise] for s in final.exercises}
        late = [f"-{shown(final.late.percent)} %" if final.late.percent else ""] if is_late else []
        whole = shown(final.points) + ("?" if "?" in marks.values() else "")
        look = "look" if row.reasons else "note" if row.remarks else ""
        table.add_row(Text(row.student), *(cells.get(e, "") for e in exercises), *late, whole, look)
    console.print(table)
    if numbered:
        legend = ", ".join(f"{number} {name}" for number, name in enumerate(exercises, start=1))
        console.print(Text(f"exercises: {legend}"))
    _remarks(console, rows)


def _remarks(console: Console, rows: Iterable[Row]) -> None:
    told = [(row.student, "; ".join(row.remarks)) for row in rows if row.remarks]
    if not told:
        return
    grid = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1))
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    for student, remark in told:
        grid.add_row(Text(f"  {student}"), Text(remark))
    console.print(Text("\nto look at:"))
    console.print(grid)


def receipt_report(console: Console, receipt: Receipt, final: Final, instructor: bool, withheld: str = "") -> None:
    """One receipt in full. For a student: titles and messages; for an instructor also check names, output and flags.

    `withheld` says when diagnoses are told, where they are not told now.
    """
    name = f" ({receipt.name})" if receipt.name else ""
    whole = f"{shown(final.points)} of {shown(final.possible)} points in {receipt.assignment}"
    console.print(Text(f"{receipt.student}{name}: {whole}", style="bold"))
    if final.late.sentence and (instructor or final.late.days is not None):
        without = f" (without that: {shown(final.raw)})" if final.points != final.raw else ""
        console.print(Text(f"note: {final.late.sentence}{without}", style="yellow"))
    if receipt.status != GRADED:
        console.print(Text(f"status: {receipt.status}", style="yellow"))
    for note in receipt.remarks:
        console.print(Text(f"note: {note}"))
    open_points = sum((c.points for c in receipt.checks if c.outcome == GRADER_TROUBLE), Fraction(0))
    if open_points:
        sentence = f"{shown(open_points)} points are open: the grader was at fault, not the submission; grade it again"
        console.print(Text(f"note: {sentence}", style="magenta"))
    unread = (c.points for c in receipt.checks if c.outcome == WAITS and c.exercise in final.waiting)
    if unread_points := sum(unread, Fraction(0)):
        console.print(
            Text(f"note: {shown(unread_points)} points wait for a person to read the answers", style="magenta")
        )
    checks, came = receipt.exercises(), "printed" if part_of(receipt.assignment) is MODULES else "written"
    for score in final.exercises:
        by_hand = f", given by {score.manual.author}: {score.manual.reason}" if score.manual else ""
        line = f"\n{score.exercise}  {shown(score.points)} of {shown(score.possible)}{by_hand}"
        console.print(Text(line, style="bold"))
        console.print(_check_grid(checks[score.exercise], instructor))
        if found := receipt.diagnoses.get(score.exercise, ()):
            console.print(Text(f"  {withheld}") if withheld else _diagnosis_grid(found, instructor))
        if instructor and receipt.output.get(score.exercise):
            lines = map(visible, receipt.output[score.exercise][:2000].expandtabs().split("\n"))
            console.print(Text("\n".join([f"{came}:", *lines]), style="dim"))
    if instructor:
        _provenance(console, receipt)


def _check_grid(checks: Iterable[CheckResult], instructor: bool) -> Table:
    grid = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for check in checks:
        words = Text(("" if check.public else "hidden: ") + check.title)
        if instructor:
            words.append(f"  [{check.id}{', attested' if check.attested else ''}]", style="dim")
        if check.outcome != "passed" and check.message:
            words.append("\n" + check.message)
        if instructor and check.trouble:
            words.append("\n" + check.trouble, style="magenta")
        outcome = Text(check.outcome, style=_STYLES.get(check.outcome, "red"))
        grid.add_row(f"  {shown(check.earned)}/{shown(check.points)}", outcome, words)
    return grid


def _diagnosis_grid(found: Iterable[Diagnosis], instructor: bool) -> Table:
    grid = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for diagnosis in found:
        words = Text(diagnosis.name, style="bold")
        words.append(f"  ({diagnosis.course})", style="not bold")
        if diagnosis.hint:
            words.append(f"\n{diagnosis.hint}", style="not bold italic")
        if instructor:
            words.append(f"\n[{diagnosis.mistake}: {', '.join(diagnosis.checks)}]", style="not bold dim")
        grid.add_row("  looks like", words)
    return grid


def _provenance(console: Console, receipt: Receipt) -> None:
    lines = [
        f"\ngraded {receipt.graded_at} in {receipt.seconds:.2f} s, seed {receipt.seed}, kit {receipt.kit_version}, "
        f"torch {receipt.torch_version}, isolation: {receipt.isolation}",
        f"submission {receipt.submission_hash[:16]}, suite {receipt.suite_hash[:16]}",
        *(f"file {name}.py: {what}" for name, what in receipt.files.items()),
        *(f"changed by {name}.py: {', '.join(found)}" for name, found in receipt.flags.items()),
        *(f"worth a look: {name}.py {', '.join(found)}" for name, found in receipt.curious.items()),
        *([f"ignored: {', '.join(receipt.ignored)}"] if receipt.ignored else []),
        *([f"attempt: {receipt.attempt}"] if receipt.attempt else []),
        *([f"handed in: {receipt.handed_in}"] if receipt.handed_in else []),
        *([f"when it was handed in: {receipt.handed_in_remark}"] if receipt.handed_in_remark else []),
    ]
    for line in lines:
        console.print(Text(line, style="dim"))
