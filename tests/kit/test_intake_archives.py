"""Zips are read in memory, within limits, and no name in them leads anywhere else."""

import io
import stat
import struct
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from hand_ins import GOOD, OTHER, said

from autograder.intake import Roster, Submission, archive, collect

Member = tuple[str | zipfile.ZipInfo, bytes]


def zipped(members: Iterable[Member], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as file:
        for name, content in members:
            file.writestr(name, content)
    return packed.getvalue()


def one(folder: Path, content: bytes, exercises: tuple[str, ...] = ("layer_norm",)) -> Submission:
    """What is collected from `s02.zip` with these bytes; nothing may be written anywhere."""
    folder.mkdir(exist_ok=True)
    (folder / "s02.zip").write_bytes(content)
    before = sorted(folder.parent.rglob("*"))
    (submission,) = collect([folder / "s02.zip"], exercises, "week08", Roster({"s02": "Bo"}))
    assert sorted(folder.parent.rglob("*")) == before
    assert submission.student == "s02"
    return submission


def with_mode(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    return info


@pytest.mark.parametrize("wrapper", ["", "hw1/", "a/b/", "./"])
def test_a_zip_from_a_mac_is_read_without_its_junk(tmp_path: Path, wrapper: str) -> None:
    members: list[Member] = [
        (f"{wrapper}layer_norm.py", GOOD),
        (f"__MACOSX/{wrapper}._layer_norm.py", b"\0\5\x16\7" + bytes(20)),
        (f"{wrapper}.DS_Store", b"1234"),
        (f"{wrapper}desktop.ini", b""),
        (f"{wrapper}Icon\r", b""),
        (f"{wrapper}.ipynb_checkpoints/layer_norm-checkpoint.py", OTHER),
        (f"{wrapper}__pycache__/layer_norm.cpython-311.pyc", bytes(9)),
    ]
    row = one(tmp_path / "in", zipped(members))
    assert (row.status, row.notes, row.ignored) == ("ready", (), ())
    assert row.files["layer_norm"].content == GOOD


def test_a_zip_and_a_folder_with_the_same_files_are_the_same_submission(tmp_path: Path) -> None:
    (tmp_path / "week08/s02").mkdir(parents=True)
    (tmp_path / "week08/s02/layer_norm.py").write_bytes(GOOD)
    (plain,) = collect([tmp_path / "week08/s02"], ["layer_norm"], "week08")
    assert one(tmp_path / "in", zipped([("hw/layer_norm.py", GOOD)], zipfile.ZIP_STORED)).digest == plain.digest


def test_extra_files_are_listed_and_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = zipped([("layer_norm.py", GOOD), ("conftest.py", b""), ("numpy/__init__.py", b""), ("big", bytes(10**6))])
    opened: list[str] = []
    real = zipfile.ZipFile.open

    def watched(self: zipfile.ZipFile, name: zipfile.ZipInfo) -> object:
        opened.append(name.filename)
        return real(self, name)

    monkeypatch.setattr(zipfile.ZipFile, "open", watched)
    row = one(tmp_path / "in", content)
    assert (row.status, row.ignored) == ("ready", ("big", "conftest.py", "numpy/"))
    assert opened == ["layer_norm.py"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("../../grades.csv", "leads out of the archive"),
        ("a/../../layer_norm.py", "leads out of the archive"),
        ("/etc/layer_norm.py", "starts at the root"),
        ("C:/layer_norm.py", "names a drive"),
        ("C:layer_norm.py", "names a drive"),
        ("..\\layer_norm.py", "contains a backslash"),
        ("hw\\layer_norm.py", "contains a backslash"),
        ("\\\\server\\layer_norm.py", "contains a backslash"),
        ("a" * 2000, "no computer can store"),
    ],
)
def test_a_name_that_leads_elsewhere_refuses_the_zip(tmp_path: Path, name: str, sentence: str) -> None:
    row = one(tmp_path / "in", zipped([("layer_norm.py", GOOD), (name, OTHER)]))
    assert (row.status, dict(row.files)) == ("unreadable", {})
    assert sentence in said(row)
    assert said(row).isprintable()


def test_a_name_with_a_zero_byte_refuses_the_zip(tmp_path: Path) -> None:
    content = zipped([("layer_norm.py", GOOD), ("evilX.py", OTHER)]).replace(b"evilX", b"evil\0")
    assert one(tmp_path / "in", content).status == "unreadable"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_links_and_devices_in_a_zip_are_refused(tmp_path: Path, kind: int) -> None:
    link = with_mode("layer_norm.py", kind | 0o777)
    row = one(tmp_path / "in", zipped([(link, b"/etc/passwd")]))
    assert (row.status, dict(row.files)) == ("unreadable", {})
    assert "hand in the file itself" in said(row)


def test_a_link_to_a_folder_leads_nowhere(tmp_path: Path) -> None:
    members: list[Member] = [(with_mode("hw", stat.S_IFLNK | 0o777), b"/etc"), ("hw/layer_norm.py", GOOD)]
    row = one(tmp_path / "in", zipped(members))
    assert row.files["layer_norm"].content == GOOD
    assert row.ignored == ("hw",)


def test_too_many_entries_are_refused(tmp_path: Path) -> None:
    row = one(tmp_path / "in", zipped((f"{number}.txt", b"") for number in range(10_000)))
    assert row.status == "unreadable"
    assert "more than 2,000 files" in said(row)


def test_a_bomb_is_refused_by_what_it_unpacks_to(tmp_path: Path) -> None:
    row = one(tmp_path / "a", zipped([("layer_norm.py", GOOD), ("zeros", bytes(30_000_000))]))
    assert "more than 200 times its size" in said(row)
    row = one(tmp_path / "b", zipped([("layer_norm.py", GOOD), *((f"{n}", bytes(30_000_000)) for n in range(4))]))
    assert "more than 100 MB" in said(row)
    assert row.status == "unreadable"


def test_a_bomb_that_lies_about_its_size_is_cut_off(tmp_path: Path) -> None:
    content = bytearray(zipped([("layer_norm.py", bytes(50_000_000))]))
    for signature, offset in ((b"PK\3\4", 22), (b"PK\1\2", 24)):  # the size in the local header and in the directory
        struct.pack_into("<I", content, content.index(signature) + offset, 100)
    row = one(tmp_path / "in", bytes(content))
    assert (row.status, dict(row.files)) == ("unreadable", {})


def test_a_large_file_refuses_itself_only(tmp_path: Path) -> None:
    big = b"".join(b"x%d = %d\n" % (number, number * number) for number in range(90_000))
    row = one(tmp_path / "in", zipped([("layer_norm.py", big), ("embedding.py", GOOD)]), ("embedding", "layer_norm"))
    assert (row.status, list(row.files)) == ("needs attention", ["embedding"])
    assert "layer_norm.py is larger than 1 MB" in said(row)


def test_a_large_zip_is_refused_before_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "s02.zip").touch()
    with (tmp_path / "s02.zip").open("r+b") as file:
        file.truncate(archive.MAX_ARCHIVE_BYTES + 1)
    (row,) = collect([tmp_path / "s02.zip"], ["layer_norm"], "week08")
    assert "s02.zip is larger than 20 MB" in said(row)


