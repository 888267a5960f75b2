"""The list of names that a run works on, read, split and made into rows by your `dataset`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from os import environ, pathsep
from pathlib import Path

import torch

from lab.faults import LabError
from lab.modules import FOLDER, module

PARTS = ("training", "validation", "test")
Examples = tuple[torch.Tensor, torch.Tensor]  # inputs [N,T], targets [N,T]


@dataclass(frozen=True)
class NamesList:
    """A list and what `dataset` makes of it.

    `sha256` is of the names in their order, one a line, whatever the file is called. `names` and `examples` have the
    keys of PARTS.
    """

    file: str
    sha256: str
    vocabulary: list[str]
    names: dict[str, list[str]]
    examples: dict[str, Examples]

    @property
    def longest(self) -> int:
        """Tokens of the longest name and its end: as many as a model ever has to write."""
        return max(inputs.shape[1] for inputs, _ in self.examples.values())

    def on(self, device: torch.device) -> dict[str, Examples]:
        """The examples on a device."""
        return {part: (x.to(device), y.to(device)) for part, (x, y) in self.examples.items()}


def load_list(path: str | Path | None, split_seed: int) -> NamesList:
    """Read a list; None is the assignment's own.

    Raises:
        LabError: there is no list, it holds something that is no name, or it is too short to be split.
    """
    path = Path(path) if path else _own_list()
    dataset = module("dataset")
    try:
        names = dataset.read_names(path)
        parts = dataset.split_names(names, split_seed)
    except OSError as error:
        raise LabError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise LabError(f"{error}") from None
    vocabulary, examples = dataset.prepare(names, split_seed)
    return NamesList(
        file=path.name,
        sha256=hashlib.sha256("\n".join(names).encode()).hexdigest(),
        vocabulary=vocabulary,
        names=dict(zip(PARTS, parts, strict=True)),
        examples=dict(zip(PARTS, examples, strict=True)),
    )


def _own_list() -> Path:
    """What the course says (LAB_DATA, set by `autograder lab`), or the one text file in `data/`."""
    given = environ.get("LAB_DATA")
    found = given.split(pathsep) if given else sorted(map(str, (FOLDER / "data").glob("*.txt")))
    if len(found) != 1:
        what = f"{len(found)} files" if found else "no file"
        raise LabError(f"{what} in {FOLDER.name}/data could be the list of names; choose one with --names FILE")
    return Path(found[0])
