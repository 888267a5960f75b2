"""The roster: who is in the course, and which ids can be used without any of them getting lost."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from autograder.intake.names import is_junk, is_unprintable, shown
from autograder.intake.submission import IntakeError

ELSEWHERE = "id canvas_id sis_user_id sis_login_id id_number idnumber username email email_address sid".split()
ON_GITHUB = "github github_username github_login".split()
"""Columns of a roster that hold what other systems call a student: Canvas, Moodle, Gradescope; GitHub."""
MAX_ID = 120
MAX_ROSTER_BYTES = 10_000_000
ALLOWED = (
    f"an id has 1 to {MAX_ID} characters; all are allowed except / and \\ and invisible ones, "
    "and it may not start with a dot or start or end with a blank"
)


@dataclass(frozen=True)
class Roster:
    """Student ids, exactly as written, with their names (None where the roster has none).

    `details` are the other columns, by student and title (`sis_user_id`): what other systems call the student.
    """

    students: Mapping[str, str | None]
    details: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __contains__(self, student: object) -> bool:
        return student in self.students

    def __iter__(self) -> Iterator[str]:
        return iter(self.students)

    def __len__(self) -> int:
        return len(self.students)

    def find(self, student: str) -> str | None:
        """The roster's spelling of `student`, or whose id elsewhere that is (`details`), or None.

        Ids are equal when all characters are. Only the two Unicode spellings of one character count as the same,
        because macOS renames `Zoë` from one to the other. Ids of other systems count in any letter case, and only where
        they are one student's.
        """
        if student in self.students:
            return student
        return self._by_characters.get(plain(student)) or self._elsewhere.get(plain(student).casefold())

    def called(self, name: str) -> list[str]:
        """Everybody with this name: in any order of its words and letter case, with or without blanks between them."""
        return self._by_name.get(_letters(name.split()), []) or self._by_name.get(_letters([name]), [])

    def similar(self, student: str) -> str | None:
        """The only id that differs from `student` just by letter case or a copy mark, if there is one."""
        found = [known for known in self.students if rough(known) == rough(student)]
        return found[0] if len(found) == 1 else None

    def by_login(self, login: str) -> str | None:
        """Who has this name on GitHub."""
        return self._logins.get(login.casefold())

    @cached_property
    def _by_characters(self) -> dict[str, str]:
        return {plain(student): student for student in self.students}

    @cached_property
    def _elsewhere(self) -> dict[str, str]:
        return self._by_ids(ELSEWHERE + ON_GITHUB)

    @cached_property
    def _logins(self) -> dict[str, str]:
        return self._by_ids(ON_GITHUB)

    def _by_ids(self, titles: Iterable[str]) -> dict[str, str]:
        """Student by an id in one of these columns; ids that two students share are nobody's."""
        found: dict[str, set[str]] = {}
        for title in titles:
            for student, details in self.details.items():
                if title in details:
                    found.setdefault(plain(details[title]).casefold(), set()).add(student)
        return {id: students.pop() for id, students in found.items() if len(students) == 1}

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for student, name in self.students.items():
            words = (name or "").replace(",", " ").split()
            joined = {_letters(words), _letters(["".join(words)]), _letters(["".join(words[-1:] + words[:-1])])}
            for spelling in joined - {""}:
                found.setdefault(spelling, []).append(student)
        return found


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
    """Reads a CSV with the columns `student_id` and, if wanted, `name`; the others become `details`. Raises as
    `read_columns`."""
    rows = read_columns(path, "roster")
    names = {student: _printable(fields.get("name", "")) or None for student, fields in rows.items()}
    details = {
        student: {title: shown(text) for title, text in fields.items() if text and title not in ("student_id", "name")}
        for student, fields in rows.items()
    }
    return Roster(names, details)


def read_columns(path: Path, kind: str) -> dict[str, dict[str, str]]:
    """What a CSV says about each `student_id`, by title: in small letters, with _ for blanks and hyphens.

    A byte order mark, CRLF, semicolons or tabs and blank lines are fine; blanks around a field are dropped. Raises
    `IntakeError` that names the line; `kind` is what to call the file.
    """
    rows = _rows(path.name, _text(path, kind))
    columns = next(rows, (0, []))[1]
    header = [title.strip().casefold().replace(" ", "_").replace("-", "_") for title in columns]
    if header.count("student_id") != 1:
        found = ", ".join(map(shown, columns)) or "none"
        raise IntakeError(f"{path.name} needs exactly one column student_id; its columns are: {found}.")
    places = {title: header.index(title) for title in header if title}
    read: dict[str, dict[str, str]] = {}
    lines: dict[str, int] = {}
    for line, row in rows:
        fields = {title: _field(row, at) for title, at in places.items()}
        student = fields["student_id"]
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
        read[student] = fields
    if not read:
        raise IntakeError(f"{path.name} names no student; add one line for each.")
    return read


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


def _letters(words: Iterable[str]) -> str:
    """Words of a name for comparing: sorted, letters and digits only, no letter case, no accents."""
    decomposed = (unicodedata.normalize("NFKD", word).casefold() for word in words)
    return " ".join(sorted(filter(None, ("".join(filter(str.isalnum, word)) for word in decomposed))))


def plain(student: str) -> str:
    """`student` in one of the two Unicode spellings of its characters."""
    return unicodedata.normalize("NFC", student)
