"""Keys of a quiz stay home (case B36): what students get, what the search finds, what an empty answers file reveals."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from keyed_course import FEEDBACK, IDEA, KEYED, WHY, keyed_course
from small_course import FILES, small_course

from autograder.authoring import AuthoringError, archive_path, contents, release, scan
from autograder.authoring.contents import QUIZ
from autograder.authoring.leaks import leaks_in
from autograder.course import load_course
from autograder.quiz.answers import HandedInAnswers, read_answers
from autograder.quiz.bank import load_bank
from autograder.quiz.public import public_quiz
from autograder.quiz.receipts import Marker

FIELDS = {
    *("format", "assignment", "title", "sections", "course", "unit", "optional", "items", "id", "type", "prompt"),
    *("points", "options", "letter", "text", "scoring", "draws", "steps", "count", "left", "right", "number", "code"),
    *("rubric", "version", "C", "H"),
}
SECRET = ["layer norm", "row-wise", "0.125", "1/8", WHY, FEEDBACK, IDEA, "every line would pass", "1\\n2", "batch norm"]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory):
    files, lines = keyed_course(tmp_path_factory.mktemp("course"))
    release(files, lines)
    return files, lines


def fields(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(fields, value.values()))
    return set().union(*map(fields, value)) if isinstance(value, list) else set()


def test_students_get_a_quiz_of_public_fields_and_no_key(course):
    folder = course[0].stubs("lines")
    text = (folder / QUIZ).read_text("utf-8")
    quiz = json.loads(text)
    assert [len(section["items"]) for section in quiz["sections"]] == [4, 6]
    assert fields(quiz) <= FIELDS
    assert [secret for secret in SECRET if secret in text] == []


def test_no_file_of_the_release_or_its_archive_holds_a_key(course):
    files, lines = course
    folder = files.stubs("lines")
    found = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with zipfile.ZipFile(archive_path(files, lines)) as packed:
        found |= {Path(name): packed.read(name) for name in packed.namelist()}
    for path, data in found.items():
        text = data.decode()
        views = [text, text[::-1], json.dumps(text, ensure_ascii=True)]
        for secret in [WHY, FEEDBACK, IDEA, "row-wise normalization", "every line would pass"]:
            forms = [
                secret,
                base64.b64encode(secret.encode()).decode().rstrip("="),
                hashlib.md5(secret.encode()).hexdigest(),
            ]
            assert not any(form[:60] in view for form in forms for view in views), (path, secret)
    assert scan(folder, *course) == [] == scan(archive_path(*course), *course)


def test_other_keys_give_the_same_file(course, tmp_path: Path):
    """So nothing in it, no order and no hash, depends on the keys."""
    changes = [
        (f"all rows of the prompt, misconception: {IDEA}", "all rows of the prompt, key: true"),
        ("the row by itself, key: true", f"the row by itself, misconception: {IDEA}"),
        ("value: 1 / 8", "value: 1 / 4"),
        ("accept: [layer norm, row-wise normalization]", "accept: [slope]"),
        (WHY, "It is another one."),
        (FEEDBACK, "Another line."),
        ('value: "[1, 2, 4]"', 'value: "[1, 4, 2]"'),
        ('output: "1\\n2"', 'output: "3"'),
        ("{left: factor, right: stretches the line}", "{left: factor, right: shifts the line}"),
        ("{left: offset, right: shifts the line}", "{left: offset, right: stretches the line}"),
        ("[{left: factor, right: shifts the line", "[{left: factor, right: stretches the line"),
        ("the b of a line, key: true", f"the b of a line, misconception: {IDEA}"),
    ]
    texts = dict(KEYED)
    for before, after in changes:
        assert any(before in text for text in texts.values()), before
        texts = {name: text.replace(before, after) for name, text in texts.items()}
    files, _ = keyed_course(tmp_path, **texts)
    released = json.loads((course[0].stubs("lines") / QUIZ).read_text("utf-8"))
    assert public_quiz(load_bank(files, load_course(tmp_path), "lines")) == released


PLANTED = {
    WHY: "the explanation of q_choice",
    FEEDBACK: "feedback of q_choice",
    IDEA: "a misconception of q_choice",
    "row-wise normalization": "an accepted text of q_text",
    "0.000126279": "the key of q_number",
    "Without an offset every line would pass through the origin of the plane.": "the model answer of q_open",
}


@pytest.mark.parametrize("disguise", ["text", "json", "base64", "reversed"])
def test_a_planted_secret_is_found_in_any_file_and_disguise(course, disguise: str):
    disguised = {
        "text": str,
        "json": lambda line: "".join(f"\\u{ord(sign):04x}" for sign in line),
        "base64": lambda line: base64.b64encode(line.encode()).decode(),
        "reversed": lambda line: line[::-1],
    }[disguise]
    files = {f"{i}/notes.txt": f"x = '{disguised(f'it is {text} !')}'\n" for i, text in enumerate(PLANTED)}
    found = leaks_in({path: text.encode() for path, text in files.items()}, *course)
    for path, kind in zip(files, PLANTED.values(), strict=True):
        assert any(leak.startswith(f"{path} holds {kind}") for leak in found), (path, kind, found)


def test_what_students_may_read_anyway_is_no_secret(course):
    text = "Which rows count for the slope? the row by itself; and a number such as 0.125"
    assert leaks_in({"README.md": text.encode()}, *course) == []


def test_a_release_with_a_key_in_it_is_not_written(tmp_path: Path):
    told = FILES["solutions/lines/slope.py"].replace("# TODO: Which operator", f"# {FEEDBACK} Which operator")
    files, lines = keyed_course(tmp_path, **{"solutions/lines/slope.py": told})
    with pytest.raises(AuthoringError, match=r"nothing was written.*slope\.py holds feedback of q_choice"):
        release(files, lines)
    assert not files.stubs("lines").exists()


def test_the_readme_and_the_manifest_name_the_quiz_where_there_is_one(course, tmp_path: Path):
    folder = course[0].stubs("lines")
    assert "python -m selfcheck quiz --section 2" in (folder / "README.md").read_text("utf-8")
    assert f"  {QUIZ}\n" in (folder / "selfcheck/MANIFEST").read_text("utf-8")
    without = contents(*small_course(tmp_path))
    assert QUIZ not in without and b"quiz" not in without["README.md"]


def test_what_a_student_answered_in_the_folder_is_no_leak_of_the_release(course):
    answers = course[0].stubs("lines") / "quiz_answers.json"
    answers.write_text(json.dumps({"answers": {"q_text": "row-wise normalization"}}), "utf-8")
    try:
        assert scan(course[0].stubs("lines"), *course) == []
    finally:
        answers.unlink()


@pytest.mark.parametrize("answers", ["{}", '{"q_choice": "", "q_text": null, "q_several": []}'])
def test_an_empty_answers_file_reveals_nothing(course, answers: str):
    files = course[0]
    settings = load_course(files.root)
    data = f'{{"answers": {answers}}}'.encode()
    handed_in = HandedInAnswers("mira", read_answers(data, "quiz_answers.json", "lines"), data=data)
    receipt = Marker(load_bank(files, settings, "lines"), settings).receipt(handed_in)
    told = json.dumps(receipt.to_dict(), ensure_ascii=False)
    assert receipt.notes == ("nothing was answered",)
    assert {check.outcome for check in receipt.checks} == {"not attempted"}
    assert [secret for secret in SECRET if secret in told and secret != "1/8"] == []
