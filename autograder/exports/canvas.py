"""Canvas's gradebook CSV: the instructor's own export with one column filled, or a new file.

What Canvas's importer does, and what follows here:

- It matches students by ID, then SIS User ID, then SIS Login ID, then name; whoever it does not find becomes a new
  student, and a title that it does not know a new assignment. So the instructor's export is the best start: of it only
  cells of our column change, and the rest stays byte for byte, names that look like formulas included, for Canvas wrote
  them and would not know them otherwise.
- A new file needs ids of Canvas's. By them Canvas finds the student, whatever the name says, so that names in it are
  made harmless for a spreadsheet.
- An empty cell or "-" changes nothing and EX excuses a student; who is excused stays so. "1,234" is 1.234.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from autograder.exports.raw_csv import RawCsv, read_raw
from autograder.exports.standing import Exported, Standing, number
from autograder.grading.cells import harmless
from autograder.grading.errors import GradingError
from autograder.intake.roster import Roster

_IDS = ("SIS Login ID", "SIS User ID", "ID")
_STUDENT_COLUMNS = {
    "student",
    "student name",
    "id",
    "sis user id",
    "sis login id",
    "integration id",
    "root account",
    "section",
    "notes",
}
_POSSIBLE = "points possible"
_TITLE = re.compile(r"(?P<title>.*?)(?: \(\d+\))?", re.DOTALL)


def fill(standing: Standing, name: str, content: bytes, column: str | None = None, by: str | None = None) -> Exported:
    """The instructor's gradebook with the points of this assignment.

    Args:
        column: the title of the column to fill; by default the one that is called like the assignment.
        by: the column that holds our student ids; by default the one in which most of them are found.

    Raises:
        GradingError: it is no gradebook of Canvas, has no such column, or counts other points for it.
    """
    book = read_raw(name, content)
    header = _header(name, book)
    at = _column(name, book, header, standing, column)
    _same_points(name, book, header, at, standing)
    rows = _rows_of_students(name, book, header, standing, by)
    cells: dict[int, str] = {}
    left_out = [f"{student} has no score: {why}" for student, why in standing.ungraded.items()]
    excused = 0
    for row in standing.rows:
        place = rows.get(row.student)
        if place is None:
            left_out.append(f"{row.student} is not in {name}{_nearly(row.student, book, header)}")
        elif book.cell(place, at).strip().upper() == "EX":
            excused += 1
        else:
            cells[place] = number(row.final.points)
    remarks = [f'scores in the column "{book.cell(header, at)}": {len(cells)}']
    if excused:
        remarks.append(f"excused in Canvas, and left so: {excused}")
    return Exported({name: book.with_cells(at, cells)}, tuple(remarks), tuple(left_out))


def new(standing: Standing, roster: Roster) -> Exported:
    """A gradebook with one column. Raises GradingError where the roster has no id by which Canvas knows students."""
    columns = {label: label.lower().replace(" ", "_") for label in ("ID", "SIS User ID", "SIS Login ID", "Section")}
    known = [label for label in columns if any(columns[label] in roster.details.get(s, {}) for s in roster)]
    if not set(known) & {"ID", "SIS User ID", "SIS Login ID"}:
        raise GradingError(
            "Canvas finds students by its own ids: add a column id, sis_user_id or sis_login_id to the roster, "
            "or fill the gradebook that you exported from Canvas (--template)"
        )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["Student", *columns, standing.title])
    writer.writerow(["    Points Possible", *[""] * len(columns), number(standing.possible)])
    left_out = [f"{student} has no score: {why}" for student, why in standing.ungraded.items()]
    for row in standing.rows:
        ids = [roster.details.get(row.student, {}).get(key, "") for key in columns.values()]
        if not any(ids[:3]):
            left_out.append(f"{row.student} has no id of Canvas's in the roster")
        elif unsafe := [id for id in ids[:3] if harmless(id) != id]:
            left_out.append(
                f'{row.student} has the id "{unsafe[0]}", which a spreadsheet would run; correct the roster'
            )
        else:
            name = roster.students.get(row.student) or row.name
            writer.writerow([harmless(name), *ids[:3], harmless(ids[3]), number(row.final.points)])
    remark = f'Canvas offers to make a new assignment "{standing.title}" of {number(standing.possible)} points'
    files = {f"{standing.id.replace('/', '_')}_canvas.csv": text.getvalue().encode("utf-8-sig")}
    return Exported(files, (remark,), tuple(left_out))


def read_scores(content: bytes, by: str = "SIS Login ID") -> Mapping[str, Mapping[str, str]]:
    """The cells of each student's row by title, as Canvas's importer takes them: for tests and for comparing."""
    book = read_raw("gradebook", content)
    header = _header("gradebook", book)
    titles = [book.cell(header, at) for at in range(len(book.rows[header]))]
    place = titles.index(by)
    return {
        book.cell(row, place): {title: book.cell(row, at) for at, title in enumerate(titles)}
        for row in _students(book, header)
    }


def _header(name: str, book: RawCsv) -> int:
    """The row of titles: Student first, then ID."""
    for row in range(min(3, len(book.rows))):
        titles = [book.cell(row, at).strip().lower() for at in range(2)]
        if "student" in titles[0] and "id" in titles[1]:
            return row
    raise GradingError(
        f"{name} is no gradebook of Canvas: its first columns are not Student and ID; export it there again"
    )


def _students(book: RawCsv, header: int) -> Iterator[int]:
    """The rows that stand for people: not the points possible, no blank rows, not Canvas's test student."""
    for row in range(header + 1, len(book.rows)):
        first = book.cell(row, 0).strip()
        if not first.lower().startswith(_POSSIBLE) and first != "Student, Test" and any(book.rows[row][1:]):
            yield row