def test_a_password_is_one_sentence(tmp_path: Path) -> None:
    content = bytearray(zipped([("layer_norm.py", GOOD)]))
    content[content.index(b"PK\3\4") + 6] |= 1
    content[content.index(b"PK\1\2") + 8] |= 1
    row = one(tmp_path / "in", bytes(content))
    assert (row.status, dict(row.files)) == ("unreadable", {})
    assert "locked with a password" in said(row)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_rare_packing_methods_are_refused(tmp_path: Path, method: int) -> None:
    row = one(tmp_path / "in", zipped([("layer_norm.py", GOOD)], method))
    assert "make a plain zip" in said(row)


@pytest.mark.parametrize("content", [b"", b"Rar!\x1a\x07", b"<!DOCTYPE html>", b"PK\x05\x06" + bytes(10)])
def test_a_file_that_is_no_zip_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    row = one(tmp_path / "in", content)
    assert row.status == "unreadable"
    assert "s02.zip is not a zip file" in said(row)


def test_an_empty_zip_is_not_submitted(tmp_path: Path) -> None:
    assert one(tmp_path / "in", zipped([])).status == "not submitted"
    assert one(tmp_path / "in", zipped([("hw/", b""), ("__MACOSX/hw/._x.py", b"")])).status == "not submitted"


