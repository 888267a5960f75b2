"""Checks of `dataset`: the vocabulary, tokens and back, the split by name, rows of inputs and shifted targets."""

import string

import pytest
import torch

from selfcheck.checking import equal, expect, parts, same, tensor

LETTERS = string.ascii_lowercase
ALPHABET = [".", *LETTERS]


def some_names(rng, count, letters=LETTERS, shortest=2, longest=9):
    """Random names of these letters."""
    lengths = rng.integers(longest - shortest + 1, count) + shortest
    return ["".join(letters[i] for i in rng.integers(len(letters), length).tolist()) for length in lengths.tolist()]


def with_rare_letters(names):
    """The same names, each with a letter at its end that no other has."""
    return [name + chr(0x100 + i) for i, name in enumerate(names)]


@pytest.mark.points(2, "the boundary is token 0, the letters follow in order")
def test_vocabulary_by_hand(student):
    names = ["bob", "ann", "noah", "kim", "zelly"]
    same(student.build_vocabulary(names), [".", "a", "b", "e", "h", "i", "k", "l", "m", "n", "o", "y", "z"])


@pytest.mark.points(1.5, "encodes the name of Day 3 ch. 7, and every name comes back")
def test_encodes_and_decodes(student, trace, rng):
    anna = trace("anna").value("token_ids").long().tolist()
    same(student.encode("anna", ALPHABET), anna)
    for name in some_names(rng, 3):
        same(student.decode(student.encode(name, ALPHABET), ALPHABET), name)


@pytest.mark.points(1.5, "a row spells a name up to its boundary")
def test_decodes_rows_of_tokens(student):
    same(student.decode([0, 1, 14, 14, 1, 0, 0, 0], ALPHABET), "anna")
    same(student.decode([2, 15, 2], ALPHABET), "bob")
    same(student.decode([0, 1, 0, 2], ALPHABET), "a")


@pytest.mark.points(2.5, "no name is in two parts, also when it stands in the list twice, and none gets lost")
def test_no_name_is_in_two_parts(student, rng):
    names = some_names(rng, 40)
    names += names[::3]
    found = parts(student.split_names(names, 3), 3)
    are_lists = all(isinstance(part, (list, tuple)) and all(isinstance(name, str) for name in part) for part in found)
    expect(are_lists, "split_names should return three lists of names")
    everything = sorted(name for part in found for name in part)
    expect(everything == sorted(names), "each name should come back as often as it stands in the list")
    training, validation, test = map(set, found)
    expect(not (training & validation or training & test or validation & test), "a name is in two parts")


@pytest.mark.points(3, "a row of targets is the row of inputs one step on")
def test_examples_by_hand(student):
    inputs, targets = parts(student.make_examples(["ab", "c"], [".", "a", "b", "c"]), 2)
    equal(inputs, torch.tensor([[0, 1, 2], [0, 3, 0]]))
    equal(targets, torch.tensor([[1, 2, 0], [3, 0, -100]]))


@pytest.mark.points(1.5, "prepares a vocabulary and three pairs of inputs and targets")
def test_prepares_three_parts(student, rng):
    names = with_rare_letters(some_names(rng, 20))
    vocabulary, examples = parts(student.prepare(names, 5), 2)
    same(vocabulary, [".", *sorted(set("".join(names)))])
    rows = 0
    for part in parts(examples, 3):
        inputs, targets = parts(part, 2)
        expect(tensor(inputs, dtype=torch.int64).ndim == 2, "inputs should have two axes, names and places")
        tensor(targets, inputs.shape, torch.int64)
        rows += len(inputs)
    expect(rows == 20, "there should be one row for each name")
