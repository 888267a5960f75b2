"""Whatever is handed in, intake answers with rows: it never raises and never reads outside of what it was given."""

import io
import os
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.intake import IntakeError, Roster, Submission, collect, id_problem, read_roster
from autograder.intake.names import is_unprintable, match
from autograder.quiz.collect import find_answers

EXERCISES = ("layer_norm", "feed_forward", "embedding")
SECRET = b"reference = 'nobody may see this'\n"
ROSTER = Roster({"s01": "Ana", "s02": "Bo", "Zoë": None})
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

Tree = dict[str, "Tree | bytes | str"]

LIKELY = """
s01 s02 S01 layer_norm layer_norm.py Layer_Norm.py layer_norm(1).py feed_forward.py layer_norm_feed_forward.py week08
week08_s01_attempt_2025-03-03-11-00-00 s02_2025-03-03-11-00-00_layer_norm.py s02_embedding.py a.zip s02.zip s01.rar
torch.py numpy tests .git __MACOSX quiz_answers.json s01_quiz_answers.yml s02.json submission_metadata.yml
doejane_12345_678901_quiz_answers-1.json week08_s01_attempt_2025-03-03-11-00-00.zip
"""
likely = st.sampled_from(LIKELY.split())
names = likely | st.text(min_size=1, max_size=20).filter(lambda name: not {"/", "\0"} & set(name) and name.strip("."))
contents = st.binary(max_size=60) | st.sampled_from([b"", b"x = 1\n", b"<html>", b"PK\3\4", b"<<<<<<< HEAD\n"])
special = st.sampled_from(["link to the secret file", "link to the secret folder", "link to nothing", "pipe"])
trees = st.recursive(
    st.dictionaries(names, contents | special, max_size=4),
    lambda inner: st.dictionaries(names, inner | contents | special, max_size=4),
    max_leaves=12,
)


def build(folder: Path, tree: Tree, secret: Path) -> None:
    for name, node in tree.items():
        path = folder / os.fsdecode(name.encode("utf-8", "surrogatepass"))
        try:
            if isinstance(node, dict):
                path.mkdir()
                build(path, node, secret)
            elif isinstance(node, bytes):
                path.write_bytes(node)
            elif node == "pipe":
                os.mkfifo(path)
            else:
                target = {"link to the secret file": secret / "layer_norm.py", "link to the secret folder": secret}
                path.symlink_to(target.get(node, folder / "nowhere"))
        except OSError:
            continue  # a name that this file system does not take


def check(rows: list[Submission], roster: Roster | None) -> None:
    ids = [row.student for row in rows]
    assert ids == sorted(set(ids))
    assert roster is None or set(roster) <= set(ids)
    for row in rows:
        assert id_problem(row.student) is None
        assert row.files or row.status != "ready"
        assert row.notes or row.status == "ready"
        texts = [row.student, *row.notes, *row.ignored, *(file.path for file in row.files.values())]
        for text in texts:
            text.encode()
            assert not any(map(is_unprintable, text))
        for file in row.files.values():
            assert SECRET not in file.content
            assert file.content


def check_answers(paths: list[Path], roster: Roster | None) -> None:
    """The same of the answers to a quiz."""
    rows = find_answers(paths, "week08", roster)
    ids = [row.student for row in rows]
    assert ids == sorted(set(ids))
    for row in rows:
        assert (row.answers is None) == bool(row.problem)
        assert not any(map(is_unprintable, f"{row.student}{row.problem}"))
        assert SECRET not in row.data


@QUICK
@given(tree=trees, roster=st.sampled_from([ROSTER, None]))
def test_any_folder_becomes_rows(tree: Tree, roster: Roster | None) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        secret, given_folder = Path(temporary, "secret"), Path(temporary, "given")
        secret.mkdir()
        given_folder.mkdir()
        for name in ("layer_norm.py", "quiz_answers.json", "s02.json"):
            (secret / name).write_bytes(SECRET)
        build(given_folder, tree, secret)
        rows = collect([given_folder], EXERCISES, "week08", roster)
        check(rows, roster)
        assert rows == collect([given_folder], EXERCISES, "week08", roster)
        every = [given_folder / name for name in os.listdir(given_folder)]
        check(collect(every, EXERCISES, "week08", roster), roster)
        check_answers([given_folder], roster)
        check_answers(every, roster)


@QUICK
@pytest.mark.filterwarnings("ignore:Duplicate name")
@given(
    members=st.lists(st.tuples(names | st.text(max_size=30), contents, st.integers(0, 0xFFFF)), max_size=8),
    damage=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=3),
)
def test_any_zip_becomes_a_row(members: list[tuple[str, bytes, int]], damage: list[tuple[int, int]]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content, mode in members:
            info = zipfile.ZipInfo(name.encode("utf-8", "replace").decode())
            info.external_attr = mode << 16
            file.writestr(info, content)
    data = bytearray(packed.getvalue())
    for at, value in damage:
        data[at % len(data)] = value
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary, "s02.zip")
        path.write_bytes(data)
        rows = collect([path], EXERCISES, "week08", ROSTER)
        check(rows, ROSTER)
        check_answers([path], ROSTER)
        check_answers([path], None)
        assert os.listdir(temporary) == ["s02.zip"]


@QUICK
@given(data=st.binary(max_size=400), start=st.sampled_from([b"", b"PK\3\4", b"PK\1\2", b"PK\5\6"]))
def test_any_bytes_under_a_zips_name_become_a_row(data: bytes, start: bytes) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        Path(temporary, "s02.zip").write_bytes(start + data)
        check(collect([Path(temporary)], EXERCISES, "week08", ROSTER), ROSTER)
        check_answers([Path(temporary)], ROSTER)


@QUICK
@given(text=st.text(max_size=200) | st.binary(max_size=200))
def test_any_roster_is_read_or_refused_in_one_line(text: str | bytes) -> None:
    content = text if isinstance(text, bytes) else b"student_id,name\n" + text.encode("utf-8", "replace")
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary, "roster.csv")
        path.write_bytes(content)
        try:
            students = read_roster(path).students
        except IntakeError as error:
            students, sentence = {"s01": None}, str(error)
        else:
            sentence = ""
        assert "\n" not in sentence
        assert students
        assert all(id_problem(student) is None for student in students)


@QUICK
@given(name=st.text(max_size=300), exercises=st.lists(st.sampled_from(EXERCISES), unique=True))
def test_any_name_stands_for_known_exercises_or_none(name: str, exercises: list[str]) -> None:
    found = match(name, exercises)
    assert found is None or set(found.exercises) <= set(exercises)
