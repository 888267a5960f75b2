# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Week 8, run on your own modules
#
# Two prompts of two words go in, probabilities for a third word come out. In between stand the nine modules that you
# write in this folder. This workbook stops at each of them, in the order of the course: it asks what you expect, runs
# your code, puts the course's number beside yours and draws what happened.
#
# **How to use it**
#
# - Write a module, save it, run its stop. Modules are read again by themselves whenever you save them.
# - *Predict* cells want your guess before you see the result. Replace the line that raises. Guesses are not graded; a
#   wrong one shows you where to think again. Run one cell after the other: "Run All" halts at the first open guess.
# - Each exercise has one cell `check("...")`. It runs the public checks of your module and stands for its points.
# - Six questions ask for a number or a shape (1 point each). The answer is what you write behind the `=`, as in
#   `s02_rows = [3, 7]`; nothing is run to find it, so a calculation does not count.
# - Two questions are answered in words (5 points each) and read by a person.
# - `NotImplementedError: layer_norm` means that `layer_norm` is still a stub. The file to open is the last one that the
#   message shows. No stop needs a module that comes later.
# - The other cells are yours to play with. Change a number, run again, see what moves.

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
# %load_ext autoreload
# %autoreload 2
# %matplotlib inline
import math
import warnings

import matplotlib.pyplot as plt
import torch

torch.set_num_threads(1)
torch.manual_seed(8)
warnings.filterwarnings("ignore")  # nbgrader takes a warning in a graded cell for a failure

# %% [markdown]
# The next cell holds everything that Week 8 fixes by hand: five words, two prompts, the tables, and weights so plain
# that you could follow them with a pencil. Biases that the course does not mention are zero.

# %% nbgrader={"grade": false, "grade_id": "setup_batch", "locked": true, "schema_version": 3, "solution": false, "task": false}
vocabulary = ["you", "like", "AI", "study", "we"]
token_ids = torch.tensor([[0, 1], [4, 1]])  # [B,T]: prompt A "you like", prompt B "we like"

token_table = torch.tensor(  # [V,C], one row for each word
    [[0.2, -0.1, 0.7, 0.3], [0.6, 0.3, -0.2, 0.1], [-0.4, 0.8, 0.5, -0.3], [0.1, 0.2, 0.9, 0.4], [-0.7, 0.4, 0.3, 0.6]]
)
position_table = torch.tensor([[0.05, 0.1, -0.05, 0.0], [-0.1, 0.0, 0.05, 0.1]])  # [T,C]

head_weight = torch.tensor(  # [V,C], one scoring vector for each word
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 2.0], [0.0, 0.0, 1.0, 1.0], [0.0, 3.0, -1.0, 0.0], [1.0, 2.0, 0.0, 0.0]]
)
head_bias = torch.tensor([-0.2, 0.1, 0.0, 0.0, 0.0])  # [V]

# What stop 2 and stop 7 will compute, so that no stop has to wait for the module of another one: the rows that enter
# the block, and what its first LayerNorm makes of them.
course_residual_0 = torch.tensor(  # [B,T,C]
    [[[0.25, 0.0, 0.65, 0.3], [0.5, 0.3, -0.15, 0.2]], [[-0.65, 0.5, 0.25, 0.6], [0.5, 0.3, -0.15, 0.2]]]
)
ln1_rows = torch.tensor(  # [B,T,C]
    [
        [[-0.215645, -1.293873, 1.509518, 0.0], [1.220603, 0.371488, -1.539021, -0.053070]],
        [[-1.673132, 0.659113, 0.152103, 0.861916], [1.220603, 0.371488, -1.539021, -0.053070]],
    ]
)

# Weights as nn.Linear stores them, [out,in]: queries, keys and values are copies of the input, the FFN copies four
# features into sixteen and hands a quarter of them back.
attention_weights = {"qkv.weight": torch.eye(4).repeat(3, 1), "output.weight": torch.eye(4)}
ffn_weights = {
    "expand.weight": torch.eye(16, 4),
    "expand.bias": torch.zeros(16),
    "project.weight": 0.25 * torch.eye(4, 16),
    "project.bias": torch.zeros(4),
}
norm_weights = {"weight": torch.ones(4), "bias": torch.zeros(4)}


def within(name, weights):
    """The same weights as the part `name` of something larger."""
    return {f"{name}.{key}": value for key, value in weights.items()}


def teaching_attention():
    """Your CausalSelfAttention with the course's weights."""
    from multi_head import CausalSelfAttention

    part = CausalSelfAttention(model_dim=4, num_heads=2, dropout=0.0)
    part.load_state_dict(attention_weights)
    return part.eval().requires_grad_(False)


def teaching_ffn():
    """Your FeedForward with the course's weights."""
    from feed_forward import FeedForward

    part = FeedForward(model_dim=4, dropout=0.0)
    part.load_state_dict(ffn_weights)
    return part.eval().requires_grad_(False)


def teaching_block():
    """Your TransformerBlock with the course's weights."""
    from transformer_block import TransformerBlock

    block = TransformerBlock(model_dim=4, num_heads=2, dropout=0.0)
    block.load_state_dict(block_weights)
    return block.eval().requires_grad_(False)


def teaching_model():
    """Your MiniGPT with one block and the course's weights; its context is two tokens long."""
    from lm_head import MiniGPT

    model = MiniGPT(vocab_size=5, context_length=2, model_dim=4, num_heads=2, num_layers=1, dropout=0.0)
    model.load_state_dict(
        {
            "token_embedding.weight": token_table,
            "position_embedding.weight": position_table,
            **within("blocks.0", block_weights),
            **within("final_norm", norm_weights),
            "lm_head.weight": head_weight,
            "lm_head.bias": head_bias,
        }
    )
    return model.eval().requires_grad_(False)


block_weights = {
    **within("ln1", norm_weights),
    **within("attention", attention_weights),
    **within("ln2", norm_weights),
    **within("ffn", ffn_weights),
}

# %% [markdown]
# Three small tools: `beside` prints the course's numbers next to yours at the digits that the course prints, `judge`
# looks at a prediction, `listen` notes what goes into each part of a module and what comes out.


# %% nbgrader={"grade": false, "grade_id": "setup_tools", "locked": true, "schema_version": 3, "solution": false, "task": false}
def row(values, digits=4):
    """Numbers in one line, rounded, without a minus in front of zero."""
    values = torch.as_tensor(values).detach().tolist()
    return " ".join(f"{round(value, digits) + 0.0:{digits + 4}.{digits}f}" for value in values)


def beside(title, *lines, digits=4):
    """Print lines of (label, course's numbers, your numbers)."""
    labels = max(len(label) for label, _, _ in lines)
    columns = max(len(row(course, digits)) for _, course, _ in lines)
    print(title)
    print(f"{'':{labels}}  {'course':>{columns}}   {'yours':>{columns}}")
    for label, course, yours in lines:
        found = torch.as_tensor(yours).detach().double().flatten()
        if len(found) != len(course):
            print(f"{label:{labels}}  {row(course, digits):>{columns}}   {len(found)} numbers, not {len(course)}")
            continue
        close = (found - torch.tensor(course, dtype=torch.float64)).abs().max() < 0.6 * 10**-digits
        print(
            f"{label:{labels}}  {row(course, digits):>{columns}}   {row(found, digits):>{columns}}"
            f"   {'same' if close else 'DIFFERENT'}"
        )


def alike(guess, truth):
    """Does a prediction say the same? Numbers within 0.005, words in any case, lists and tuples item by item."""
    if isinstance(truth, (list, tuple)):
        return isinstance(guess, (list, tuple)) and len(guess) == len(truth) and all(map(alike, guess, truth))
    if isinstance(truth, str):
        return isinstance(guess, str) and guess.strip().lower() == truth.lower()
    return isinstance(guess, (int, float)) and abs(guess - truth) < 0.005


def judge(guess, truth):
    """Say in one line how a prediction compares with what your modules give."""
    if guess is None:
        print("No prediction yet. Write one in the cell above, run it, then run this cell again.")
    elif alike(guess, truth):
        print(f"You predicted {guess}, and so it is.")
    else:
        print(f"You predicted {guess}; your modules give {truth}. Look for the step where the two part.")


class Heard(dict):
    """What `listen` noted, part by part."""

    def __missing__(self, name):
        raise LookupError(f"your module never called its part {name}")


