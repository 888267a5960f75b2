"""From one attention head to the logits of Week 8, one component at a time; `--mine` puts your modules beside it.

    python examples/week08_bridge.py               the whole way, computed with torch's own operators
    python examples/week08_bridge.py --list        its steps
    python examples/week08_bridge.py --step 3      one of them
    python examples/week08_bridge.py --mine        your modules beside it: at which step do they first differ?
    python examples/week08_bridge.py --mine DIR    the same for the modules in another folder

Each step says what was missing before it and what it adds. Then it shows shapes and, for both prompts, the last row,
which is that of "like". The batch and the weights are the course's (see bridge_weights.py); nothing is trained here.

Axes: B prompts, T positions, C features of a row, H heads, D = C/H features of a head, V words.
"""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import bridge_weights as course
import torch
from bridge_pages import Page, emit, numbers
from torch.nn import functional as F

FOLDER = Path(__file__).resolve().parents[1]


def attend(rows: torch.Tensor) -> torch.Tensor:
    """A causal head whose query, key and value are the row itself: [...,T,D] -> [...,T,D]."""
    return F.scaled_dot_product_attention(rows, rows, rows, is_causal=True)


def weights_of(rows: torch.Tensor) -> torch.Tensor:
    """The weights of that head, [...,T,T]: what arrives when each position hands over a 1 in a column of its own."""
    length = rows.shape[-2]
    columns = torch.eye(length).expand(*rows.shape[:-1], length)
    return F.scaled_dot_product_attention(rows, rows, columns, is_causal=True)


def two_heads(rows: torch.Tensor) -> torch.Tensor:
    """[B,T,4] -> [B,2,T,2]: head 1 takes features 0 and 1, head 2 takes features 2 and 3."""
    return torch.stack([rows[..., :2], rows[..., 2:]], dim=1)


def side_by_side(heads: torch.Tensor) -> torch.Tensor:
    """[B,2,T,2] -> [B,T,4]."""
    return torch.cat([heads[:, 0], heads[:, 1]], dim=-1)


def norm(rows: torch.Tensor) -> torch.Tensor:
    """LayerNorm as it starts, with gamma 1 and beta 0."""
    return F.layer_norm(rows, (4,), course.GAMMA, course.BETA)


def ffn(rows: torch.Tensor, expand: torch.Tensor = course.EXPAND) -> torch.Tensor:
    """4 -> 16 features, GELU, 16 -> 4, for each row by itself; the biases are 0."""
    return F.linear(F.gelu(F.linear(rows, expand)), course.PROJECT.to(rows.dtype))


# The way, under the course's names. Steps 3 and 4 go without the norms of step 5.
words = F.embedding(course.TOKEN_IDS, course.TOKENS)  # [B,T,C]
residual_0 = words + course.POSITIONS  # [B,T,C] + [T,C]
plain_update = side_by_side(attend(two_heads(residual_0)))
ln1 = norm(residual_0)
attention_update = side_by_side(attend(two_heads(ln1)))
residual_after_attention = residual_0 + attention_update
ln2 = norm(residual_after_attention)
ffn_update = ffn(ln2)
residual_after_ffn = residual_after_attention + ffn_update
final_hidden = norm(residual_after_ffn)
logits = F.linear(final_hidden, course.SCORING, course.BIAS)  # [B,T,V]


def step_1(page: Page) -> None:
    """One causal head (Week 8 §4)

    missing: every row stands alone; like reads nothing of the word before it.
    adds:    a position mixes in the rows before it, by how well they match.
    """
    page.rows("token rows", words)
    page.rows("one head", attend(words))
    page.say("The two rows of like were the same, and are no longer: like@1 has read.")

    visible, scores = torch.ones(2, 2).tril().bool(), torch.tensor([[1.0, 5.0], [2.0, 1.0]])
    page.asks("masked_softmax.causal_mask", (2,), visible)
    right = torch.stack([torch.tensor([1.0, 0.0]), scores[1].softmax(-1)])
    page.asks("masked_softmax.masked_softmax", (scores, visible), right)
    page.asks("masked_softmax.attention", (words, words, words, visible), (attend(words), weights_of(words)))


def step_2(page: Page) -> None:
    """Positions (Week 8 §2 and §3)

    missing: a head is told which words there are, never where they stand.
    adds:    a row for the place is added to the row of the word.
    """
    same_word = course.TOKENS[torch.tensor([1, 1])]
    for name, rows in (("words only", same_word), ("with places", same_word + course.POSITIONS)):
        page.say(f'"like like", {name}: the two rows after the head')
        for place, row in enumerate(attend(rows)):
            page.say(f"  like@{place}     {numbers(row)}")
    page.rows("residual_0", residual_0)
    page.rows("one head", attend(residual_0))

    page.asks("embedding.embed", (course.TOKEN_IDS, course.TOKENS, course.POSITIONS), residual_0)
    page.asks("embedding.TokenPositionEmbedding", (course.TOKEN_IDS,), residual_0, course.EMBEDDING)


