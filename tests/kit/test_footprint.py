"""What a module changes in the process around it is seen, however it is looked for."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable

import pytest
import torch
from torch.nn.modules import linear

from autograder.sandbox import footprint, versions
from autograder.sandbox.footprint import Footprint

Change = Callable[[pytest.MonkeyPatch], None]


class Alike:
    """Says that it is equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__


class AModule(types.ModuleType):
    """Stands for a module, or for its type."""


class Between(torch.nn.Module):
    """Stands between a layer and torch's class of all layers."""


class Another(dict):
    """Not a plain dict."""


CHANGES: dict[str, Change] = {
    "torch.nn.functional.gelu": lambda patch: patch.setattr(torch.nn.functional, "gelu", Alike()),
    "torch.nn.Linear.forward": lambda patch: patch.setattr(torch.nn.Linear, "forward", lambda self, x: x),
    "torch.Tensor.shortcut": lambda patch: patch.setattr(torch.Tensor, "shortcut", 1, raising=False),
    "torch.nn.modules.linear.shortcut": lambda patch: patch.setattr(linear, "shortcut", 1, raising=False),
    "torch.fft": lambda patch: patch.setitem(sys.modules, "torch.fft", AModule("torch.fft")),
    "torch.linalg": lambda patch: patch.setattr(torch.linalg, "__class__", AModule),
    "math.tau": lambda patch: patch.delattr("math.tau"),
}


@pytest.fixture(params=["by their numbers", "entry by entry"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "entry by entry":
        monkeypatch.setattr(footprint, "version_in", lambda space: None)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_named_and_one_that_was_taken_back_is_none(name: str) -> None:
    before = Footprint()
    with pytest.MonkeyPatch.context() as patch:
        CHANGES[name](patch)
        assert before.changes() == [name]
    assert before.changes() == []


@pytest.mark.parametrize("owner", [AModule("a module"), Between], ids=["module", "class"])
def test_a_number_changes_with_what_is_set_and_deleted_and_not_with_what_is_read(owner: object) -> None:
    space = versions.names_of(owner) if isinstance(owner, type) else vars(owner)
    view = versions.version_in(space)
    if view is None:
        pytest.skip("what dicts of this Python hold is not known")
    seen = [view.value]
    for name, value in (("number", 1), ("number", 2), ("number", 1)):
        setattr(owner, name, value)
        seen.append(view.value)
    assert all(space.get(key) is found for key, found in space.items()) and view.value == seen[-1]
    delattr(owner, name)
    assert len({*seen, view.value}) == 5


@pytest.mark.usefixtures("_way")
def test_names_that_changed_places_are_named() -> None:
    before, space = Footprint(), vars(linear)
    as_it_was = dict(space)
    try:
        other = {"Linear": "Identity", "Identity": "Linear"}
        exchanged = {other.get(name, name): value for name, value in as_it_was.items()}
        space.clear()
        space.update(exchanged)
        assert before.changes() == ["torch.nn.modules.linear.Identity", "torch.nn.modules.linear.Linear"]
    finally:
        space.clear()
        space.update(as_it_was)
    assert before.changes() == []


def test_a_class_with_other_bases_is_named() -> None:
    before, bases = Footprint(), torch.nn.Linear.__bases__
    try:
        torch.nn.Linear.__bases__ = (Between,)
        assert before.changes() == ["torch.nn.Linear"]
    finally:
        torch.nn.Linear.__bases__ = bases
    assert before.changes() == []


def test_of_a_dict_of_another_kind_the_memory_is_not_read() -> None:
    assert versions.version_in(Another(one=1)) is None