@torch.no_grad()
def listen(module, *inputs):
    """Run a module; return its result and, for each part that it called, (what went in, what came out)."""
    heard = Heard()

    def note(name):
        def hook(part, given, result):
            heard[name] = (given[0], result)

        return hook

    hooks = [part.register_forward_hook(note(name)) for name, part in module.named_modules() if name]
    try:
        return module(*inputs), heard
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def fill(module, seed):
    """Give all weights fixed random values that do not depend on the order in which a module makes its layers."""
    generator = torch.Generator().manual_seed(seed)
    for name, weight in sorted(module.named_parameters()):
        if weight.dim() == 2:
            weight.normal_(0.0, weight.shape[1] ** -0.5, generator=generator)
        else:
            weight.fill_(0.0 if name.endswith("bias") else 1.0)
    return module


# %% [markdown]
# And the tools for pictures. Orange and purple, and the blue, red and green of the lines, can be told apart with any
# kind of colour vision.

# %% nbgrader={"grade": false, "grade_id": "setup_pictures", "locked": true, "schema_version": 3, "solution": false, "task": false}
BLUE, RED, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#767676"
plt.rcParams.update(
    {
        "figure.dpi": 90,
        "font.size": 10,
        "axes.titlesize": 10.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
    }
)


def pictures(count, width=9.0, height=3.2):
    """A figure with `count` pictures side by side; always a list of axes."""
    _, axes = plt.subplots(1, count, figsize=(width, height), layout="constrained", squeeze=False)
    return list(axes[0])


