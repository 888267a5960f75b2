"""From a list of names to the rows of numbers that a language model learns from (Day 3 ch. 7).

A name becomes one row. Token 0 is the boundary, written ".": it stands before the first letter and is to be predicted
after the last, so that a model learns how names begin and where they end. The model reads a row of inputs, and at each
place it is asked for the token that comes next:

    name     a  n  n  a
    inputs   .  a  n  n  a
    targets  a  n  n  a  .

Names: Day 3 writes the two directions of the vocabulary as stoi and itos, and makes a window for every letter where
here a name is one row. Its loss would count 32 places for each letter; here each letter counts once.

Axes: N names, T places of the longest name and its boundary.
"""

import random
from pathlib import Path
from string import ascii_lowercase

import torch

BOUNDARY = "."  # token 0
IGNORED = -100  # a target that does not count, as in `lm_head` and in torch's own cross-entropy

Examples = tuple[torch.Tensor, torch.Tensor]  # inputs [N,T], targets [N,T]


def read_names(path: str | Path, letters: str = ascii_lowercase) -> list[str]:
    """The names in a file, one a line, in order; a name that stands there twice stands in the list twice.

    This one is written for you.

    Raises:
        ValueError: the file is empty, or some lines are no names of these letters; the text says which and why.
    """
    lines = Path(path).read_bytes().decode("utf-8", "replace").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    if not lines:
        raise ValueError(f"{Path(path).name} is empty; it should hold one name on each line")
    bad = [f"line {n} {wrong}" for n, line in enumerate(lines, start=1) if (wrong := _what_is_wrong(line, letters))]
    if bad:
        more = f", and {len(bad) - 8} lines more" if len(bad) > 8 else ""
        raise ValueError(f"{Path(path).name} does not hold one name on each line: {', '.join(bad[:8])}{more}")
    return lines


def described(names: list[str]) -> str:
    """How many names there are, in one line. This one is written for you too."""
    different, lengths = len(set(names)), sorted(map(len, names))
    count = f"{len(names):,} names, {different:,} of them different ({len(names) - different:,} stand there again)"
    return f"{count}, {lengths[0]} to {lengths[-1]} letters long"


def _what_is_wrong(line: str, letters: str) -> str:
    if line.startswith("\ufeff"):
        return "begins with a byte order mark (save the file without one)"
    if line.endswith("\r"):
        return "ends with a carriage return (save the file with plain line ends)"
    if not line:
        return "is empty"
    strange = "".join(dict.fromkeys(character for character in line if character not in letters))
    return f"has {strange!r}, not only letters of {letters[0]} to {letters[-1]}" if strange else ""


def build_vocabulary(names: list[str]) -> list[str]:
    """Every character that a model of these names has to know; the place of a character is its token.

    Args:
        names: at least one; no name holds the boundary.

    Returns:
        The boundary first, so that it is token 0, then each character of the names once, sorted.
    """
    # TODO: Which collection has each character once, and does it hand them out in the same order in every run?
    raise NotImplementedError("build_vocabulary")


def encode(text: str, vocabulary: list[str]) -> list[int]:
    """The token of each character of `text`, as Python ints, nothing added before or after.

    Raises:
        ValueError: a character is not in the vocabulary; the text names it.
    """
    # TODO: A model meets a letter that it has never been given a token for. What should it be told?
    raise NotImplementedError("encode")


def decode(token_ids: list[int], vocabulary: list[str]) -> str:
    """The name that a row of tokens spells.

    Args:
        token_ids: any row, such as a model's own. One boundary at its very beginning is skipped; the name ends before
            the next boundary, or with the row.
        vocabulary: see `build_vocabulary`.
    """
    # TODO: A row may go on after its name has ended. What does the row [0, 1, 0, 2] spell?
    raise NotImplementedError("decode")


def split_names(names: list[str], seed: int) -> tuple[list[str], list[str], list[str]]:
    """Share the names out for training, validation and test, so that no name is in two of them.

    The different names, in the order in which each first stands in the list, are shuffled by
    `random.Random(seed).shuffle`. Of n different names the first 8n // 10 belong to training, those up to 9n // 10 to
    validation, the others to the test.

    Args:
        names: a name may stand in it several times. The list is never changed.
        seed: the same seed gives the same parts, whatever else draws random numbers.

    Returns:
        (training, validation, test): each in the order of `names`, a name as often as it stands there.

    Raises:
        ValueError: a part would be empty; the text says how many different names there are.
    """
    # TODO: "riley" stands in the list twice. What would a model's validation loss say if one of them were trained on?
    # TODO: Which function shuffles in place, and whose list is that?
    raise NotImplementedError("split_names")


def make_examples(names: list[str], vocabulary: list[str]) -> Examples:
    """One row of inputs and one of targets for each name, in order.

    Args:
        names: at least one.
        vocabulary: holds all their characters.

    Returns:
        (inputs, targets), each [N,T] int64, where T is the length of the longest name plus one. A row of inputs begins
        with the boundary; a row of targets is the same row shifted by one and ended by the boundary. Places after that
        hold the boundary in the inputs, and IGNORED in the targets, so that no loss counts them.
    """
    # TODO: Write both rows of "ab" and of "c" on paper, one below the other. Which places must not count?
    # TODO: How many predictions does a name of four letters ask for?
    raise NotImplementedError("make_examples")


def prepare(names: list[str], seed: int) -> tuple[list[str], tuple[Examples, Examples, Examples]]:
    """Everything that training needs, from a list of names.

    Returns:
        (vocabulary, (training, validation, test)): one vocabulary for all names, and the examples of each part of
        `split_names(names, seed)`.
    """
    # TODO: A letter occurs in one name only, and that name is in the test part. What happens to your vocabulary?
    # TODO: What comes first, splitting or making rows? What could be on both sides otherwise?
    raise NotImplementedError("prepare")
