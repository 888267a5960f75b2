"""A submission that takes over its worker and answers everything with whatever it likes is never the grader's trouble."""

from __future__ import annotations

import pytest
from grading import grade_class, lost, points

TAKE_OVER = """
import os, struct, sys
import torch

wire = sys.modules["autograder.sandbox.wire"]
values = sys.modules["autograder.sandbox.values"]
HEAD = struct.Struct("<4sQ")


def serve(reply, first):
    os.write(3, wire.encode(first))  # it answers the request to read this file
    while True:
        data = b""
        while len(data) < HEAD.size or len(data) < HEAD.size + HEAD.unpack(data[: HEAD.size])[1]:
            piece = os.read(3, 1 << 20)
            if not piece:
                os._exit(0)
            data += piece
        os.write(3, wire.encode(reply))


K = {kind}
serve({reply}, {first})
"""
KINDS = {
    "nothing": "None",
    "true": "True",
    "number": "3",
    "nan": "float('nan')",
    "text": "'text'",
    "bytes": "b'bytes'",
    "no_bytes": "b''",
    "list": "[]",
    "list_of_lists": "[[[]], [], None]",
    "dict": "{}",
    "dict_of_dicts": "{'value': {'value': 1}, 'fault': {}}",
    "tensor": "torch.ones(3)",
    "empty_tensor": "torch.empty(0)",
    "scalar": "torch.tensor(1.5)",
    "truth": "torch.tensor([True, False])",
    "tuple": "(1, 'a', None)",
    "reference": "values.Ref('layer_norm', 'x')",
    "foreign": "values.Foreign('a thing')",
    "list_of_tensors": "[torch.ones(2), torch.ones(2)]",
    "huge": "2 ** 62",
}
REPLIES = {
    "value": "{'value': K}",
    "record": "{'value': {'notes': K, 'answers': K, 'changes': K}}",
    "notes": "{'value': {'notes': K}}",
    "answers": "{'value': {'notes': [], 'answers': [K] * 12}}",
    "fault": "{'fault': {'kind': K, 'names': K, 'text': K, 'file': K, 'line': K}}",
    "raised": "{'fault': {'kind': 'raised', 'names': K, 'text': K, 'file': K, 'line': K}}",
    "absent": "{'fault': {'kind': 'absent', 'names': [K], 'text': 'layer_norm.py has no `a`', 'line': 1}}",
    "place": "{'value': K, 'at': K, 'behind': K}",
    "faulty_place": "{'fault': {'kind': 'raised', 'names': [], 'text': ''}, 'at': K, 'behind': K}",
}
ABOUT_READING = ("record", "notes", "answers")
"""Replies that are meant for the request to read the file. Before the others it pretends to have read it."""


@pytest.mark.parametrize("reply", REPLIES)
def test_whatever_it_answers_it_gains_nothing_and_its_neighbours_lose_nothing(reply: str) -> None:
    first = REPLIES[reply] if reply in ABOUT_READING else "{'value': {'notes': []}}"
    work = {
        name: {"layer_norm": TAKE_OVER.format(kind=K, reply=REPLIES[reply], first=first)} for name, K in KINDS.items()
    }
    graded = grade_class(work, exercises=["layer_norm"])
    for name in work:
        outcomes = set(lost(graded[name]).values())
        assert outcomes, f"{name} lost nothing"
        assert "grader trouble" not in outcomes, name
        assert points(graded[name], "layer_norm") <= 1, name
