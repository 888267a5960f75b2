"""The lab's pictures: each from a table, with axes, units and a legend, for a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.faults import LabError
from lab.studies import NAME, WRITTEN, scaling_line
from lab.train import Trained

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Table = list[dict[str, Any]]
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#D55E00", "#009E73", "#CC3311", "#777777"
LOSS = "loss, nats per letter"


def figure(columns: int = 1, width: float = 7.0, height: float = 3.6) -> tuple[Figure, Sequence[Axes]]:
    """A figure with some panels side by side. Raises LabError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise LabError("pictures need matplotlib: python -m pip install matplotlib") from None
    made = Figure(figsize=(width, height), dpi=110, layout="constrained")
    panels = made.subplots(1, columns, squeeze=False)[0]
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.25)
        panel.set_axisbelow(True)
    return made, panels


def save(made: Figure, path: Path) -> Path:
    """Write a PNG. Raises LabError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        made.savefig(path)
    except OSError as error:
        raise LabError(f"{path} cannot be written: {error.strerror}") from None
    return path


def comparison(table: Table, trained: dict[str, list[Trained]]) -> Figure:
    """Measured losses beside those of the document, and how the Mini GPT and the MLPs came there."""
    made, (left, right) = figure(2, width=10.5, height=4.2)
    rows = range(len(table) - 1, -1, -1)
    errors = [row["standard_error"] or 0.0 for row in table]
    losses = [row["validation_loss"] for row in table]
    left.errorbar(losses, rows, xerr=errors, fmt="o", color=BLUE, capsize=4, label="measured, mean ± standard error")
    claims = [(float(row["document"]), at) for row, at in zip(table, rows, strict=True) if row["document"] is not None]
    left.plot(*zip(*claims, strict=True), "D", color=ORANGE, fillstyle="none", label="Day 3's document")
    left.set_yticks(list(rows), [f"{row['model']}\n{row['parameters']:,} parameters" for row in table], fontsize=8)
    left.set_xlabel(f"validation {LOSS}")
    left.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2, frameon=False)
    for number, (title, runs) in enumerate(trained.items()):
        if title == "neural bigram":
            continue
        style = {"color": f"C{number}", "linewidth": 1.4}
        for run in runs:
            late = [row for row in run.rows if row["step"] > 0]
            steps, values = [row["step"] for row in late], [row["validation_loss"] for row in late]
            right.plot(steps, values, **style, label=title if run is runs[0] else None)
    right.set_xlabel("steps")
    right.set_ylabel(f"validation {LOSS}")
    right.legend(fontsize=8)
    return made


def attention(table: Table) -> Figure:
    """A map for each head: the row reads, the column is read."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    layers, heads = (1 + max(row[key] for row in table) for key in ("layer", "head"))
    letters = [".", *NAME]
    made = Figure(figsize=(2.1 * heads + 0.8, 2.15 * layers + 0.4), dpi=100, layout="constrained")
    panels = made.subplots(layers, heads, squeeze=False, sharex=True, sharey=True)
    shades = Normalize(0.0, 1.0)
    for layer in range(layers):
        for head in range(heads):
            weights = [[math.nan] * len(letters) for _ in letters]
            for row in table:
                if (row["layer"], row["head"]) == (layer, head):
                    weights[row["place"]][row["reads_place"]] = row["weight"]
            panel = panels[layer, head]
            panel.imshow(weights, cmap="viridis", norm=shades)
            panel.set_xticks(range(len(letters)), letters)
            panel.set_yticks(range(len(letters)), letters)
            panel.set_title(f"block {layer + 1}, head {head + 1}", fontsize=9)
    made.supxlabel("letter that is read", fontsize=10)
    made.supylabel("letter that reads, to predict the next one", fontsize=10)
    made.suptitle(f'attention weights for "{NAME}" (. is the start)', fontsize=11)
    made.colorbar(ScalarMappable(shades, "viridis"), ax=panels, label="attention weight", shrink=0.6)
    return made


def sizes(table: Table) -> Figure:
    """Training and validation loss against the number of parameters."""
    made, (panel,) = figure()
    parameters = [row["parameters"] for row in table]
    _two_losses(panel, parameters, table)
    panel.set_xscale("log")
    for row in table:
        panel.annotate(row["model"], (row["parameters"], row["validation_loss"]), (0, 6), textcoords="offset points",
                       ha="center", fontsize=9)  # fmt: skip
    panel.set_xlabel("parameters")
    panel.set_ylabel(LOSS)
    panel.margins(y=0.2)
    panel.legend()
    return made


