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
    same(student.build_vocabulary(["bob", "ann", "noah"]), [".", "a", "b", "h", "n", "o"])


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
    found = [list(part) for part in parts(student.split_names(names, 3), 3) if isinstance(part, (list, tuple))]
    expect(len(found) == 3, "split_names should return three lists")
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
    shapes = [tuple(tensor(part, dtype=torch.int64).shape) for pair in parts(examples, 3) for part in parts(pair, 2)]
    expect(shapes[0::2] == shapes[1::2], "inputs and targets of a part should have the same shape")
    expect(sum(shape[0] for shape in shapes[0::2]) == 20, "there should be one row for each name")