def heat(axis, values, title, rows=None, columns=None, numbers=True):
    """A table of numbers from -1 (orange) over 0 (white) to 1 (purple)."""
    values = torch.as_tensor(values).detach()
    image = axis.imshow(values, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
    axis.set_title(title)
    axis.spines[:].set_visible(False)
    if rows:
        axis.set_yticks(range(len(rows)), rows)
    if columns:
        axis.set_xticks(range(len(columns)), columns)
    if numbers:
        for r, line in enumerate(values.tolist()):
            for c, value in enumerate(line):
                colour = "white" if abs(value) > 0.6 else "black"
                axis.text(c, r, f"{value:.2f}", ha="center", va="center", color=colour)
    return image


def bars(axis, names, groups, title, ylabel, digits=2):
    """Bars side by side for each name; groups maps a legend entry to its heights."""
    width = 0.8 / len(groups)
    for place, (label, heights) in enumerate(groups.items()):
        at = [n + (place - (len(groups) - 1) / 2) * width for n in range(len(names))]
        drawn = axis.bar(at, [float(h) for h in heights], width * 0.92, label=label, color=(BLUE, RED, GREEN)[place])
        axis.bar_label(drawn, fmt=f"%.{digits}f", fontsize=8, padding=1)
    axis.set_xticks(range(len(names)), names)
    axis.set_title(title)
    axis.set_ylabel(ylabel)
    axis.legend()


# %% [markdown]
# ## Stop 1. The map (Week 8 §0 and §1)
#
# Attention lets a word look back at the words before it. That alone is no language model: it does not know which word
# came first, it does not compute much with what it collected, and it is hard to stack. Week 8 puts four kinds of parts
# around it, and a head at the end.
#
# | stage | made by | shape here | stop |
# |---|---|---|---|
# | `token_ids` | | `[B,T]` = [2,2] | 1 |
# | `residual_0` | token row + position row | `[B,T,C]` = [2,2,4] | 2 |
# | attention weights | scores, mask, softmax | `[B,H,T,T]` = [2,2,2,2] | 3, 4 |
# | attention update | weights times values, heads merged | `[B,T,C]` | 4 |
# | FFN update | 4 → 16 → 4 features, row by row | `[B,T,C]` | 5 |
# | `residual_after_…` | addition to the stream | `[B,T,C]` | 6 |
# | normalized rows | LayerNorm before each branch | `[B,T,C]` | 7 |
# | the block | all of it, in the right order | `[B,T,C]` | 8 to 10 |
# | logits | vocabulary head | `[B,T,V]` = [2,2,5] | 11, 12 |
# | loss, next word | training and sampling | scalar, `[B,1]` | 13, 14 |
#
# B counts prompts, T positions, C features of a row, H heads, D = C/H features of a head and V words. "like@1" is the
# word "like" at position 1; positions count from 0.

# %%
for name, ids in zip("AB", token_ids.tolist(), strict=True):
    print(f"prompt {name}: {ids} =", " ".join(f"{vocabulary[i]}@{t}" for t, i in enumerate(ids)))
for name, table in (("token_ids", token_ids), ("token_table", token_table), ("position_table", position_table)):
    print(f"{name:15}{list(table.shape)}")

# %% [markdown]
# The prompts differ in one word only, the one at position 0. Watch like@1 in all that follows: both prompts start there
# with the same row, and at the end they rate the next words differently. One question runs through the workbook:
# *where does the difference get in?*

# %% [markdown]
# ## Stop 2. A row for the word, a row for its place (Week 8 §2 and §3)
#
# The token table is a dictionary: "like" gets the same four numbers wherever it stands. The position table is asked
# with the place instead. `embed` adds the two rows.
#
# **Predict** the shape of what `embed` returns for the batch. The token rows have an axis for the prompts; the position
# rows have none.

# %% nbgrader={"grade": false, "grade_id": "predict_residual_shape", "locked": false, "schema_version": 3, "solution": true, "task": false}
predicted_shape = None  # a tuple, such as (3, 5)
### BEGIN SOLUTION
predicted_shape = (2, 2, 4)
### END SOLUTION

# %%
from embedding import embed

judge(predicted_shape, tuple(embed(token_ids, token_table, position_table).shape))

# %% [markdown]
# The position table [2,4] is laid over each of the two prompts: it is broadcast along B. Now the numbers. Before you
# run the cell, add one row in your head: you@0 is [0.20, -0.10, 0.70, 0.30] + [0.05, 0.10, -0.05, 0.00].

# %%
from embedding import embed

rows = embed(token_ids, token_table, position_table)
like_twice = embed(torch.tensor([[1, 1]]), token_table, position_table)
beside(
    "Week 8 §3: x = token row + position row",
    ("A: you@0", [0.25, 0.00, 0.65, 0.30], rows[0, 0]),
    ("A: like@1", [0.50, 0.30, -0.15, 0.20], rows[0, 1]),
    ("B: we@0", [-0.65, 0.50, 0.25, 0.60], rows[1, 0]),
    ("B: like@1", [0.50, 0.30, -0.15, 0.20], rows[1, 1]),
    ("like, were it at 0", [0.65, 0.40, -0.25, 0.10], like_twice[0, 0]),
    ("like at 1", [0.50, 0.30, -0.15, 0.20], like_twice[0, 1]),
    digits=2,
)

# %% [markdown]
# **Seen.** "like" at place 0 and "like" at place 1 are two different rows, although the word is the same. A: like@1 and
# B: like@1 are equal to the last digit: up to here nothing of "you" or "we" has reached them.
#
# A learned table has as many rows as it was given and not one more. Day 3 (ch. 5) builds a table from sines and cosines
# instead, which can be made as long as you like. **Before you look:** which columns of it change fast from place to
# place, the left or the right ones?

# %%
from embedding import embed, sinusoidal_positions

like_rows = embed(torch.tensor([[1, 1]]), token_table, position_table)[0]
waves = sinusoidal_positions(32, 16)
left, right = pictures(2)
heat(
    left,
    torch.cat([position_table, like_rows]),
    "Week 8's position table, and what it does to like",
    rows=["place 0", "place 1", "like@0", "like@1"],
    columns=["0", "1", "2", "3"],
)
left.axhline(1.5, color="black", linewidth=1)
left.set_xlabel("feature")
image = heat(right, waves, "Sines and cosines (Day 3 ch. 5)", numbers=False)
right.set_xlabel("feature")
right.set_ylabel("position")
plt.colorbar(image, ax=right, label="value")
plt.show()

# %% [markdown]
# **Seen.** Left: small numbers of the position table are enough to move every feature of "like". Right: the left
# columns flip every few places, the right ones hardly move over 32 places. Together they give every place a pattern of
# its own, as the fast and slow hands of a clock do.

# %% quiz="s02_rows"

# %% nbgrader={"grade": true, "grade_id": "embedding", "locked": true, "points": 10, "schema_version": 3, "solution": false, "task": false}
from selfcheck.notebook import check

check("embedding")

# %% [markdown]
# ## Stop 3. Attention, and why it needs those places (Week 8 §2, §4 and §10)
#
# Attention compares every query with every key and mixes the values accordingly. Nothing in that says who stood where.
# Take three bare token rows, AI, study, like, without positions and without a mask, and let them attend to each other.
# Then feed the same rows in reverse order.
#
# **Predict** what comes out the second time: `"same"` (the same output rows in the same places), `"reversed"` (the same
# rows, in reverse order) or `"new"` (other numbers).

# %% nbgrader={"grade": false, "grade_id": "predict_reversed_rows", "locked": false, "schema_version": 3, "solution": true, "task": false}
predicted_output = None  # "same", "reversed" or "new"
### BEGIN SOLUTION
predicted_output = "reversed"
### END SOLUTION

# %%
from masked_softmax import attention

names = ["AI", "study", "like"]
words = token_table[[2, 3, 1]]
ahead, _ = attention(words, words, words)
turned, _ = attention(words.flip(0), words.flip(0), words.flip(0))
for title, order, output in (("AI study like", names, ahead), ("like study AI", names[::-1], turned)):
    print(title)
    for name, values in zip(order, output, strict=True):
        print(f"  {name:6}", row(values))

if torch.allclose(turned, ahead, atol=1e-6):
    judge(predicted_output, "same")
else:
    judge(predicted_output, "reversed" if torch.allclose(turned, ahead.flip(0), atol=1e-6) else "new")

# %% [markdown]
# **Seen.** Each word collects exactly the same numbers as before; only the rows have moved with their words. This is
# called *permutation equivariant*: reorder the input, and the output is reordered with it. ("Invariant" would be wrong:
# it would mean an output that does not change at all.) "AI study like" and "like study AI" look the same to each word.
#
# A causal mask hides what comes later. Does it bring order in? **Guess** the two numbers below before you run: we swap
# the first two words and ask how much the row of the *last* word moves.

# %%
from masked_softmax import attention, causal_mask

places = torch.tensor([[0.05, 0.1, -0.05, 0.0], [-0.1, 0.0, 0.05, 0.1], [0.1, -0.05, 0.0, -0.1]])
words, swapped = token_table[[2, 3, 1]], token_table[[3, 2, 1]]
for title, one, other in (
    ("mask, no positions", words, swapped),
    ("mask and positions", words + places, swapped + places),
):
    last_rows = [attention(x, x, x, causal_mask(3))[0][-1] for x in (one, other)]
    print(f"{title}: the last row moves by at most {(last_rows[0] - last_rows[1]).abs().max():.6f}")

# %% [markdown]
# **Seen.** With the mask alone, one attention leaves the last word unable to tell "AI study like" from "study AI like".
# The mask says who may look at whom, not where anybody stands. (The earlier rows do change, because each now sees other
# words; a second layer could pick that up.) With position rows added the swap shows at once.
#
# ### From scores to weights
#
# Now the real batch. From here to stop 6 attention and the FFN read `ln1_rows`, the rows after the first LayerNorm,
# which stop 7 will make. In the course's teaching weights head 1 takes features 0 and 1 of a row, head 2 takes features
# 2 and 3, and query, key and value are all that same pair. One score by hand, prompt A, head 1: the query of like@1
# against the key of you@0.

# %%
query, key = ln1_rows[0, 1, :2].tolist(), ln1_rows[0, 0, :2].tolist()
score = (query[0] * key[0] + query[1] * key[1]) / math.sqrt(2)
print(f"({query[0]:.4f} × {key[0]:.4f} + {query[1]:.4f} × {key[1]:.4f}) / √2 = {score:.4f}")

# %% [markdown]
# Calculated that way for the last query of both prompts and both heads, the scores are (Week 8 §10):
#
# | | score of position 0 | score of position 1 |
# |---|---|---|
# | A1: prompt A, head 1 | -0.5260 | 1.1511 |
# | A2: prompt A, head 2 | -1.6427 | 1.6768 |
# | B1: prompt B, head 1 | -1.2709 | 1.1511 |
# | B2: prompt B, head 2 | -0.1979 | 1.6768 |
#
# **Predict**, without a softmax, how much weight position 0 gets: order the four names from most to least. Only the gap
# between the two scores of a row counts.

# %% nbgrader={"grade": false, "grade_id": "predict_attention_ranking", "locked": false, "schema_version": 3, "solution": true, "task": false}
predicted_ranking = None  # such as ["A1", "A2", "B1", "B2"]
### BEGIN SOLUTION
predicted_ranking = ["A1", "B2", "B1", "A2"]
### END SOLUTION

# %%
from masked_softmax import attention, causal_mask

pairs = {"A1": ln1_rows[0, :, :2], "A2": ln1_rows[0, :, 2:], "B1": ln1_rows[1, :, :2], "B2": ln1_rows[1, :, 2:]}
results = {name: attention(pair, pair, pair, causal_mask(2)) for name, pair in pairs.items()}
last_weights = {name: weights[-1] for name, (_, weights) in results.items()}
judge(predicted_ranking, sorted(last_weights, key=lambda name: -float(last_weights[name][0])))
print()
beside(
    "Week 8 §10: weights of the last query on positions 0 and 1",
    ("A1", [0.1575, 0.8425], last_weights["A1"]),
    ("A2", [0.0349, 0.9651], last_weights["A2"]),
    ("B1", [0.0815, 0.9185], last_weights["B1"]),
    ("B2", [0.1330, 0.8670], last_weights["B2"]),
)
print()
beside(
    "Week 8 §10: prompt A, the values mixed by these weights",
    ("head 1", [0.9944, 0.1092], results["A1"][0][-1]),
    ("head 2", [-1.4326, -0.0512], results["A2"][0][-1]),
)
print("\nweights of the first query, A1:", row(results["A1"][1][0]))

# %% [markdown]
# **Seen.** A gap of 1.68 leaves position 0 a weight of 0.16, a gap of 3.32 only 0.03. Each row adds up to 1. The first
# query has only itself to look at, so its weight is 1 and the hidden one exactly 0.

# %% nbgrader={"grade": true, "grade_id": "masked_softmax", "locked": true, "points": 14, "schema_version": 3, "solution": false, "task": false}
from selfcheck.notebook import check

check("masked_softmax")

# %% [markdown]
# ## Stop 4. Two heads at once (Week 8 §4, §10 and §11)
#
# Your `CausalSelfAttention` does for all prompts and heads at once what stop 3 did pair by pair. The features are dealt
# out to the heads, every head attends, and the results are put side by side again. **Before you run it:** which axis of
# [2,2,4] is cut in two, and where does the new axis of the heads end up?

# %%
from multi_head import merge_heads, split_heads

parts = split_heads(ln1_rows, 2)
print("rows             ", list(ln1_rows.shape), "  [B,T,C]")
print("split into heads ", list(parts.shape), "  [B,H,T,D]")
print("merged again     ", list(merge_heads(parts).shape), "  [B,T,C]")
print("the same numbers?", bool((merge_heads(parts) == ln1_rows).all()))
print("prompt A, head 2, like@1:", row(parts[0, 1, 1]), " features 2 and 3 of its row:", row(ln1_rows[0, 1, 2:]))

# %% [markdown]
# **Seen.** C = 4 became H·D = 2·2, and the heads stand before the positions, so that each head is a small attention of
# its own over T positions. Now the layer with the course's weights, and the weights of each head as pictures.
# **Before you look:** in which pictures will the field of the bottom left be darkest?

# %%
from masked_softmax import attention, causal_mask
from multi_head import split_heads

update = teaching_attention()(ln1_rows)
beside(
    "Week 8 §10: attention update of like@1",
    ("prompt A", [0.9944, 0.1092, -1.4326, -0.0512], update[0, 1]),
    ("prompt B", [0.9847, 0.3949, -1.3141, 0.0686], update[1, 1]),
)

heads = split_heads(ln1_rows, 2)
_, weights = attention(heads, heads, heads, causal_mask(2))  # [B,H,T,T]
axes = pictures(4, width=10.5, height=2.7)
for place, axis in enumerate(axes):
    prompt, head = divmod(place, 2)
    tokens = [f"{vocabulary[i]}@{t}" for t, i in enumerate(token_ids[prompt].tolist())]
    heat(axis, weights[prompt, head], f"prompt {'AB'[prompt]}, head {head + 1}", rows=tokens, columns=tokens)
    axis.set_xlabel("key: looked at")
axes[0].set_ylabel("query: looks")
plt.show()

# %% [markdown]
# **Seen.** The top right field is 0.00 everywhere: nobody looks ahead. The bottom left field is how much like@1 takes
# from you or we. In prompt A head 1 takes more, in prompt B head 2. That is why the two update rows above differ: you
# and we bring other weights and other values; what like@1 itself brings is the same in both.

# %% quiz="s04_scores"

# %% nbgrader={"grade": true, "grade_id": "multi_head", "locked": true, "points": 14, "schema_version": 3, "solution": false, "task": false}
from selfcheck.notebook import check

check("multi_head")

# %% [markdown]
# ## Stop 5. The feed-forward network: think about what you have (Week 8 §5 and §6)
#
# Attention fetches from other rows. The FFN works on each row by itself, with the same weights everywhere: widen to 16
# features, bend, come back to 4. A test of that difference: change every number of position 0 and watch position 1.
# **Guess** which of the two outputs moves.

# %%
changed = ln1_rows.clone()
changed[:, 0] = torch.tensor([1.0, -2.0, 0.5, 0.5])
for name, layer in (("attention", teaching_attention()), ("FFN", teaching_ffn())):
    moved = (layer(changed) - layer(ln1_rows))[:, 1].abs().max()
    print(f"{name:9} position 1 moves by at most {moved:.4f}")

# %% [markdown]
# **Seen.** Attention hears the change, the FFN does not. (In your module dropout would be random in training; here it
# is off.) What the FFN can do instead is bend. GELU multiplies x by the share of a normal distribution that lies below
# x. **Before you run it:** is GELU(2) above or below 2, and what is GELU(-1) next to ReLU's 0?

# %%
from feed_forward import gelu

points = torch.tensor([-1.0, 0.0, 1.0, 2.0])
beside("Week 8 §6: GELU at -1, 0, 1, 2", ("GELU", [-0.159, 0.000, 0.841, 1.954], gelu(points)), digits=3)
print("(The course prints 1.955 for the last one: 1.9545 was rounded twice.)")

x = torch.linspace(-4, 4, 201)
z = ln1_rows[0, 1]
left, right = pictures(2)
left.plot(x, x.clamp(min=0), color=GREY, linestyle="--", label="ReLU")
left.plot(x, gelu(x), color=BLUE, linewidth=2, label="GELU")
left.plot(points, gelu(points), "o", color=RED, label="the table's points")
left.axhline(0, color="black", linewidth=0.5)
left.set(title="A smooth bend", xlabel="x before", ylabel="value after")
left.legend()
bars(right, ["0", "1", "2", "3"], {"before GELU": z, "after GELU": gelu(z)}, "One row: like@1 after LN1", "value")
right.set_xlabel("feature")
right.axhline(0, color="black", linewidth=0.5)
right.margins(y=0.15)
plt.show()

# %% [markdown]
# **Seen.** Far to the right GELU is x itself, far to the left it is 0, and around 0 it passes over without a corner;
# a little of a negative number survives. In the row on the right the large positive feature keeps most of its size and
# the large negative one nearly vanishes.
#
# The teaching weights copy features one to one, which hides that an FFN *mixes* them. Week 8 §5 changes a single weight
# so that feature 1 also reaches hidden unit 0. With z = [1, 2, 0, 0]: **what is the first hidden number now, and which
# of the four outputs change?**

# %%
from feed_forward import gelu

ffn, mixing = teaching_ffn(), teaching_ffn()
mixing.expand.weight[0, 1] = 1.0  # W1[1,0] of the course: nn.Linear stores the transpose
z = torch.tensor([1.0, 2.0, 0.0, 0.0])
hidden = [layer.expand(z)[0] for layer in (ffn, mixing)]
outputs = [layer(z) for layer in (ffn, mixing)]
beside(
    "Week 8 §5: one weight changed, before and after the change",
    ("first hidden number", [1.0, 3.0], hidden),
    ("after GELU", [0.841345, 2.995950], gelu(torch.stack(hidden))),
    ("first output", [0.210336, 0.748988], [output[0] for output in outputs]),
    digits=6,
)
print("all outputs before:", row(outputs[0]), "\nall outputs after: ", row(outputs[1]))

# %% [markdown]
# **Seen.** The first output now depends on two features, z0 + z1 = 3 before the bend. The other three did not move.
#
# Now the row that the block will really send through: prompt A's like@1 after the second LayerNorm. And a question on
# the side: if the FFN had no bend, doubling its input would double its output. **Does it?**

# %%
from feed_forward import gelu

ffn = teaching_ffn()
z = torch.tensor([1.247618, 0.264361, -1.540365, 0.028386])
hidden, update, doubled = ffn.expand(z), ffn(z), ffn(2 * z)
beside(
    "Week 8 §6: prompt A, last position",
    ("first 4 of 16 hidden", [1.2476, 0.2644, -1.5404, 0.0284], hidden[:4]),
    ("after GELU", [1.1153, 0.1597, -0.0951, 0.0145], gelu(hidden[:4])),
    ("FFN update", [0.2788, 0.0399, -0.0238, 0.0036], update),
)
print("(After GELU the course prints 1.1152, 0.1596, -0.0952, 0.0144: four times the rounded update.)")
print("\noutput for 2·z over output for z:", row(doubled / update))

# %% [markdown]
# **Seen.** None of the ratios is 2. Take GELU away (the biases are zero here) and all of them are: two linear layers in
# a row are one linear layer, however wide the middle is.

# %% quiz="s05_one_weight"

# %% nbgrader={"grade": true, "grade_id": "feed_forward", "locked": true, "points": 10, "schema_version": 3, "solution": false, "task": false}
from selfcheck.notebook import check

check("feed_forward")

# %% [markdown]
# ## Stop 6. The residual stream: add, do not replace (Week 8 §7 and §8)
#
# A branch never returns the new state. It returns a *change*, and the change is added to what was there. (You write
# `add_residual` at the top of `transformer_block.py`; the class below it can wait until stop 8.)
#
# Prompt A's like@1 starts as [0.50, 0.30, -0.15, 0.20]; attention's update is [0.9944, 0.1092, -1.4326, -0.0512].
# **Predict** the third number of the sum.

# %% nbgrader={"grade": false, "grade_id": "predict_residual_number", "locked": false, "schema_version": 3, "solution": true, "task": false}
predicted_number = None  # a number with four decimals
### BEGIN SOLUTION
predicted_number = -1.5826
### END SOLUTION

# %%
from transformer_block import add_residual

stream = torch.tensor([0.5, 0.3, -0.15, 0.2])
update = torch.tensor([0.994419, 0.109223, -1.432610, -0.051217])
after = add_residual(stream, update)
judge(predicted_number, round(float(after[2]), 4))
print()
beside("Week 8 §7: prompt A, like@1", ("residual_after_attention", [1.4944, 0.4092, -1.5826, 0.1488], after))

x = torch.tensor(2.0, requires_grad=True)
add_residual(x, 0.1 * x).backward()
print("\nslope of x + 0.1·x:", round(float(x.grad), 4))

try:
    add_residual(torch.zeros(2, 2, 4), torch.zeros(2, 2, 16))
except ValueError as error:
    print("adding [2,2,16] to [2,2,4]: ValueError:", error)

# %% [markdown]
# **Seen.** Same shape, sum element by element. The slope is 1.1: 1 from the direct path, 0.1 from the branch. And the
# FFN's middle, 16 wide, does not fit onto a stream 4 wide, which is why its second layer goes back to 4.
#
# What is the direct path good for? Take 24 small branches in a row, tanh(x @ W) with random W. Once each branch
# replaces the state, once it is added to it. **Before you run it:** what remains of the state, and of the gradient on
# its way back, after 24 replacements?

# %%
from transformer_block import add_residual


def depth_test(combine, depth=24, width=64):
    """Size of the state at each depth, and of the gradient that arrives there from the end."""
    generator = torch.Generator().manual_seed(0)
    states = [torch.randn(1, width, generator=generator, requires_grad=True)]
    for _ in range(depth):
        weight = torch.randn(width, width, generator=generator) * 0.5 / math.sqrt(width)
        states.append(combine(states[-1], torch.tanh(states[-1] @ weight)))
        states[-1].retain_grad()
    (states[-1] * torch.randn(1, width, generator=generator)).sum().backward()
    return [float(state.norm()) for state in states], [float(state.grad.norm()) for state in states]


with_path = depth_test(add_residual)
without = depth_test(lambda state, update: update)
axes = pictures(2)
for axis, what, title, corner in (
    (axes[0], 0, "Forward: the state", "lower left"),
    (axes[1], 1, "Backward: its gradient", "lower right"),
):
    axis.semilogy(with_path[what], color=BLUE, linewidth=2, label="added to the stream")
    axis.semilogy(without[what], color=RED, linewidth=2, linestyle="--", label="replaces the state")
    axis.set(title=title, xlabel="depth (branches passed)", ylabel="Euclidean norm, log scale")
    axis.legend(loc=corner)
plt.show()
print(f"state after 24:        added {with_path[0][-1]:.1f}, replaced {without[0][-1]:.1e}")
print(f"gradient at the start: added {with_path[1][0]:.1f}, replaced {without[1][0]:.1e}")

# %% [markdown]
# **Seen.** Replaced, the state and the gradient both shrink by about a half per branch (the 0.5 in the code) until
# almost nothing is left. Added, both keep their size and even grow. That is help, not a guarantee; try 1.5 instead of
# 0.5. And a stream that only ever grows has a price of its own, which stop 10 comes back to.
#
# ## Stop 7. LayerNorm: every row on the same scale (Week 8 §9)
#
# A row is shifted to mean 0 and divided by its own spread. By hand for [1, 2, 3, 4]: mean 2.5; deviations -1.5, -0.5,
# 0.5, 1.5; their squares average to 1.25 (divide by four, not three); the root of that is 1.118. **Before you run
# it:** what becomes of 100·x + 1000, that is [1100, 1200, 1300, 1400]?

# %%
from layer_norm import layer_norm

ones, zeros = torch.ones(4), torch.zeros(4)
x = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
beside(
    "Week 8 §9",
    ("[1, 2, 3, 4]", [-1.342, -0.447, 0.447, 1.342], layer_norm(x, ones, zeros)),
    ("100·x + 1000", [-1.342, -0.447, 0.447, 1.342], layer_norm(100 * x + 1000, ones, zeros)),
    digits=3,
)
print("γ = 2, β = 10:", row(layer_norm(x, 2 * ones, 10 * ones)[0], 3))
print("a row of fives:", row(layer_norm(torch.full((4,), 5.0), ones, zeros), 3))

# %% [markdown]
# **Seen.** Size and offset of a row are gone, its shape is kept. γ and β may bring a scale and an offset back, the same
# for all rows. And ε keeps a row without any spread at 0 instead of dividing by zero.
#
# Now the batch: `residual_0` goes in, the `ln1_rows` of the earlier stops must come out. **Before you run it:** like@1
# of prompt A and like@1 of prompt B have different neighbours. Do their normalized rows differ?

# %%
from layer_norm import layer_norm

normalized = layer_norm(course_residual_0, torch.ones(4), torch.zeros(4))
beside(
    "Week 8 §10: after LN1",
    ("A: you@0", [-0.2156, -1.2939, 1.5095, 0.0000], normalized[0, 0]),
    ("A: like@1", [1.2206, 0.3715, -1.5390, -0.0531], normalized[0, 1]),
    ("B: we@0", [-1.6731, 0.6591, 0.1521, 0.8619], normalized[1, 0]),
    ("B: like@1", [1.2206, 0.3715, -1.5390, -0.0531], normalized[1, 1]),
)

names = ["you@0", "like@1", "we@0", "[1,2,3,4]"]
before = torch.stack([*course_residual_0[0], course_residual_0[1, 0], torch.tensor([1.0, 2.0, 3.0, 4.0])])
axes = pictures(2)
for axis, values, title in (
    (axes[0], before, "Before LayerNorm"),
    (axes[1], layer_norm(before, torch.ones(4), torch.zeros(4)), "After LayerNorm"),
):
    values = values.detach()
    for feature, (marker, colour) in enumerate(zip("osD^", (BLUE, RED, GREEN, "black"), strict=True)):
        axis.plot(range(4), values[:, feature], marker, color=colour, label=f"feature {feature}")
    for place, mean in enumerate(values.mean(dim=1).tolist()):
        axis.plot([place - 0.25, place + 0.25], [mean, mean], color=GREY, label=None if place else "mean of the row")
    axis.set_xticks(range(4), names)
    axis.axhline(0, color="black", linewidth=0.5)
    axis.set(title=title, ylabel="value", ylim=(-2.2, 4.4))
    axis.margins(x=0.15)
axes[0].legend(fontsize=8, loc="upper left")
plt.show()

# %% [markdown]
# **Seen.** Every mean now lies on 0 and every row is spread over about the same width, yet within a row the order of
# the four features is the same as before. The two like@1 rows are equal: a row's statistics come from its own four
# numbers and from nothing else, no neighbour and no other prompt.

# %% quiz="s09_spread"

# %% nbgrader={"grade": true, "grade_id": "layer_norm", "locked": true, "points": 10, "schema_version": 3, "solution": false, "task": false}
from selfcheck.notebook import check

check("layer_norm")

# %% [markdown]
# ## Stop 8. The block, number by number (Week 8 §10 and §11)
#
# All parts are there. A pre-norm block reads the stream through a norm, computes, and adds the result to the stream it
# read from, twice: `r_A = r_0 + Attention(LN1(r_0))`, then `r_F = r_A + FFN(LN2(r_A))`.
#
# The next cell listens in on *your* block and compares the rows of like@1 of both prompts at each of these stages:
# `residual_0`, `ln1`, `attention_update`, `residual_after_attention`, `ln2`, `ffn_update`, `residual_after_ffn`.
# **Predict** the first stage at which the two prompts differ.

# %% nbgrader={"grade": false, "grade_id": "predict_first_difference", "locked": false, "schema_version": 3, "solution": true, "task": false}
predicted_stage = None  # one of the seven names
### BEGIN SOLUTION
predicted_stage = "attention_update"
### END SOLUTION

# %%
from layer_norm import layer_norm

output, heard = listen(teaching_block(), course_residual_0)
stages = {
    "residual_0": heard["ln1"][0],
    "ln1": heard["ln1"][1],
    "attention_update": heard["attention"][1],
    "residual_after_attention": heard["ln2"][0],
    "ln2": heard["ln2"][1],
    "ffn_update": heard["ffn"][1],
    "residual_after_ffn": output,
    "after the final norm": layer_norm(output, torch.ones(4), torch.zeros(4)),
}
differs = [name for name, x in stages.items() if not torch.allclose(x[0, 1], x[1, 1], atol=1e-6)]
judge(predicted_stage, differs[0] if differs else "none")

course = {
    "residual_0": ([0.5000, 0.3000, -0.1500, 0.2000], [0.5000, 0.3000, -0.1500, 0.2000]),
    "ln1": ([1.2206, 0.3715, -1.5390, -0.0531], [1.2206, 0.3715, -1.5390, -0.0531]),
    "attention_update": ([0.9944, 0.1092, -1.4326, -0.0512], [0.9847, 0.3949, -1.3141, 0.0686]),
    "residual_after_attention": ([1.4944, 0.4092, -1.5826, 0.1488], [1.4847, 0.6949, -1.4641, 0.2686]),
    "ln2": ([1.2476, 0.2644, -1.5404, 0.0284], [1.1475, 0.4158, -1.5843, 0.0209]),
    "ffn_update": ([0.2788, 0.0399, -0.0238, 0.0036], [0.2508, 0.0687, -0.0224, 0.0027]),
    "residual_after_ffn": ([1.7732, 0.4492, -1.6064, 0.1524], [1.7356, 0.7637, -1.4865, 0.2713]),
    "after the final norm": ([1.3128, 0.2134, -1.4933, -0.0330], [1.2100, 0.3787, -1.5462, -0.0425]),
}
for prompt, name in enumerate(("prompt A, you like", "prompt B, we like")):
    print()
    beside(f"Week 8 §10: {name}, last position", *((s, course[s][prompt], stages[s][prompt, 1]) for s in stages))

# %% [markdown]
# **Seen.** Equal, equal, and then attention writes the difference in. Everything after it carries the difference on:
# the addition, the second norm, the FFN. The final norm stands once after all blocks; it is listed here because Week 8
# §10 lists it.
#
# ### What if the norms stood behind the additions?
#
# The first Transformers did it so (*post-norm*): `x = LN(x + branch(x))`. Below is that order with the parts of your
# own block. First test: both branches are silenced, their output weights set to 0, so that every update is zero. **What
# should a block do to the stream then?**


# %%
def post_norm(block, x):
    """The parts of your block in the other order: add, then normalize."""
    middle = block.ln1(x + block.attention(x))
    return block.ln2(middle + block.ffn(middle))


def silent_block():
    """A block whose two branches always answer with zeros."""
    block = teaching_block()
    block.attention.output.weight.zero_()
    block.ffn.project.weight.zero_()
    return block


silent = silent_block()
for title, x in (("like@1", course_residual_0), ("10 × like@1", 10 * course_residual_0)):
    print(f"{title:12} stream in          {row(x[0, 1])}")
    print(f"{'':12} pre-norm gives     {row(silent(x)[0, 1])}")
    print(f"{'':12} post-norm gives    {row(post_norm(silent, x)[0, 1])}")

# %% [markdown]
# **Seen.** With nothing to add, the pre-norm block hands the stream through untouched, ten times larger if it came in
# ten times larger. The post-norm block rewrites it even so, and afterwards nobody can tell like@1 from ten times
# like@1.
#
# Second test: the way back. We send the gradient [1, -1, 2, 0.5] into the output row of like@1 and look at what arrives
# at the stream below. The branches are still silent, so all of it takes the direct path. **Guess** under which order it
# arrives as it was sent.

# %%
silent = silent_block()
sent = torch.tensor([1.0, -1.0, 2.0, 0.5])
print(f"{'':29}{row(sent)}  sent")
for factor in (1, 10):
    for name, order in (("pre-norm", silent), ("post-norm", lambda x: post_norm(silent, x))):
        start = (factor * course_residual_0).requires_grad_()
        (order(start)[0, 1] * sent).sum().backward()
        print(f"{f'{factor} × like@1, {name}':29}{row(start.grad[0, 1])}  arrives")

# %% [markdown]
# **Seen.** Under pre-norm the gradient arrives as it was sent, whatever the stream: the direct path has slope 1. Under
# post-norm it had to pass both norms. They cut away what points along the mean or along the row itself and divide the
# rest by the row's spread, so ten times the row gets a tenth of the gradient. In a deep stack there are two more norms
# to pass with every block.
#
# Pre-norm pays for its free path: nothing ever brings the stream back to size. Stop 10 shows what that comes to.

# %% nbgrader={"grade": true, "grade_id": "transformer_block", "locked": true, "points": 12, "schema_version": 3, "solution": false, "task": false}
from selfcheck.notebook import check

check("transformer_block")

# %% [markdown]
# ## Stop 9. The bridge: one part at a time (Week 8, unit 4)
#
# Here is the way from Week 7's single head to the full block, one part per step. For every step the cell prints the
# last row of both prompts and how far apart they are. **Before you run it:** at which step does the distance leave 0?
# And which later step leaves it exactly as it is?

# %%
from embedding import embed
from layer_norm import layer_norm
from masked_softmax import attention, causal_mask
from transformer_block import add_residual

ones, zeros, seen = torch.ones(4), torch.zeros(4), causal_mask(2)
words = token_table[token_ids]
x = embed(token_ids, token_table, position_table)
z = layer_norm(x, ones, zeros)
update = teaching_attention()(z)
block = teaching_block()(x)
steps = {
    "token rows alone": words,
    "+ position rows": x,
    "+ one causal head": attention(x, x, x, seen)[0],
    "+ LayerNorm before it": attention(z, z, z, seen)[0],
    "+ second head, merged": update,
    "+ residual addition": add_residual(x, update),
    "+ LN2, FFN, addition": block,
    "+ final norm": layer_norm(block, ones, zeros),
}
print(f"{'':22}  {'like@1 after you':>35}   {'like@1 after we':>35}   distance")
for name, rows in steps.items():
    print(f"{name:22}  {row(rows[0, 1])}   {row(rows[1, 1])}   {(rows[0, 1] - rows[1, 1]).norm():8.4f}")
print()
hidden = steps["+ final norm"]
beside(
    "The end of the bridge against Week 8 §10",
    ("prompt A", [1.3128, 0.2134, -1.4933, -0.0330], hidden[0, 1]),
    ("prompt B", [1.2100, 0.3787, -1.5462, -0.0425], hidden[1, 1]),
)

# %% [markdown]
# **Seen.** The distance is 0 until the causal head comes in, and never 0 again. One head on normalized rows looks
# mostly at its own word, so the prompts come closer; the second head finds more to tell apart. The residual addition
# adds the same `residual_0` to both rows and leaves their distance as it is. The FFN widens it a little, working on
# rows that already differ, and the final norm brings both rows to one scale.
#
# All eight rows have four numbers. None of them is a score for a word yet: the output of a block is a row of features,
# and the five vocabulary scores are made from it only at stop 11.

# %% [markdown] nbgrader={"grade": false, "grade_id": "question_mixing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Explain 1: where does the difference get in? (5 points)
#
# In `residual_0` the rows of like@1 are equal in both prompts; at the end of the block they are not. Explain which
# operation brings you or we into position 1 and which operations cannot, and why. Refer to something you saw above.
#
# - 2 points: naming causal attention, and how it does it: the last query weighs the values of positions 0 and 1, and
#   position 0 differs between the prompts
# - 1 point: saying that LayerNorm, FFN and the residual addition work on each position's own row, so that equal rows
#   stay equal
# - 1 point: saying why these three nevertheless show different numbers after attention: they pass on a difference that
#   is already in their row
# - 1 point: naming evidence from a run: the stage table, the bridge's distances, or the test that changed position 0

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_mixing", "locked": false, "points": 5, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# Only causal attention reads other rows. The query of like@1 is scored against the keys of positions 0 and 1, the
# scores become weights, and the output is the weighted sum of the two values. Position 0 holds you in one prompt and we
# in the other, so its key (hence the weights) and its value differ, and the two updates differ.
#
# LayerNorm takes mean and spread from the four numbers of one row, the FFN applies the same function to one row, and
# the residual addition adds entry to entry at the same position. Given equal rows they return equal rows, so none of
# them could have brought the difference in. After attention their results do differ, but only because their own input
# row already does.
#
# In the stage table ln1 of like@1 is equal in both prompts and attention_update is the first stage that is not. When
# position 0 was changed at stop 5, attention's output at position 1 moved and the FFN's did not.
# ### END SOLUTION

# %% [markdown]
# ## Stop 10. A stack of blocks (Week 8 §12)
#
# A block takes [B,T,C] and gives [B,T,C], so the next block can start where it ended. Your `MiniGPT` stacks
# `num_layers` of them, each with weights of its own; here six, random and untrained. **Before you run it:** will the
# rows grow from block to block, and which length will the final norm give them? (Four numbers with mean 0 and variance
# 1: the squares add up to 4.)

# %%
from lm_head import MiniGPT

model = fill(MiniGPT(vocab_size=5, context_length=8, model_dim=4, num_heads=2, num_layers=6, dropout=0.0), seed=7)
logits, heard = listen(model.eval(), token_ids)
print(f"{'':12}  shape       {'like@1 of prompt A':>35}   mean length of the four rows")
stream = {"residual_0": heard["blocks.0"][0]}
stream |= {name: heard[name][1] for name in [*(f"blocks.{n}" for n in range(6)), "final_norm"]}
for name, x in stream.items():
    print(f"{name:12}  {list(x.shape)}   {row(x[0, 1])}   {x.norm(dim=-1).mean():.2f}")

chained = all(torch.equal(heard[f"blocks.{n}"][1], heard[f"blocks.{n + 1}"][0]) for n in range(5))
first, second = model.blocks[0], model.blocks[1]
shared = {id(p) for p in first.parameters()} & {id(p) for p in second.parameters()}
small = MiniGPT(vocab_size=5, context_length=8, model_dim=4, num_heads=2, num_layers=2, dropout=0.0)
print("\neach block reads what the one before it wrote:", chained)
print("parameters that the first two blocks share:", len(shared))
print("parameters of one block:", sum(p.numel() for p in first.parameters()))
print("parameters of Week 8 §14's model with 2 blocks:", sum(p.numel() for p in small.parameters()))

# %% [markdown]
# **Seen.** Twelve additions later the rows are almost four times as long as at the start; the final norm makes all of
# them √4 = 2 long. It is no third branch: nothing is added to the stream after it. The second block
# reads the first one's output, not the embeddings, and shares no weight with it.

# %% [markdown] nbgrader={"grade": false, "grade_id": "question_pre_norm", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ### Explain 2: why add, and why normalize before the branch? (5 points)
#
# Somebody moves both norms of every block behind the additions: `x = LN(x + branch(x))`. Explain what the stream loses
# by that on the way forward, and the gradient on the way back, compared with your block; and why your pre-norm model
# needs one more norm after its last block. Refer to something you saw above.
#
# - 2 points: what the direct path carries: the raw stream in pre-norm (silent branches change nothing), a stream that
#   is normalized again at every addition in post-norm, so that its scale and offset are lost
# - 2 points: what that means backwards: the added x contributes a slope of 1 to every block, so that a gradient reaches
#   the first block beside the branches; in post-norm it has to pass every norm on its way
# - 1 point: what the final norm is for: the pre-norm stream grows from block to block, and the head should read rows of
#   one scale

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_pre_norm", "locked": false, "points": 5, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# In pre-norm the norm sits inside the branch. The direct path carries the stream as it is; with silent branches the
# block returned like@1 unchanged, and ten times like@1 as ten times like@1. In post-norm the sum itself is normalized,
# twice per block. The same silent block rewrote the row and made like@1 and ten times like@1 equal, so whatever the
# scale or the offset of the stream meant is gone after the first block.
#
# Backwards, y = x + F(x) has the slope 1 + F'(x): the 1 lets a gradient pass every block beside the branch. Without the
# addition only F' is left, and 24 small factors in a row leave almost nothing, as in the picture of stop 6. In
# post-norm a direct path exists too, but two norms per block stand on it, cut parts of the gradient away and divide the
# rest by the spread of the row. The direct path makes deep stacks easier to train; it does not promise that every
# gradient is stable.
#
# Since updates are only ever added, the pre-norm stream grows with depth, and by a different amount in each row. The
# final norm gives the head rows of one scale. Without it, the logits would depend on how many blocks happened to push
# in the same direction.
# ### END SOLUTION

# %% [markdown]
# ## Stop 11. From a row to five scores (Week 8 §13)
#
# Every word has a scoring vector of four numbers. Its logit is the dot product with the row after the final norm, plus
# a bias. For study that is [0, 3, -1, 0] · h + 0, so for prompt A about 3·0.2134 + 1.4933. **Before you run it:** do it
# for prompt B, whose h is [1.2100, 0.3787, -1.5462, -0.0425]. Is study's lead over the other words larger there?

# %%
from lm_head import vocabulary_logits

last_rows = torch.tensor([[[1.312805, 0.213430, -1.493277, -0.032958], [1.210034, 0.378658, -1.546155, -0.042537]]])
logits = vocabulary_logits(last_rows, head_weight, head_bias)[0]
from_model, _ = teaching_model()(token_ids)
print("candidates:", *vocabulary)
beside(
    "Week 8 §13: logits of the last position",
    ("prompt A", [1.1128, -2.7390, -1.5262, 2.1336, 1.7397], logits[0]),
    ("A, your whole model", [1.1128, -2.7390, -1.5262, 2.1336, 1.7397], from_model[0, -1]),
    ("prompt B", [1.0100, -2.6987, -1.5887, 2.6821, 1.9674], logits[1]),
    ("B, your whole model", [1.0100, -2.6987, -1.5887, 2.6821, 1.9674], from_model[1, -1]),
)

# %% [markdown]
# **Seen.** The head on the last rows and the whole model from token ids agree, and study's lead over we grows from 0.39
# to 0.71. Logits are raw scores; a softmax over the five words turns them into probabilities. **Before you look:** the
# same word wins in both prompts. Where will the probability that study gains in prompt B come from?

# %%
model_logits, _ = teaching_model()(token_ids)
probabilities = torch.softmax(model_logits[:, -1], dim=-1).detach()
beside(
    "Week 8 §13: probabilities after the last position",
    ("prompt A", [0.1742, 0.0037, 0.0124, 0.4835, 0.3261], probabilities[0]),
    ("prompt B", [0.1108, 0.0027, 0.0082, 0.5897, 0.2885], probabilities[1]),
)
print("(For we in prompt B the course prints 0.2886; the value is 0.288549, and its own program prints 0.2885.)")

(axis,) = pictures(1, width=7.5)
bars(
    axis,
    vocabulary,
    {"after you like": probabilities[0], "after we like": probabilities[1]},
    "What comes next? (untrained teaching weights)",
    "probability",
    digits=3,
)
axis.set_xlabel("candidate")
axis.margins(y=0.12)
plt.show()

# %% [markdown]
# **Seen.** study wins both times, but not by the same margin: prompt B takes from you and we and gives to study. The
# top word alone would have hidden that the context matters. None of this is sensible language yet, the weights are made
# up.
#
# ## Stop 12. The whole way, shape by shape (Week 8 §14)
#
# A forward pass of your model with two blocks, once with targets. Targets are the inputs moved by one: after you comes
# like, after "you like" comes AI; after we comes like, after "we like" comes you. Cross-entropy takes a list of
# independent predictions, so the batch and time axes are laid end to end first.
#
# **Predict** the two shapes that enter cross-entropy, that of the scores and that of the targets.

# %% nbgrader={"grade": false, "grade_id": "predict_loss_shapes", "locked": false, "schema_version": 3, "solution": true, "task": false}
predicted_shapes = None  # two tuples in a list: [(scores), (targets)]; a tuple of one number is written (7,)
### BEGIN SOLUTION
predicted_shapes = [(4, 5), (4,)]
### END SOLUTION

# %%
from lm_head import MiniGPT, next_token_loss

targets = torch.tensor([[1, 2], [1, 0]])  # like AI, like you
model = fill(MiniGPT(vocab_size=5, context_length=8, model_dim=4, num_heads=2, num_layers=2, dropout=0.0), seed=2)
(logits, loss), heard = listen(model.eval(), token_ids, targets)
count, words = logits.shape[0] * logits.shape[1], logits.shape[2]
judge(predicted_shapes, [(count, words), (count,)])

print()
for name, (_, result) in heard.items():
    if name.count(".") < 2:  # the model's parts, not the parts of its parts
        print(f"{name:24}{list(result.shape)}")
print(f"{'logits':24}{list(logits.shape)}")
print(f"{'for cross-entropy':24}{[count, words]} and {[count]}")
print(f"{'loss':24}{list(loss.shape)}, a scalar: {loss:.4f}")
print(f"{'for the next word':24}{list(logits[:, -1].shape)}, the last position only")

print("\none prediction at a time (the others do not count):")
for b, t in ((0, 0), (0, 1), (1, 0), (1, 1)):
    single = torch.full_like(targets, -100)
    single[b, t] = targets[b, t]
    text = " ".join(vocabulary[i] for i in token_ids[b, : t + 1].tolist())
    print(f"  {text:8} → {vocabulary[targets[b, t]]:4}  loss {next_token_loss(logits, single):.4f}")
print(f"all scores equal:   loss {next_token_loss(torch.zeros(2, 2, 5), targets):.4f} = ln 5")
try:
    model(torch.zeros(1, 9, dtype=torch.int64))
except ValueError as error:
    print("nine tokens in a context of eight: ValueError:", error)

# %% [markdown]
# **Seen.** The stream is [2,2,4] all the way; the head alone leaves C for V. Each of the B·T = 4 positions is a
# prediction of its own, and the loss is their mean. A model that rates all words alike pays ln 5 = 1.6094; random
# weights are worse, since they are sure of wrong words. To write on, only the last position is needed.

# %% quiz="s14_into_the_loss"

# %% nbgrader={"grade": true, "grade_id": "lm_head", "locked": true, "points": 12, "schema_version": 3, "solution": false, "task": false}
from selfcheck.notebook import check

check("lm_head")

# %% [markdown]
# ## Stop 13. Training (Week 8 §14 and §16, Day 3 ch. 8)
#
# Now the weights are learned. The data is the toy batch of stop 12, the model has 16 features and two blocks. Beside it
# we train a *deaf* twin: the same model, but the output weights of its attention are 0 and stay 0, so that no position
# ever hears of another.
#
# **Before you run it:** the listening model can get every word right. What is the best that the deaf one can reach? It
# sees the same row at like@1 whichever prompt it reads, yet AI is right in one and you in the other. The other two
# predictions are easy for both.

# %%
from lm_head import MiniGPT
from training import estimate_loss, learning_rate, train

STEPS, PEAK = 100, 0.01
batch = (token_ids, torch.tensor([[1, 2], [1, 0]]))


def toy_model():
    """A small model with fixed random weights."""
    return fill(MiniGPT(vocab_size=5, context_length=8, model_dim=16, num_heads=2, num_layers=2, dropout=0.0), seed=5)


def deafen(model):
    """Silence the attention of all blocks for good."""
    for block in model.blocks:
        block.attention.output.weight.data.zero_()
        block.attention.output.weight.requires_grad_(False)
    return model


def rate(step):
    return learning_rate(step, peak=PEAK, warmup_steps=10, total_steps=STEPS)


def practise(model):
    """Train with your loop; the losses, one for each step."""
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=PEAK, weight_decay=0.0)
    return train(model, optimizer, lambda: batch, rate, total_steps=STEPS, max_norm=1.0)