def temperature(table: Table) -> Figure:
    """Entropy, and what is new among the written names."""
    made, (left, right) = figure(2, width=9.0)
    degrees = [row["temperature"] for row in table]
    left.plot(degrees, [row["entropy"] for row in table], "o-", color=BLUE)
    left.axhline(table[0]["highest_entropy"], color=GREY, linestyle=":", label="all letters equally likely")
    left.set_ylabel("mean entropy of the next letter, nats")
    left.set_ylim(bottom=0)
    right.errorbar(degrees, [row["novel"] for row in table], [row["standard_error"] for row in table], fmt="o-",
                   color=ORANGE, capsize=3, label="not among the training names")  # fmt: skip
    right.plot(degrees, [row["different"] for row in table], "s--", color=GREEN, label="different from each other")
    right.plot(degrees, [row["known_elsewhere"] for row in table], "^:", color=BLUE, label="real, held out of training")
    right.set_ylabel(f"share of {WRITTEN:,} written names")
    right.set_ylim(0, 1.03)
    for panel in (left, right):
        panel.set_xlabel("temperature")
        panel.legend(fontsize=9)
    return made


def dropout(table: Table) -> Figure:
    """Both losses and the gap between them."""
    made, (left, right) = figure(2, width=9.0)
    rates = [row["dropout"] for row in table]
    _two_losses(left, rates, table)
    left.set_ylabel(LOSS)
    left.legend(fontsize=9)
    right.plot(rates, [row["gap"] for row in table], "o-", color=GREEN)
    right.axhline(0, color=GREY, linewidth=0.8)
    right.set_ylabel("validation minus training loss, nats")
    for panel in (left, right):
        panel.set_xlabel("dropout while training")
    return made


def positions(table: Table) -> Figure:
    """The loss at each place, and how far the others are from learned positions."""
    made, (left, right) = figure(2, width=9.0)
    kinds = {kind: [row for row in table if row["positions"] == kind] for kind in ("learned", "sinusoidal", "none")}
    learned = [row["loss"] for row in kinds["learned"]]
    for (kind, rows), (color, mark) in zip(kinds.items(), ((BLUE, "o-"), (ORANGE, "s--"), (GREEN, "^:")), strict=True):
        reached = [row for row in rows if row["predictions"] >= 100]  # beyond, the mean of a few names is noise
        places, losses = [row["place"] for row in reached], [row["loss"] for row in reached]
        left.plot(places, losses, mark, color=color, markersize=4,
                  label=f"{kind}: {rows[0]['validation_loss']:.3f} in all")  # fmt: skip
        if kind != "learned":
            right.plot(places, [a - b for a, b in zip(losses, learned, strict=False)], mark, color=color, markersize=4,
                       label=f"{kind} minus learned")  # fmt: skip
    left.set_ylabel(f"validation {LOSS}")
    right.set_ylabel("difference, nats per letter")
    right.axhline(0, color=GREY, linewidth=0.8)
    for panel in (left, right):
        panel.set_xlabel("place in the name")
        panel.legend(fontsize=9)
    return made


def scaling(table: Table) -> Figure:
    """Loss against parameters on two logarithmic axes, with the fitted line."""
    made, (panel,) = figure()
    slope, low, high = scaling_line(table)
    x, y = [row["parameters"] for row in table], [row["validation_loss"] for row in table]
    middle_x, middle_y = (math.exp(sum(map(math.log, values)) / len(values)) for values in (x, y))
    ends = [min(x) / 1.3, max(x) * 1.3]
    line = [middle_y * (end / middle_x) ** slope for end in ends]
    panel.loglog(x, y, "o", color=BLUE, label="measured")
    panel.loglog(ends, line, "--", color=ORANGE, label=f"slope {slope:.4f}, 95% interval {low:.4f} to {high:.4f}")
    for row in table:
        size, loss = row["parameters"], row["validation_loss"]
        beside = (0, 7) if loss > middle_y * (size / middle_x) ** slope else (0, -16)  # not on the line
        panel.annotate(f"C = {row['model_dim']}", (size, loss), beside,
                       textcoords="offset points", ha="center", fontsize=9)  # fmt: skip
    ticks = [round(value, 2) for value in (1.9, 1.95, 2.0, 2.05, 2.1, 2.15, 2.2, 2.25, 2.3, 2.35, 2.4)]
    ticks = [tick for tick in ticks if 0.985 * min(y) <= tick <= 1.015 * max(y)]
    panel.set_yticks(ticks, [f"{tick:.2f}" for tick in ticks])
    panel.set_yticks([], minor=True)
    panel.set_xlabel("parameters (logarithmic)")
    panel.set_ylabel("validation loss (logarithmic),\nnats per letter")
    panel.margins(y=0.15)
    panel.legend()
    return made


def _two_losses(panel: Axes, x: Sequence[float], table: Table) -> None:
    panel.plot(x, [row["validation_loss"] for row in table], "o-", color=BLUE, label="validation")
    panel.plot(x, [row["training_loss"] for row in table], "s--", color=ORANGE, label="training")
