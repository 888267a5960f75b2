"""A submitted folder, before nbgrader copies anything out of it.

nbgrader follows links when it copies, so that a link would bring a file of the instructor's into the feedback; it ends
the run of the whole class at a `timestamp.txt` that is no time; and it passes over a notebook with another name.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from nbgrader.utils import parse_utc
from traitlets.log import get_logger


def made_safe(assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's hook; it calls this in the course's folder, for each student in turn (`student` is a pattern).

    `notebooks` are those of one student; the list is changed in place where the notebook has another name.

    Raises:
        SystemExit: something is in the way. Of anything else nbgrader would take no notice, and copy what lies there.
    """
    folder = Path(notebooks[0]).parent
    try:
        _remove_links(folder)
        _set_bad_timestamp_aside(folder)
        if (Path("assignments", "notebooks", assignment) / f"{assignment}.ipynb").is_file():
            _give_its_name(folder / f"{assignment}.ipynb", notebooks)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        sentence = f"{folder} cannot be made safe to copy ({reason}: {error.filename}); nothing more is done"
        raise SystemExit(sentence) from None


def _remove_links(folder: Path) -> None:
    """Links and special files, the folder itself included."""
    if _remove_unless_plain(folder):
        return
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            _remove_unless_plain(Path(place, name))


def _remove_unless_plain(path: Path) -> bool:
    mode = path.lstat().st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return False
    above = path.parent
    above.chmod(stat.S_IMODE(above.stat().st_mode) | stat.S_IRWXU)
    what = f"a link to {os.readlink(path)!a}" if stat.S_ISLNK(mode) else "no file"
    path.unlink()
    get_logger().error("%s was %s; it was removed", path, what)
    return True


def _set_bad_timestamp_aside(folder: Path) -> None:
    path = folder / "timestamp.txt"
    try:
        text = path.read_text("utf-8").strip()
        if text:
            parse_utc(text)
    except FileNotFoundError:
        pass
    except Exception:
        get_logger().error("%s holds no time; it is not used", path)
        path.rename(folder / "timestamp.unreadable")


def _give_its_name(meant: Path, notebooks: list[str]) -> None:
    """Where none has the released name, put a copy of the only notebook under it, as of `week08 (1).ipynb`. Of several
    none is taken; that there is none is said when the notebook is read."""
    if meant.exists():
        return
    name = os.path.join(os.path.dirname(notebooks[0]), meant.name)
    others = [path for path in notebooks if os.path.isfile(path)]
    if len(others) == 1:
        get_logger().warning("%s is read as %s", others[0], meant.name)
        shutil.copyfile(others[0], meant)
    notebooks[:] = [name]
