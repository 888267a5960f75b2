"""`python -m lab`: train, compare, experiment, generate, speed."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from lab.faults import LabError, StoppedError
from lab.modules import own_fault, use_week08

if TYPE_CHECKING:
    from lab.runs import Runs
    from lab.train import Trained

# The parts of the lab that need torch are imported where they are used, so that --help answers at once.


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    main = argparse.ArgumentParser(prog="lab", description="Train, compare and measure the models of Day 3.")
    commands = main.add_subparsers(dest="command", metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--names", type=Path, metavar="FILE", help="another list of names, one on each line")
    common.add_argument("--modules", type=Path, metavar="DIR", help="week08's modules (default: ../week08)")
    common.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda", "mps"))
    common.add_argument("--out", type=Path, metavar="DIR", help="where results go (default: lab-out here)")

    train = commands.add_parser("train", parents=[common], help="train the Mini GPT, or go on after an interrupt")
    train.add_argument("--fast", action="store_true", help="the lab's own model: the same function, less time")
    train.add_argument("--seed", type=int, default=1337)
    train.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="changes",
                       help="another number, such as total_steps=2000; may be given several times")  # fmt: skip
    train.add_argument("--restart", action="store_true", help="forget what the folder holds")

    compare = commands.add_parser("compare", parents=[common], help="the models of Day 3 in one table and picture")
    length = compare.add_mutually_exclusive_group()
    length.add_argument("--quick", action="store_true", help="a twentieth of the steps: minutes (the default)")
    length.add_argument("--full", action="store_true", help="all steps, as Day 3 says")

    experiment = commands.add_parser("experiment", parents=[common], help="one of Day 3's experiments, measured")
    experiment.add_argument("name", help="attention, sizes, temperature, dropout, positions or scaling")
    experiment.add_argument("--full", action="store_true", help="train as long as Day 3 does")

    generate = commands.add_parser("generate", parents=[common], help="names from a trained model")
    generate.add_argument("--count", type=int, default=10, help="names at each temperature (default: 10)")
    generate.add_argument("--temperature", type=float, action="append", metavar="T",
                          help="may be given several times (default: 0.5 to 1.5)")  # fmt: skip
    generate.add_argument("--seed", type=int, default=0)

    commands.add_parser("speed", parents=[common], help="Day 3's code, week08's and the lab's fast model in turn")
    return main


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 2 something to put right first, 130 stopped."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")
    reader = parser()
    options = reader.parse_args(arguments)
    if options.command is None:
        reader.print_help()
        return 2
    try:
        if options.modules:
            use_week08(options.modules)
        COMMANDS[options.command](options)
    except LabError as error:
        return _say(f"{error}", 2)
    except StoppedError as error:
        return _say(f"{error}", 130)
    except KeyboardInterrupt:
        return _say("stopped; the same command goes on where the last checkpoint is", 130)
    except Exception as error:
        if sentence := own_fault(error):
            return _say(sentence, 2)
        raise
    return 0


def _say(sentence: str, code: int) -> int:
    print(f"lab: {sentence}", file=sys.stderr)
    return code


def train(options: argparse.Namespace) -> None:
    """`lab train`."""
    from lab.files import write_lines
    from lab.progress import Bar
    from lab.settings import Settings, changed
    from lab.tables import show
    from lab.train import train

    numbers = {"fast": options.fast, "seed": options.seed, **changed(options.changes)}
    out = options.out or Path("lab-out/train")
    trained = train(Settings(**numbers), options.names, out, options.device, options.restart, Bar("training"))
    show([{"part": part, "loss, nats per letter": loss} for part, loss in trained.losses.items()])
    print(f"{trained.parameters:,} parameters, {trained.tokens_per_second:,.0f} letters and ends a second")
    lines = list(_written(trained, 10))
    write_lines(out / "names.txt", lines)
    print("\n".join(lines), f"\nwritten to {out}: checkpoint.pt, metrics.csv, result.json, names.txt", sep="\n")


def _written(trained: Trained, count: int, temperatures: list[float] | None = None, seed: int = 0) -> list[str]:
    """A line for each temperature; a name that the training part holds has a star."""
    from lab.writing import TEMPERATURES, write_names

    known = set(trained.data.names["training"])
    lines = ["names by temperature (* stands in the training part)"]
    for temperature in temperatures or TEMPERATURES:
        names = write_names(trained.model, trained.data, count, temperature, seed)
        lines.append(f"{temperature:5.2f}  {' '.join(name + '*' * (name in known) for name in names)}")
    return lines


def generate(options: argparse.Namespace) -> None:
    """`lab generate`."""
    from lab.train import load

    if options.count < 1 or min(options.temperature or [0]) < 0:
        raise LabError("--count must be at least 1 and --temperature at least 0")
    trained = load(options.out or Path("lab-out/train"), options.names)
    print("\n".join(_written(trained, options.count, options.temperature, options.seed)))


def compare(options: argparse.Namespace) -> None:
    """`lab compare`."""
    from lab import pictures
    from lab.compare import compare
    from lab.files import write_lines, write_table
    from lab.tables import markdown, show

    pictures.figure()
    begun, runs = time.monotonic(), _runs(options)
    table, trained = compare(runs, options.full)
    write_table(runs.out / "comparison.csv", table)
    write_lines(runs.out / "comparison.md", markdown(table))
    show(table, f"{runs.data.file}: loss in nats for each letter and end, whole parts")
    pictures.save(pictures.comparison(table, trained), runs.out / "comparison.png")
    print(f"written to {runs.out}: comparison.csv, comparison.md, comparison.png ({time.monotonic() - begun:.0f} s)")


def experiment(options: argparse.Namespace) -> None:
    """`lab experiment`."""
    from lab.experiment import experiment
    from lab.progress import Bar
    from lab.tables import show

    out = options.out or Path("lab-out")
    done = experiment(options.name, options.names, out, options.full, options.device, Bar)
    if len(done.table) <= 20:
        show(done.table)
    print(f"written: {', '.join(map(str, done.files))}")


def speed(options: argparse.Namespace) -> None:
    """`lab speed`."""
    from lab import speed
    from lab.tables import show

    data = _runs(options).data
    trained = speed.losses(data, 10)
    show([{"model": model, "loss of step 10": losses[-1]} for model, losses in trained.items()], "the same learning")
    show(speed.training(data), "training, targets a second")
    show(speed.writing(data), "writing, names a second")


def _runs(options: argparse.Namespace) -> Runs:
    from lab.progress import Bar
    from lab.runs import Runs

    return Runs.of(options.names, options.out or Path("lab-out"), options.device, Bar)


COMMANDS = {"train": train, "compare": compare, "experiment": experiment, "generate": generate, "speed": speed}

if __name__ == "__main__":
    sys.exit(main())
