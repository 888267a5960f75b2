"""A submitted folder is made safe before nbgrader copies out of it, or nbgrader's run ends."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

import pytest

from autograder.notebooks import handins

FOLDER = Path("submitted/notebooks/eve/lines")
MEANT = str(FOLDER / "lines.ipynb")


@pytest.fixture(autouse=True)
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The course's folder, in which nbgrader calls its hooks; something in it is nobody else's business."""
    monkeypatch.chdir(tmp_path)
    for path in ("assignments/notebooks/lines/lines.ipynb", "reference/slope.py", MEANT):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(path)


def made_safe(*notebooks: str) -> list[str]:
    """What nbgrader goes on with."""
    found = [str(FOLDER / name) for name in notebooks]
    handins.made_safe(assignment="lines", student="*", notebooks=found)
    return found


def there() -> set[str]:
    return {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*")}


def test_links_and_special_files_are_removed_and_what_they_led_to_stays(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(handins, "get_logger", logging.getLogger)  # not that of an nbgrader in this process
    (FOLDER / "deep").mkdir()
    (FOLDER / "mine.txt").write_text("mine")
    for name, target in {"a.py": "reference/slope.py", "deep/b": "reference", "nowhere": "none"}.items():
        (FOLDER / name).symlink_to(Path(target).resolve())
    os.mkfifo(FOLDER / "pipe")
    assert made_safe("lines.ipynb") == [MEANT]
    assert there() == {"deep", "mine.txt", "lines.ipynb"}
    assert Path("reference/slope.py").is_file()
    assert len([line for line in caplog.messages if "it was removed" in line]) == 4


def test_a_folder_that_is_a_link_is_no_hand_in() -> None:
    """As a zip can hold one; nbgrader would copy what it leads to into the feedback."""
    for name in ("lines.ipynb", "other.ipynb"):
        (Path("reference") / name).write_text("theirs")
    (FOLDER / "lines.ipynb").unlink()
    FOLDER.rmdir()
    FOLDER.symlink_to(Path("reference").resolve())
    assert made_safe("other.ipynb") == [MEANT]
    assert not FOLDER.exists()
    assert len(list(Path("reference").iterdir())) == 3


def test_a_folder_that_cannot_be_written_keeps_no_link() -> None:
    (FOLDER / "a.py").symlink_to("/etc/passwd")
    FOLDER.chmod(0o550)
    made_safe("lines.ipynb")
    assert there() == {"lines.ipynb"}
    assert stat.S_IMODE(FOLDER.stat().st_mode) == 0o750


@pytest.mark.parametrize("step", ["_remove_links", "_set_bad_timestamp_aside", "_give_its_name"])
def test_nbgrader_does_not_go_on_where_a_folder_cannot_be_made_safe(
    monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """It takes no notice of anything else that its hook raises."""

    def fails(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "a.py")

    monkeypatch.setattr(handins, step, fails)
    with pytest.raises(SystemExit, match=r"lines cannot be made safe to copy \(Permission denied: a.py\); nothing more"):
        made_safe("lines.ipynb")


@pytest.mark.parametrize(
    ("content", "stays"),
    [(b"2027-03-07 23:59:00 UTC", True), (b"", True), (b"yesterday", False), (b"\xff\xfe", False), (b"9" * 99, False)],
)
def test_only_a_timestamp_that_is_no_time_is_set_aside(content: bytes, stays: bool) -> None:
    (FOLDER / "timestamp.txt").write_bytes(content)
    made_safe("lines.ipynb")
    (left,) = there() - {"lines.ipynb"}
    assert left == ("timestamp.txt" if stays else "timestamp.unreadable")
    assert (FOLDER / left).read_bytes() == content


@pytest.mark.parametrize(
    ("names", "copied"),
    [
        (["lines.ipynb", "mine.ipynb"], None),
        (["lines (1).ipynb"], "lines (1).ipynb"),
        (["lines-a.ipynb", "lines-b.ipynb"], None),
    ],
)
def test_the_released_name_is_read_and_of_others_only_a_single_one(names: list[str], copied: str | None) -> None:
    (FOLDER / "lines.ipynb").unlink()
    for name in names:
        (FOLDER / name).write_text(name)
    found = made_safe(*names)
    assert found == ([str(FOLDER / name) for name in names] if "lines.ipynb" in names else [MEANT])
    assert there() == {*names, *(["lines.ipynb"] if copied else [])}
    if copied:
        assert Path(MEANT).read_text() == copied


def test_an_assignment_that_is_not_ours_keeps_its_names() -> None:
    Path("assignments/notebooks/lines/lines.ipynb").unlink()
    (FOLDER / "lines.ipynb").rename(FOLDER / "part1.ipynb")
    assert made_safe("part1.ipynb") == [str(FOLDER / "part1.ipynb")]
