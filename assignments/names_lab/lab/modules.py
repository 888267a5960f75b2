"""The modules that the lab drives: those beside its folder and week08's, at a student's the student's own."""

from __future__ import annotations

import importlib
import sys
import traceback
from pathlib import Path
from types import ModuleType

from lab.faults import LabError

FOLDER = Path(__file__).resolve().parents[1]
"""The assignment's folder."""

_HERE = Path(__file__).resolve().parent
_week08 = FOLDER.parent / "week08"


def use_week08(folder: str | Path) -> None:
    """Take week08's modules from another folder. Raises LabError."""
    global _week08
    if not (Path(folder) / "lm_head.py").is_file():
        raise LabError(f"{folder} holds no lm_head.py; --modules takes the folder of week08's modules")
    _week08 = Path(folder).resolve()


def week08() -> Path:
    """The folder of week08's modules."""
    return _week08


def module(name: str) -> ModuleType:
    """The module of that name, from this assignment or week08. Raises LabError when there is none."""
    for folder in (str(_week08), str(FOLDER)):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        where = f"in {FOLDER.name} or in {_week08.name} beside it"
        raise LabError(f"there is no {name}.py {where}; put week08's folder there, or name it with --modules") from None


def own_fault(error: BaseException) -> str | None:
    """One sentence when an error comes from one of the driven modules, None when it comes from elsewhere."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).resolve().parent in (FOLDER, _week08)]
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}, line {error.lineno}: {error.msg}"
    if not own:
        return None
    file = Path(own[-1].filename).name
    if isinstance(error, NotImplementedError):
        return f"{file} is not finished: {error or own[-1].name} is still to be written"
    return f"{file}, line {own[-1].lineno}, in {own[-1].name}: {type(error).__name__}: {error}"
