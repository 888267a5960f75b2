"""Causal mask, masked softmax and scaled dot-product attention (Week 8 §4 and §10, Day 3 ch. 2-3).

A mask here is boolean and says who may look: True means that the query of that row sees the key of that column.
Day 3 writes the same mask with ones and zeros, and d_k for the head size D.

Axes: B batch, H heads, Tq queries, Tk keys, D head_size, Dv width of a value. "..." stands for leading axes, such as
B and H.
"""

import math

import torch


def causal_mask(query_length: int, key_length: int | None = None) -> torch.Tensor:
    """Say which keys each query may see when nobody looks ahead (Week 8 §4, Day 3 ch. 3).

    A query sees itself and everything before it. With more keys than queries, the queries are the last places of the
    sequence: the last query sees every key.

    Args:
        query_length: Tq.
        key_length: Tk, at least Tq; as many as queries when it is None.

    Returns:
        [Tq,Tk], bool, True where the query may see the key.
    """
    # TODO: Row is who looks, column is whom. At which key does query 0 itself stand?
    raise NotImplementedError("causal_mask")


def masked_softmax(scores: torch.Tensor, mask: torch.Tensor | None = None, dim: int = -1) -> torch.Tensor:
    """Turn scores into weights that ignore hidden entries (Week 8 §4, Day 3 ch. 3).

    Args:
        scores: [...,Tq,Tk], of any size up to ±1e4; left as it is.
        mask: bool, broadcasts to the shape of scores; True is visible. None shows everything.
        dim: the axis along which the weights of one row add up to 1.

    Returns:
        The shape and dtype of scores, always finite. Hidden entries are exactly 0 and the visible ones of a row add up
        to 1; a row in which nothing is visible is all zeros.
    """
    # TODO: A hidden score may be the largest of its row. At which step must it be gone?
    # TODO: exp(1000) is inf. What can you subtract from a whole row without changing its softmax?
    # TODO: What do you divide by in a row in which nothing is visible?
    raise NotImplementedError("masked_softmax")


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Let each query collect the values of the keys that match it (Week 8 §4, Day 3 ch. 3).

    Args:
        q: [...,Tq,D], what each query asks for.
        k: [...,Tk,D], what each key answers to.
        v: [...,Tk,Dv], what each key has to give.
        mask: bool, broadcasts to [...,Tq,Tk]; True is visible. None shows everything.

    Returns:
        output [...,Tq,Dv], the values weighted and summed, and weights [...,Tq,Tk], the masked softmax of the scores
        scaled by 1/√D.
    """
    # TODO: Scores want one row for each query and one column for each key. Which product has that shape?
    # TODO: Why does the spread of q·k grow with D, and what brings it back to about 1?
    raise NotImplementedError("attention")