listening, deaf = toy_model(), deafen(toy_model())
losses = {"listening": practise(listening), "deaf": practise(deaf)}

left, right = pictures(2, width=10)
left.plot([rate(step) for step in range(STEPS)], color=BLUE, linewidth=2)
left.set(title="Warm-up, then half a cosine", xlabel="step", ylabel="learning rate", ylim=(0, None))
right.plot(losses["listening"], color=BLUE, linewidth=2, label="with attention")
right.plot(losses["deaf"], color=RED, linewidth=2, linestyle="--", label="attention silenced")
right.axhline(math.log(5), color=GREY, linewidth=1, linestyle=":")
right.axhline(math.log(2) / 2, color=GREY, linewidth=1, linestyle=":")
right.text(STEPS, math.log(5) + 0.02, "ln 5: knows nothing", ha="right", va="bottom", color=GREY)
right.text(STEPS, math.log(2) / 2 + 0.04, "(ln 2)/2: cannot tell you from we", ha="right", va="bottom", color=GREY)
right.set(title="Loss on the toy batch", xlabel="step", ylabel="nats per prediction", ylim=(0, None))
right.legend(loc="upper center")
plt.show()

print("candidates:", *vocabulary)
for name, model in (("with attention", listening), ("deaf", deaf)):
    guesses = torch.softmax(model(token_ids)[0][:, -1], dim=-1)
    print(f"{name}: loss in evaluation mode {estimate_loss(model, [batch]):.4f}")
    print(f"  after you like {row(guesses[0], 3)}\n  after we like  {row(guesses[1], 3)}")

