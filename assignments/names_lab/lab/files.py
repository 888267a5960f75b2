"""Files that are whole at any moment: each is written beside its place and then moved there in one step."""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from lab.faults import LabError


def save_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write tensors and plain values for `load_state`."""
    buffer = io.BytesIO()
    torch.save(dict(state), buffer)
    _replace(path, buffer.getvalue())


def load_state(path: Path) -> dict[str, Any]:
    """What `save_state` wrote. Runs no code from the file. Raises LabError when it is something else."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, KeyError, ValueError, pickle.UnpicklingError):
        raise LabError(f"{path} is not a checkpoint of the lab; --restart begins again without it") from None
    if not isinstance(state, dict) or not {"settings", "vocabulary", "sha256"} <= set(state):
        raise LabError(f"{path} is not a checkpoint of the lab; --restart begins again without it")
    return state


def write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """A CSV with a line for each row, floats with six decimals, nothing where a number is not known."""
    text = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    _replace(path, text.getvalue().encode())


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """A record of plain values."""
    _replace(path, (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode())


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """A text of lines."""
    _replace(path, "".join(f"{line}\n" for line in lines).encode())


def _cell(value: Any) -> Any:
    if value is None or value != value:
        return ""
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def _replace(path: Path, content: bytes) -> None:
    fresh = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(content)
        os.replace(fresh, path)
    except OSError as error:
        raise LabError(f"{path} cannot be written: {error.strerror}") from None
