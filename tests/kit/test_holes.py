"""Holes that an attacker found in the grading core, each closed: what a submission did there, and what comes of it now."""

from __future__ import annotations

import struct

import msgpack
import pytest
from grading import batch, grade_class, handed_in, lost, run, solutions

from autograder.grading.receipt import Receipt
from autograder.sandbox import wire

SOLUTIONS = solutions()
TAIL = "\n_right = layer_norm\ndef layer_norm(*a, **k):\n    {}\n"


def with_tail(body: str) -> dict[str, str]:
    """Right work, in which layer_norm does something else first."""
    return {**SOLUTIONS, "layer_norm": SOLUTIONS["layer_norm"] + TAIL.format(body.replace("\n", "\n    "))}


HIDDEN_SHAPE = "str(tuple(a[0].shape)) + ' ZEBRA42'"
WORK = {
    "syntax_error": with_tail(f"raise SyntaxError({HIDDEN_SHAPE})"),
    "not_implemented": with_tail(f"raise NotImplementedError('`' + {HIDDEN_SHAPE})"),
    "type_name": with_tail(f"return type({HIDDEN_SHAPE}, (), {{}})()"),
    "shape_bits": with_tail("import torch\nreturn torch.zeros(*[10_000 + n for n in a[0].shape], 0)"),
    "note": {
        **SOLUTIONS,
        "layer_norm": f"import collections.abc as shelf\n{SOLUTIONS['layer_norm']}"
        + TAIL.format(f"shelf._told = {HIDDEN_SHAPE}\n    return _right(*a, **k)"),
        "feed_forward": f"import collections.abc as shelf\nraise RuntimeError(shelf._told)\n{SOLUTIONS['feed_forward']}",
    },
    "import_error": with_tail("from torch import layernorm"),
    "tight_zygote": {
        **SOLUTIONS,
        "embedding": "import os, resource\nresource.prlimit(os.getppid(), resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        + SOLUTIONS["embedding"],
    },
    "thief": {
        **SOLUTIONS,
        "transformer_block": SOLUTIONS["transformer_block"] + "\nTransformerBlock.forward = lambda self, x: x\n",
        "lm_head": "import sys, collections.abc as shelf\n"
        "finder = next(f for f in sys.meta_path if type(f).__name__ == 'Siblings')\n"
        "seen = dict(getattr(shelf, '_mine', {}))\n"
        "if seen:\n    finder.sources = seen\nelse:\n    shelf._mine = dict(finder.sources)\n" + SOLUTIONS["lm_head"],
    },
}


@pytest.fixture(scope="module")
def graded() -> dict[str, Receipt]:
    return grade_class(WORK)


@pytest.mark.parametrize("student", ["syntax_error", "not_implemented", "type_name", "shape_bits", "note"])
def test_hidden_checks_tell_nothing_that_the_code_has_seen(graded, student):
    receipt = graded[student]
    told = [*receipt.remarks, *(check.message for check in receipt.checks if not check.public)]
    assert not [text for text in told if "ZEBRA42" in text or "1000" in text]


def test_messages_name_no_folder_of_the_machine(graded):
    assert not [c.message for c in graded["import_error"].checks if "site-packages" in c.message]


def test_stand_ins_are_not_to_be_had_for_own_parts(graded):
    honest = {**WORK["thief"], "lm_head": SOLUTIONS["lm_head"]}
    receipt = run(batch([handed_in("honest", honest)]))["honest"]
    assert graded["thief"].earned <= receipt.earned < 100


def test_limits_that_a_submission_sets_for_its_parent_bind_nobody_else(graded):
    # The neighbours keep every point: grade_class has looked.
    assert set(lost(graded["tight_zygote"]).values()) <= {"grader trouble", "stopped", "raised"}


@pytest.mark.parametrize("shape", [(0, 2**39, 2**39), (2**39, 0, 2**39), (0, 2**63)])
def test_empty_tensor_of_absurd_axes_is_a_wrong_form(shape):
    head = bytes((0, len(shape))) + b"".join(struct.pack("<Q", n) for n in shape)
    with pytest.raises(wire.WireError):
        wire.decode(msgpack.packb(msgpack.ExtType(1, head)))