# %% [markdown]
# **Seen.** With attention the loss goes to almost 0. Without it the loss comes to rest at (ln 2)/2 = 0.3466: two
# predictions cost nothing, and at like@1 the best that can be said is "AI or you, half and half", which costs ln 2 each
# time. No amount of training helps, because the word that would decide stands at position 0 and nothing brings it over.
# Everything else in the model was trained in the same way both times.
#
# Two details of your loop, in numbers. A learning rate that starts at 0 would waste its first step; the course's
# formula starts at peak/warmup. And clipping scales all gradients by one factor, so that their direction stays.
# **Guess:** a gradient [3, 4] and a limit of 1.

# %%
from training import clip_gradients

weight = torch.nn.Parameter(torch.zeros(2))
weight.grad = torch.tensor([3.0, 4.0])
norm = clip_gradients([weight], max_norm=1.0)
beside("Day 3 ch. 8: clipping", ("norm before", [5.0], norm), ("gradient after", [0.6, 0.8], weight.grad), digits=1)
rates = [1e4 * learning_rate(step, peak=3e-4, warmup_steps=500, total_steps=10_000) for step in (0, 499, 10_000)]
print()
beside("Day 3 ch. 8: rate at steps 0, 499 and 10000, times 10000", ("rate", [0.006, 3.0, 0.3], rates), digits=3)

