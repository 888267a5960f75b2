"""Rig for `dataset`: calls a function on a list that it keeps, and looks at what the call left behind."""

import random

import torch


def watched(function, names, seed):
    """Call the function twice with the same list: its answers, the list afterwards, and whether the random streams of
    the process are where they were."""
    before = random.getstate(), torch.get_rng_state()
    answers = [function(names, seed), function(names, seed)]
    still = random.getstate() == before[0] and torch.equal(torch.get_rng_state(), before[1])
    return {"answers": answers, "names": names, "chance_untouched": still}
