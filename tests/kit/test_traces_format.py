"""The files of worked examples: a wrong one is refused in plain words, which name the entry and what to do."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.course import CourseError, load_traces

ENTRY: dict[str, Any] = {
    "id": "row",
    "where": "Week 8 §9",
    "public": True,
    "inputs": {"x": [[1.0, 2.0]], "steps": 3},
    "values": {"out": {"value": [[-1.0, 1.25]], "digits": 2, "printed": [[-1.0, 1.26]], "note": "rounded twice"}},
}
VALUE = ENTRY["values"]["out"]


def load(folder: Path, content: Any) -> Any:
    path = folder / "x.yml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content), encoding="utf-8")
    return load_traces(path)


def value_with(**changes: Any) -> dict[str, Any]:
    return {**ENTRY, "values": {"out": {k: v for k, v in {**VALUE, **changes}.items() if v is not ...}}}


def test_an_entry_is_plain_frozen_data(tmp_path: Path) -> None:
    entry = load(tmp_path, [ENTRY])["row"]
    assert (entry.id, entry.where, entry.public) == ("row", "Week 8 §9", True)
    assert entry.inputs == {"x": [[1.0, 2.0]], "steps": 3}
    out = entry.values["out"]
    assert (out.value, out.digits, out.printed, out.note) == ([[-1.0, 1.25]], 2, [[-1.0, 1.26]], "rounded twice")
    with pytest.raises(FrozenInstanceError):
        entry.where = "elsewhere"


def test_numbers_in_scientific_notation_are_numbers(tmp_path: Path) -> None:
    text = "- {id: a, where: x, public: true, inputs: {peak: 3e-4}, values: {v: {value: 6e-7, digits: 7}}}"
    entry = load(tmp_path, text)["a"]
    assert (entry.inputs["peak"], entry.values["v"].value) == (0.0003, 0.0000006)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("id: a\n", "file: must be a list of entries"),
        (["x"], '[0]: must be a mapping with id, where, public, inputs and values, got "x"'),
        ([{**ENTRY, "id": "a b"}], 'a b: id: must be a name of letters, digits and underscores, got "a b"'),
        ([{**ENTRY, "id": 3}], "[0]: id: must be a name of letters"),
        ([ENTRY, ENTRY], "row: id: another entry has the same id"),
        ([{k: v for k, v in ENTRY.items() if k != "where"}], "row: where: missing"),
        ([{**ENTRY, "where": " "}], "row: where: must be the place in the course"),
        ([{**ENTRY, "public": "no"}], 'row: public: must be true or false, got "no"'),
        ([{**ENTRY, "secret": 1}], "row: secret: not a field of an entry"),
        ([{**ENTRY, "inputs": [1]}], "row: inputs: must be a mapping of names to numbers"),
        (
            [{**ENTRY, "inputs": {"x": "1, 2"}}],
            'row: inputs.x: must be a number or nested lists of numbers, got "1, 2"',
        ),
        (
            [{**ENTRY, "inputs": {"x": [1, True]}}],
            "row: inputs.x: must be a number or nested lists of numbers, got true",
        ),
        ([{**ENTRY, "inputs": {"x": [1.0, float("nan")]}}], "row: inputs.x: must be finite"),
        ([{**ENTRY, "inputs": {"x": 10**400}}], "row: inputs.x: must be finite"),
        ([{**ENTRY, "inputs": {"x": [[1], [1, 2]]}}], "row: inputs.x: must be nested lists of equal lengths"),
        ([{**ENTRY, "inputs": {"x": [[1], 2]}}], "row: inputs.x: must be nested lists of equal lengths"),
        ([{**ENTRY, "inputs": {"x": [[]]}}], "row: inputs.x: must be nested lists of equal lengths"),
        ([{**ENTRY, "values": {}}], "row: values: must be a mapping of names to {value, digits}"),
        ([{**ENTRY, "values": {"out": 3}}], "row: values.out: must be a mapping with value and digits, got 3"),
        ([value_with(value=...)], "row: values.out.value: missing"),
        ([value_with(digits=...)], "row: values.out.digits: missing"),
        ([value_with(digits=-1)], "row: values.out.digits: must be the number of decimals, 0 to 15, got -1"),
        ([value_with(digits=True)], "row: values.out.digits: must be the number of decimals, 0 to 15, got true"),
        ([value_with(value=[[-1.0, 1.251]])], "row: values.out.value: must be rounded to 2 decimals, got 1.251"),
        ([value_with(printed=[[-1.0, 1.25]])], "row: values.out.printed: must differ from value"),
        ([value_with(printed=[1.26])], "row: values.out.printed: must have the shape of value"),
        ([value_with(printed=None)], "row: values.out.printed: must be a number or nested lists of numbers"),
        ([value_with(note=...)], "row: values.out.note: missing; say why"),
        ([value_with(note=5)], "row: values.out.note: must be text, got 5"),
        ([value_with(prined=1)], "row: values.out.prined: not a field of a value"),
    ],
)
def test_a_wrong_file_names_the_entry_and_what_to_do(content: Any, expected: str, tmp_path: Path) -> None:
    with pytest.raises(CourseError) as caught:
        load(tmp_path, content)
    assert caught.value.problems[0].startswith(expected)
    assert str(tmp_path / "x.yml") in str(caught.value)