# %% nbgrader={"grade": true, "grade_id": "training", "locked": true, "points": 10, "schema_version": 3, "solution": false, "task": false}
from selfcheck.notebook import check

check("training")

# %% [markdown]
# ## Stop 14. Choosing the next word (Week 8 §14, Day 3 ch. 7 and 8)
#
# The scores are divided by a temperature before the softmax. Take prompt A's five logits from stop 11 and the three
# temperatures 0.5, 1 and 2.
#
# **Predict** the order of the temperatures by the probability of study, the top word: from the temperature that gives
# it most to the one that gives it least.

# %% nbgrader={"grade": false, "grade_id": "predict_temperature_order", "locked": false, "schema_version": 3, "solution": true, "task": false}
predicted_order = None  # such as [1, 0.5, 2]
### BEGIN SOLUTION
predicted_order = [0.5, 1, 2]
### END SOLUTION

# %%
from sampling import temperature_probabilities

logits = torch.tensor([[1.1128, -2.7390, -1.5262, 2.1336, 1.7397]])  # prompt A, Week 8 §13
spread = {t: temperature_probabilities(logits, t)[0] for t in (0.5, 1.0, 2.0)}
judge(predicted_order, sorted(spread, key=lambda t: -float(spread[t][3])))

(axis,) = pictures(1, width=8)
bars(
    axis,
    vocabulary,
    {f"temperature {t:g}": probabilities for t, probabilities in spread.items()},
    "The same five scores at three temperatures (after you like)",
    "probability",
)
axis.set_xlabel("candidate")
axis.margins(y=0.12)
plt.show()
for t, p in spread.items():
    print(f"temperature {t:3}: {row(p)}   entropy {-(p * p.log()).sum():.3f} nats")