def step_3(page: Page) -> None:
    """Two heads (Week 8 §4 and §10)

    missing: one head weighs a word once, and all four features have to follow.
    adds:    two heads with two features each, and each weighs for itself.
    """
    heads = two_heads(residual_0)
    page.rows("weights of one head", weights_of(residual_0))
    page.rows("weights of two heads", weights_of(heads))
    page.rows("two heads, side by side", plain_update)

    page.asks("multi_head.split_heads", (residual_0, 2), heads)
    page.asks("multi_head.merge_heads", (attend(heads),), plain_update)
    page.asks("multi_head.CausalSelfAttention", (residual_0,), plain_update, course.ATTENTION)


def step_4(page: Page) -> None:
    """Residual addition (Week 8 §7 and §8)

    missing: what the heads collect takes the place of the row that asked.
    adds:    it is added to that row, so that the row itself goes on.
    """
    page.rows("residual_0 + update", residual_0 + plain_update)
    page.say("What would be left of like@1 if the heads gave nothing but zeros:")
    for how, row in (("replaced", torch.zeros(4)), ("added", residual_0[0, 1])):
        page.say(f"  {how:11}{numbers(row)}")
    x = torch.tensor([2.0, 2.01])
    y = x + 0.1 * x
    page.say(f"Try y = x + 0.1 x (§7): x from {x[0]:.2f} to {x[1]:.2f} takes y from {y[0]:.3f} to {y[1]:.3f}.")
    page.say(f"That is {y[1] - y[0]:.3f} for 0.010, a slope of 1.1: 1 past the branch, 0.1 through it.")

    page.asks("transformer_block.add_residual", (residual_0, plain_update), residual_0 + plain_update)
    page.asks("transformer_block.add_residual", (x, 0.1 * x), y)


def step_5(page: Page) -> None:
    """LayerNorm before the branch (Week 8 §9 and §10)

    missing: large rows make large scores, and one position gets all the weight.
    adds:    the branch reads a copy at one scale; the stream keeps its own.
    """
    for factor in (1, 10):
        bare, normed = (float(weights_of(two_heads(f(factor * residual_0)))[0, 0, 1, 0]) for f in (torch.clone, norm))
        page.say(f'{factor:2} x residual_0: head 1 of A puts {bare:.4f} on "you", behind a norm {normed:.4f}')
    page.rows("ln1", ln1)
    page.rows("weights of two heads", weights_of(two_heads(ln1)))
    page.rows("attention_update", attention_update)
    page.rows("residual_after_attention", residual_after_attention)
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    stretched = 100 * x + 1000
    page.say("Try a row at another scale, moved (§9):")
    page.say(f"  [1, 2, 3, 4] -> {numbers(norm(x), 3)}")
    page.say(f"  100 x + 1000 -> {numbers(norm(stretched), 3)}")
    page.say(f"They are {(norm(x) - norm(stretched)).abs().max():.1e} apart: epsilon weighs more in the small row.")

    page.asks("layer_norm.layer_norm", (residual_0, course.GAMMA, course.BETA), ln1)
    page.asks("layer_norm.layer_norm", (stretched, 2 * course.GAMMA, course.GAMMA), 2 * norm(stretched) + 1)
    page.asks("layer_norm.LayerNorm", (residual_0,), ln1, course.NORM)
    page.asks("multi_head.CausalSelfAttention", (ln1,), attention_update, course.ATTENTION)
    page.asks("transformer_block.add_residual", (residual_0, attention_update), residual_after_attention)


def step_6(page: Page) -> None:
    """Feed-forward network (Week 8 §5, §6 and §10)

    missing: attention averages rows; nothing computes with the features of one.
    adds:    4 -> 16 -> GELU -> 4 for each row, behind a norm, added like before.
    """
    page.rows("ln2", ln2)
    page.rows("ffn_update", ffn_update)
    page.rows("residual_after_ffn", residual_after_ffn)
    z, mixing = torch.tensor([1.0, 2.0, 0.0, 0.0]), course.EXPAND.clone()
    mixing[0, 1] = 1.0
    page.say("Try one weight more (§5): z = [1, 2, 0, 0], and hidden unit 0 also reads z1")
    for name, weight in (("before", course.EXPAND.double()), ("after", mixing.double())):
        unit = F.linear(z.double(), weight)[:1]  # float32 is not sure of a sixth decimal: processors differ in it
        out = numbers(ffn(z.double(), weight)[:1], 6)
        page.say(f"  {name:6} hidden {float(unit):.0f}, after GELU{numbers(F.gelu(unit), 6)}, first output{out}")
    x = torch.tensor([-1.0, 0.0, 1.0, 2.0])
    page.say("Try the bend (§6):")
    for name, y in (("x", x), ("ReLU", F.relu(x)), ("GELU", F.gelu(x))):
        page.say(f"  {name:6}{numbers(y, 3)}")

    page.asks("layer_norm.layer_norm", (residual_after_attention, course.GAMMA, course.BETA), ln2)
    page.asks("feed_forward.gelu", (x,), F.gelu(x))
    mixed = course.FFN._replace(weights={**course.FFN.weights, "expand.weight": mixing})
    page.asks("feed_forward.FeedForward", (z,), ffn(z, mixing), mixed)
    page.asks("feed_forward.FeedForward", (ln2,), ffn_update, course.FFN)
    page.asks("transformer_block.TransformerBlock", (residual_0,), residual_after_ffn, course.BLOCK)