def test_a_very_deep_zip_is_not_empty_and_not_descended_for_ever(tmp_path: Path) -> None:
    row = one(tmp_path / "in", zipped((f"{'d/' * 400}{number}.py", GOOD) for number in range(100)))
    assert (row.status, dict(row.files)) == ("needs attention", {})


@pytest.mark.parametrize("at", range(0, 100, 7))
def test_damage_anywhere_is_one_sentence(tmp_path: Path, at: int) -> None:
    content = bytearray(zipped([("layer_norm.py", GOOD * 20)]))
    content[at * len(content) // 100] ^= 0xFF
    row = one(tmp_path / "in", bytes(content))
    assert row.status in ("ready", "unreadable", "needs attention")
    assert all(file.content == GOOD * 20 for file in row.files.values())


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_one_name_twice_is_left_to_staff(tmp_path: Path) -> None:
    row = one(tmp_path / "in", zipped([("layer_norm.py", GOOD), ("layer_norm.py", OTHER)]))
    assert (row.status, dict(row.files)) == ("needs attention", {})
    same = one(tmp_path / "in", zipped([("layer_norm.py", GOOD), ("layer_norm.py", GOOD)]))
    assert same.files["layer_norm"].content == GOOD


def test_a_folder_with_the_exercises_name_is_unreadable(tmp_path: Path) -> None:
    row = one(tmp_path / "in", zipped([("layer_norm.py/x.txt", GOOD)]))
    assert (row.status, "layer_norm.py is a folder" in said(row)) == ("unreadable", True)


def test_a_zip_in_a_students_folder_is_opened_when_nothing_lies_beside_it(tmp_path: Path) -> None:
    class_folder = tmp_path / "class"
    for student, files in {
        "s01": {"week08.zip": zipped([("layer_norm.py", GOOD)]), "readme.txt": b""},
        "s02": {"week08.zip": zipped([("layer_norm.py", OTHER)]), "layer_norm.py": GOOD},
        "s03": {"a.zip": zipped([("layer_norm.py", OTHER)]), "b.zip": zipped([("layer_norm.py", GOOD)])},
        "s04": {"week08.zip": zipped([("inner.zip", zipped([("layer_norm.py", GOOD)]))])},
        "s05": {"week08.zip": b"no zip"},
    }.items():
        (class_folder / student).mkdir(parents=True)
        for name, content in files.items():
            (class_folder / student / name).write_bytes(content)
    rows = collect([class_folder], ["layer_norm"], "week08")
    assert [row.status for row in rows] == ["ready", "ready", "needs attention", "needs attention", "unreadable"]
    assert [file.content for row in rows for file in row.files.values()] == [GOOD, GOOD]
    assert rows[0].ignored == ("readme.txt",)
    assert "was not opened" in said(rows[1])
    assert "a.zip, b.zip" in said(rows[2])


def test_a_class_of_zips_and_attempts_is_sorted_out(tmp_path: Path) -> None:
    for name, content in {
        "s01.zip": GOOD,
        "s02.ZIP": GOOD,
        "week08_s03_attempt_2025-03-03-11-00-00.zip": OTHER,
        "week08_s03_attempt_2025-03-03-17-00-00.zip": GOOD,
        "s04_2025-03-03-17-00-00_week08.zip": GOOD,
    }.items():
        (tmp_path / name).write_bytes(zipped([("layer_norm.py", content)]))
    rows = collect([tmp_path], ["layer_norm"], "week08")
    assert [(row.student, row.status) for row in rows] == [(f"s0{number}", "ready") for number in range(1, 5)]
    assert all(row.files["layer_norm"].content == GOOD for row in rows)
    assert rows[2].attempt == "2025-03-03T17:00:00"


def test_a_zip_and_a_folder_of_one_student_are_left_to_staff(tmp_path: Path) -> None:
    (tmp_path / "s02").mkdir()
    (tmp_path / "s02/layer_norm.py").write_bytes(GOOD)
    (tmp_path / "s02.zip").write_bytes(zipped([("layer_norm.py", GOOD)]))
    (row,) = collect([tmp_path], ["layer_norm"], "week08", Roster({"s02": None}))
    assert (row.status, dict(row.files)) == ("needs attention", {})
    assert "/s02 and " in said(row)
    assert "/s02.zip)" in said(row)