print(f"temperature   0: {row(temperature_probabilities(logits, 0.0)[0])}   all on the best")

# %% [markdown]
# **Seen.** The order of the words never changes, only how much they differ: a low temperature sharpens, a high one
# flattens, and 0 is a plain argmax.
#
# Then one word is drawn. **Guess** before you run: of 2000 draws at temperature 1, about how many are study?

# %%
from sampling import sample_next

logits = torch.tensor([[1.1128, -2.7390, -1.5262, 2.1336, 1.7397]])
drawn = sample_next(logits.repeat(2000, 1), 1.0, torch.Generator().manual_seed(0))
counts = torch.bincount(drawn.flatten(), minlength=5)
print("drawn", list(drawn.shape), "one word for each row")
for word, count, p in zip(vocabulary, counts.tolist(), torch.softmax(logits[0], dim=-1).tolist(), strict=True):
    print(f"  {word:6} {count:5} draws, {2000 * p:6.1f} expected")

# %% [markdown]
# **Seen.** Draws follow the probabilities up to chance; with the same generator you get the same draws again.
#
# A text grows by appending a word and asking again. The teaching model knows two places only: when the text is longer,
# it is shown the last two words, while the text itself stays whole. **Before you run it:** what shape do two prompts of
# two words have after four more?

# %%
from sampling import generate

