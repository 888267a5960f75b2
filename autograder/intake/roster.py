"""The roster: who is in the course, and which ids can be used without any of them getting lost."""

import csv
import io
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.intake.names import is_junk, is_unprintable, shown
from autograder.intake.submission import IntakeError

MAX_ID = 120
MAX_ROSTER_BYTES = 10_000_000
ALLOWED = (
    f"an id has 1 to {MAX_ID} characters; all are allowed except / and \\ and invisible ones, "
    "and it may not start with a dot or start or end with a blank"
)


@dataclass(frozen=True)
class Roster:
    """Student ids, exactly as written, with their names (None where the roster has none)."""

    students: Mapping[str, str | None]

    def __contains__(self, student: object) -> bool:
        return student in self.students

    def __iter__(self) -> Iterator[str]:
        return iter(self.students)

    def __len__(self) -> int:
        return len(self.students)

    def find(self, student: str) -> str | None:
        """The roster's spelling of `student`, or None.

        Ids are equal when all characters are. Only the two Unicode spellings of one character count as the same,
        because macOS renames `Zoë` from one to the other.
        """
        return student if student in self.students else self._by_characters.get(plain(student))

    def similar(self, student: str) -> str | None:
        """The only id that differs from `student` just by letter case or a copy mark, if there is one."""
        found = [known for known in self.students if rough(known) == rough(student)]
        return found[0] if len(found) == 1 else None

    @cached_property
    def _by_characters(self) -> dict[str, str]:
        return {plain(student): student for student in self.students}


def id_problem(student: str) -> str | None:
    """Why `student` cannot be an id, in words that continue "the id ..."; None when it can."""
    if not student:
        return "is empty"
    if len(student) > MAX_ID:
        return f"is longer than {MAX_ID} characters"
    if any(map(is_unprintable, student)):
        return "contains a line break or an invisible character"
    if "/" in student or "\\" in student:
        return "contains a slash or a backslash"
    if student != student.strip():
        return "starts or ends with a blank"
    if is_junk(student):  # this includes . and ..
        return "is a name that is skipped in a folder, as hidden files are"
    return None


def rough(student: str) -> str:
    """`student` without letter case and without a copy mark such as ` (1)`: for suggestions, never for matching."""
    head, bracket, number = student.strip().rpartition("(")
    copied = bracket and number[:-1].isdecimal() and number.endswith(")")
    return plain(head if copied else student).strip().casefold()


def read_roster(path: Path) -> Roster:
    """Reads a CSV with the columns `student_id` and, if wanted, `name`. Raises as `read_column`."""
    names = read_column(path, "name", "roster")
    return Roster({student: (name and _printable(name)) or None for student, name in names.items()})


def read_column(path: Path, column: str, kind: str) -> dict[str, str | None]:
    """What a CSV says in a column about each `student_id`; None for everybody where it has no such column.

    A byte order mark, CRLF, semicolons or tabs, further columns and blank lines are fine; blanks around a field
    are dropped. Raises `IntakeError` that names the line; `kind` is what to call the file.
    """
    rows = _rows(path.name, _text(path, kind))
    columns = next(rows, (0, []))[1]
    header = [title.strip().casefold().replace(" ", "_").replace("-", "_") for title in columns]
    if header.count("student_id") != 1:
        found = ", ".join(map(shown, columns)) or "none"
        raise IntakeError(f"{path.name} needs exactly one column student_id; its columns are: {found}.")
    id_column, wanted = header.index("student_id"), header.index(column) if column in header else None
    fields: dict[str, str | None] = {}
    lines: dict[str, int] = {}
    for line, row in rows:
        student = _field(row, id_column)
        problem = id_problem(student)
        if problem:
            text = shown(student[:MAX_ID])
            raise IntakeError(f"{path.name} line {line}: the student id '{text}' {problem}; {ALLOWED}.")
        same = plain(student)
        if same in lines:
            raise IntakeError(
                f"{path.name} line {line}: the student id '{student}' is already in line {lines[same]}; keep one."
            )
        lines[same] = line
        fields[student] = None if wanted is None else _field(row, wanted)
    if not fields:
        raise IntakeError(f"{path.name} names no student; add one line for each.")
    return fields


def _text(path: Path, kind: str) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_ROSTER_BYTES + 1)
    except OSError as error:
        raise IntakeError(f"The {kind} {path} could not be read: {error.strerror or error}.") from None
    if len(content) > MAX_ROSTER_BYTES:
        raise IntakeError(f"The {kind} {path} is larger than {MAX_ROSTER_BYTES // 1_000_000} MB; is it the right file?")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        raise IntakeError(
            f"{path.name} line {line} is not UTF-8 (byte 0x{content[error.start]:02x}); save it as CSV UTF-8."
        ) from None


def _rows(name: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each line that holds anything."""
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(",;\t", key=first.count)  # the comma unless another one is more frequent
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if any(map(str.strip, row)):
                yield reader.line_num, row
    except csv.Error as error:
        raise IntakeError(f"{name} line {reader.line_num} is not valid CSV: {error}.") from None


def _field(row: list[str], column: int) -> str:
    return row[column].strip() if column < len(row) else ""


def _printable(name: str) -> str:
    return shown(" ".join(name.split()))


def plain(student: str) -> str:
    """`student` in one of the two Unicode spellings of its characters."""
    return unicodedata.normalize("NFC", student)
