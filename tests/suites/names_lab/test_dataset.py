"""Checks of `dataset`: the vocabulary, tokens and back, the split by name, rows of inputs and shifted targets."""

import string

import pytest
import torch

from autograder.suite.checking import equal, expect, parts, rejects, same, tensor

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


### BEGIN HIDDEN TESTS
def pairs(value):
    """The tensors of three parts, in order."""
    return [part for pair in parts(value, 3) for part in parts(pair, 2)]


@pytest.mark.points(2, "the vocabulary holds every character of any list, in order")
def test_vocabulary_agrees_with_the_reference(student, reference, rng):
    for letters in (LETTERS, "'-" + LETTERS[::2], "xyzéøñ"):
        names = some_names(rng, 30, letters)
        same(student.build_vocabulary(names), reference.build_vocabulary(names))


@pytest.mark.points(1.5, "tokens are places in the given vocabulary, whichever it is")
def test_encodes_with_any_vocabulary(student, reference, rng):
    letters = "".join(LETTERS[i] for i in rng.permutation(26).tolist())
    vocabulary = [".", *letters[:9]]
    for name in some_names(rng, 4, letters[:9]):
        same(student.encode(name, vocabulary), reference.encode(name, vocabulary))
    a, b = ((rng.integers(9, n) + 1).tolist() for n in (3, 4))
    for token_ids in (a, [0, *a], [*b, 0], [0, *a, 0, *b], [*b, 0, 0, *a], [0, 0, *a], [0]):
        same(student.decode(token_ids, vocabulary), reference.decode(token_ids, vocabulary))


@pytest.mark.points(1, "a character without a token is an error that names it")
def test_refuses_unknown_characters(student):
    for text in ("an7a", "7", "emma7"):
        with rejects(7):
            student.encode(text, ALPHABET)


@pytest.mark.points(3, "the parts of the split agree with the reference")
def test_split_agrees_with_the_reference(student, reference, rng):
    for count, seed in ((rng.integer(30, 60), rng.integer(100, 999)), (6, 7), (17, 42)):
        names = some_names(rng, count)
        same(student.split_names(names, seed), reference.split_names(names, seed))
        names += [*names[::4], *names[1::5]]
        same(student.split_names(names, seed), reference.split_names(names, seed))


@pytest.mark.points(1.5, "splitting changes neither the list nor the random streams, and gives the same again")
@pytest.mark.attested
def test_split_leaves_everything_as_it_was(student, reference, rig, rng):
    names, seed = some_names(rng, 25), rng.integer(100, 999)
    found = rig.watched(student.split_names, names, seed)
    expect(isinstance(found, dict) and len(found) == 3, "the split could not be watched")
    expect(found["names"] == names, "the list that was handed in should stay as it is")
    expect(found["chance_untouched"] is True, "the process's own random streams should not be touched")
    for answer in parts(found["answers"], 2):
        same(answer, reference.split_names(names, seed))


@pytest.mark.points(1, "too few different names are an error that says how many there are")
def test_refuses_too_few_names(student, rng):
    for names in (["emma"], ["emma", "ava", "emma", "mia", "ava", "zoe", "emma"], some_names(rng, 5)):
        with rejects(len(set(names))):
            student.split_names(names, 1)


@pytest.mark.points(3.5, "the examples agree with the reference, for long and short names")
def test_examples_agree_with_the_reference(student, reference, rng):
    for letters, count, longest in ((LETTERS, 12, 9), (LETTERS[3:11], 5, 4), (LETTERS, 3, 19)):
        names = [*some_names(rng, count, letters, longest=longest), letters[2] * longest, letters[1]]
        vocabulary = [".", *letters[::-1]]
        expected = reference.make_examples(names, vocabulary)
        for got, wanted in zip(parts(student.make_examples(names, vocabulary), 2), expected, strict=True):
            equal(got, wanted)


@pytest.mark.points(1, "one name alone makes one row without padding")
def test_a_single_name(student, reference, rng):
    (name,) = some_names(rng, 1, shortest=4)
    for got, wanted in zip(
        parts(student.make_examples([name], ALPHABET), 2), reference.make_examples([name], ALPHABET), strict=True
    ):
        equal(got, wanted)


@pytest.mark.points(3.5, "the preparation agrees with the reference, with names that stand twice and rare letters")
def test_preparation_agrees_with_the_reference(student, reference, rng):
    for seed in (rng.integer(100, 999), 42):
        names = with_rare_letters(some_names(rng, 24))
        names += names[::3]
        vocabulary, examples = parts(student.prepare(names, seed), 2)
        expected = reference.prepare(names, seed)
        same(vocabulary, expected[0])
        for got, wanted in zip(pairs(examples), pairs(expected[1]), strict=True):
            equal(got, wanted)


### END HIDDEN TESTS