text = generate(teaching_model(), token_ids, max_new_tokens=4, context_length=2, temperature=0.0)
print("shape:", list(text.shape))
for ids in text.tolist():
    print("  teaching weights, temperature 0:", " ".join(vocabulary[i] for i in ids))

learned = toy_model()
practise(learned)
for ids in generate(learned, token_ids, max_new_tokens=1, context_length=8, temperature=0.0).tolist():
    print("  trained on the toy batch:       ", " ".join(vocabulary[i] for i in ids))

# %% [markdown]
# **Seen.** The prompts stay in front and the model's words follow. The teaching model goes on in the same way after
# both prompts: once it is shown "like study" only, you and we are out of its sight. The trained model answers as it was
# taught, AI after "you like" and you after "we like". It never saw a fourth word, so we stop there.

# %% nbgrader={"grade": true, "grade_id": "sampling", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": false}
from selfcheck.notebook import check

check("sampling")

# %% quiz="s18_inventory"

# %% [markdown]
# ## What to take along (Week 8 §18)
#
# Say each of these in your own words, then look up the stop if you hesitate.
#
# - What does a position row add that a token row cannot say? (2, 3)
# - Which operation moves information from one position to another, and in which direction only? (3, 4, 9)
# - How do [B,T,C], [B,H,T,D] and back to [B,T,C] belong together? (4)
# - What does the FFN do to a row, and what can it not do? (5)
# - What does an addition to the stream keep that a replacement loses? (6)
# - Which numbers decide how a row is normalized, and where does the norm stand? (7, 8)
# - Which shapes do the blocks keep, and what changes at the head? (10 to 12)
#
# Week 8 §15 and §17 name relatives of what you built (encoders, rotary positions, caches of keys and values, other
# norms); none of them is needed here. Week 9 turns to where token ids come from.