def _column(name: str, book: RawCsv, header: int, standing: Standing, wanted: str | None) -> int:
    titles = {at: book.cell(header, at) for at in range(len(book.rows[header]))}
    assignments = {
        at: title for at, title in titles.items() if title.strip().lower() not in _STUDENT_COLUMNS and at > 1
    }
    names = {_plain(wanted)} if wanted else {_plain(standing.title), _plain(standing.id)}
    found = [at for at, title in assignments.items() if {_plain(title), _plain(_without_id(title))} & names]
    if len(found) == 1:
        return found[0]
    asked = f'"{wanted}"' if wanted else f'"{standing.title}" or "{standing.id}"'
    if found:
        raise GradingError(f"{name} has {len(found)} columns called {asked}; say which: --column 'TITLE (NUMBER)'")
    listed = ", ".join(f'"{title}"' for title in list(assignments.values())[:20]) or "none"
    raise GradingError(
        f"{name} has no column {asked}; choose one of its columns with --column, or make the assignment in Canvas and "
        f"export again. It has: {listed}"
    )


def _same_points(name: str, book: RawCsv, header: int, at: int, standing: Standing) -> None:
    for row in range(header + 1, len(book.rows)):
        if book.cell(row, 0).strip().lower().startswith(_POSSIBLE):
            said = book.cell(row, at).strip()
            if said and _points(said) != standing.possible:
                raise GradingError(
                    f'{name} counts {said} points for "{book.cell(header, at)}", the course counts '
                    f"{number(standing.possible)}; make them equal in Canvas and export again"
                )


def _points(text: str) -> Fraction | None:
    try:
        return Fraction(text.replace(",", "."))
    except ValueError:
        return None


def _rows_of_students(name: str, book: RawCsv, header: int, standing: Standing, by: str | None) -> dict[str, int]:
    """Where each of our students stands, by the one column that holds our ids: ids of two kinds are never mixed."""
    titles = [book.cell(header, at).strip().lower() for at in range(len(book.rows[header]))]
    ours = {row.student for row in standing.rows}
    found: dict[str, dict[str, int]] = {}
    for title in _IDS if by is None else (by,):
        if title.lower() in titles:
            at = titles.index(title.lower())
            places: dict[str, list[int]] = {}
            for row in _students(book, header):
                places.setdefault(book.cell(row, at).strip(), []).append(row)
            if twice := sorted(id for id in ours & places.keys() if len(places[id]) > 1):
                raise GradingError(f"{name} has {len(places[twice[0]])} rows with the {title} {twice[0]}; keep one")
            found[title] = {id: places[id][0] for id in ours & places.keys()}
    best = max(found, key=lambda title: len(found[title]), default=None)
    if best is None or not found[best]:
        looked = f"the column {by}" if by else ", ".join(_IDS)
        raise GradingError(f"none of our students is in {name} (looked for their ids in {looked})")
    for title, rows in found.items():
        if any(rows[id] != found[best].get(id, rows[id]) for id in rows):
            raise GradingError(
                f"our ids stand in {title} and in {best} of {name}, for different people; say which: --by"
            )
    return found[best]


def _nearly(student: str, book: RawCsv, header: int) -> str:
    """What may have become of an id: spreadsheets take zeros in front away."""
    shorter = student.lstrip("0")
    if shorter in ("", student):
        return ""
    cells = {book.cell(row, at).strip() for row in _students(book, header) for at in range(1, 5)}
    return (
        f", but {shorter} is: it was saved in a spreadsheet, which takes zeros away; download it again"
        if shorter in cells
        else ""
    )


def _without_id(title: str) -> str:
    found = _TITLE.fullmatch(title.strip())
    return found["title"] if found else title


def _plain(title: str) -> str:
    return " ".join(title.split()).casefold()