def step_7(page: Page) -> None:
    """Output head (Week 8 §13 and §14)

    missing: a row has four features, and none of them is the score of a word.
    adds:    a last norm, then for each word a dot product and a bias.
    """
    page.rows("final_hidden", final_hidden)
    page.say("             " + "".join(f"{word:>9}" for word in course.WORDS))
    page.rows("logits", logits)
    page.rows("probabilities", logits.softmax(-1))
    page.say("(For we in B the course prints 0.2886; the value is 0.28855, so 0.2885.)")
    page.say("study leads both times, after we by more: the word before like counts.")

    page.asks("layer_norm.layer_norm", (residual_after_ffn, course.GAMMA, course.BETA), final_hidden)
    page.asks("lm_head.vocabulary_logits", (final_hidden, course.SCORING, course.BIAS), logits)
    page.asks("lm_head.MiniGPT", (course.TOKEN_IDS,), (logits, None), course.MODEL)


STEPS = (step_1, step_2, step_3, step_4, step_5, step_6, step_7)


def pages() -> list[Page]:
    """What the steps show and ask, each below its title, what was missing and what it adds."""
    found = []
    for step in STEPS:
        title, *lines = [line for line in (inspect.getdoc(step) or step.__name__).splitlines() if line]
        page = Page(title)
        for line in lines:
            page.say(line)
        step(page)
        found.append(page)
    return found


def command_line(arguments: Sequence[str] | None, shown: Sequence[Page]) -> argparse.Namespace:
    """What is asked for. What cannot be done ends the program with one sentence and code 2."""
    parser = argparse.ArgumentParser(description="From one attention head to the logits of Week 8, step by step.")
    parser.add_argument("--list", action="store_true", help="list the steps")
    parser.add_argument("--step", type=int, metavar="N", help="show this step only")
    which = "run your modules beside each step: those in DIR, or without it those in the folder above this one"
    parser.add_argument("--mine", nargs="?", type=Path, const=FOLDER, metavar="DIR", help=which)
    want = parser.parse_args(arguments)
    if want.step is not None and not 1 <= want.step <= len(STEPS):
        parser.error(f"there is no step {want.step}; there are steps 1 to {len(STEPS)}")
    if want.mine is None:
        return want
    files = dict.fromkeys(f"{call.name.partition('.')[0]}.py" for page in shown for call in page.calls)
    if not want.mine.is_dir():
        parser.error(f"--mine takes the folder of your modules; {want.mine} is no folder")
    if not any((want.mine / file).is_file() for file in files):
        parser.error(f"--mine takes the folder of your modules; {want.mine} holds none of {', '.join(files)}")
    return want


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0; with --mine 1 when something differs; 2 when the command cannot be done."""
    shown = pages()  # all right values are there before any module of yours is read
    want = command_line(arguments, shown)
    if want.list:
        for number, page in enumerate(shown, start=1):
            emit(f"{number}  {page.title}")
        return 0
    mine = None
    if want.mine is not None:
        sys.path.append(str(FOLDER))  # for selfcheck
        try:
            from bridge_mine import OwnModules

            mine = OwnModules(want.mine.resolve(), FOLDER, [page.title for page in shown])
        except (ImportError, OSError, ValueError, LookupError):
            print("--mine needs selfcheck/ beside examples/, whole, as it came with your assignment", file=sys.stderr)
            return 2
    for number in [want.step] if want.step else range(1, len(STEPS) + 1):
        page = shown[number - 1]
        emit(f"Step {number} of {len(STEPS)}: {page.title}")
        for line in page.lines:
            emit(line)
        for line in mine.judge(number, page.calls) if mine else []:
            emit(line)
        emit()
    for line in mine.verdict() if mine else []:
        emit(line)
    return 0 if mine is None or mine.all_the_same else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt as pressed:
        print(f"\n{pressed or 'interrupted'}", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # whoever read along has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
