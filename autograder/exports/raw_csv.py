"""A CSV file taken apart without losing a byte, so that one column can be filled and the rest stays as it is."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from autograder.grading.errors import GradingError

MARK = "\ufeff"


@dataclass(frozen=True)
class RawCsv:
    """Rows of fields as they are written, quotes included, each row with its line end; all of it makes the file."""

    mark: str
    delimiter: str
    rows: list[list[str]]
    ends: list[str]

    def cell(self, row: int, column: int) -> str:
        """What a reader of CSV gets from a field; "" beyond the end of its row."""
        fields = self.rows[row]
        return _meant(fields[column]) if column < len(fields) else ""

    def with_cells(self, column: int, cells: dict[int, str]) -> bytes:
        """The file with other text in this column of these rows. The text must need no quotes."""
        lines = []
        for number, fields in enumerate(self.rows):
            if number in cells:
                fields = [*fields, *[""] * (column + 1 - len(fields))]
                fields[column] = f'"{cells[number]}"' if fields[column].startswith('"') else cells[number]
            lines.append(self.delimiter.join(fields) + self.ends[number])
        return (self.mark + "".join(lines)).encode()


def read_raw(name: str, content: bytes) -> RawCsv:
    """The file in its parts. Raises GradingError for one that is not CSV in UTF-8."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        sentence = f"{name} line {line} is not UTF-8; download it again and do not save it in a spreadsheet"
        raise GradingError(sentence) from None
    mark = MARK if text.startswith(MARK) else ""
    text = text.removeprefix(MARK)
    delimiter = _delimiter(text)
    rows, ends = _taken_apart(name, text, delimiter)
    raw = RawCsv(mark, delimiter, rows, ends)
    meant = [[_meant(field) for field in row] for row in rows if row != [""]]
    if raw.with_cells(0, {}) != content or meant != _as_csv(text, delimiter):
        raise GradingError(f"{name} is written in a way that cannot be filled in; download it again")
    return raw


def _delimiter(text: str) -> str:
    """The comma, unless the first three lines agree on another one."""
    lines = text.splitlines()[:3]
    others = [
        d for d in ";\t" if lines and lines[0].count(d) and all(line.count(d) >= lines[0].count(d) for line in lines)
    ]
    return max(others, key=lines[0].count) if others and lines[0].count(others[0]) > lines[0].count(",") else ","


def _taken_apart(name: str, text: str, delimiter: str) -> tuple[list[list[str]], list[str]]:
    rows: list[list[str]] = []
    ends: list[str] = []
    fields: list[str] = []
    at = begun = 0
    while at < len(text):
        if text[at] == '"' and at == begun:
            at = _after_quotes(name, text, at, len(rows) + 1)
        elif text[at] == delimiter:
            fields.append(text[begun:at])
            at = begun = at + 1
        elif text[at] in "\r\n":
            end = "\r\n" if text.startswith("\r\n", at) else text[at]
            rows.append([*fields, text[begun:at]])
            ends.append(end)
            fields = []
            at = begun = at + len(end)
        else:
            at += 1
    if begun < len(text) or fields:
        rows.append([*fields, text[begun:]])
        ends.append("")
    return rows, ends


def _after_quotes(name: str, text: str, at: int, row: int) -> int:
    """The place behind a field in quotes that begins at `at`; a quote in it is written twice."""
    while True:
        at = text.find('"', at + 1)
        if at < 0:
            raise GradingError(f"{name} row {row} has a quote that never ends; download the file again")
        if not text.startswith('""', at):
            return at + 1
        at += 1


def _meant(field: str) -> str:
    return field[1:-1].replace('""', '"') if len(field) > 1 and field[0] == field[-1] == '"' else field


def _as_csv(text: str, delimiter: str) -> list[list[str]]:
    """The rows as Python's own reader sees them."""
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
