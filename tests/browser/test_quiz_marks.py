"""The scripts of the quiz's page mark as Python does, in a real Chromium, whatever is typed."""

from __future__ import annotations

import random
from pathlib import Path

from answering import right_answer
from laboratory import Browser

from autograder.quiz.bank import Bank
from autograder.quiz.drawing import drawn
from autograder.quiz.marking import mark
from autograder.quiz.model import AnyItem, Drawn, Match, Number, Output, ShortText
from autograder.quiz.page import build
from autograder.quiz.page.keys import practice_key
from autograder.quiz.public import public_item

FOLDER = Path(build.__file__).parent
SOURCES = "\n".join((FOLDER / name).read_text("utf-8") for name in ("reading.js", "marking.js", "store.js"))

ODD = ["", " ", "–3", "1e400", "½", "10²", "\uff11\uff12", "٣", "\u200b7", "\ufb01", "\u1e9e", "\u0130", "\u0131", "K"]
ODD += ["x" * 2001, "[]", "()", "1/0", "0", "%", "ab"]
SIGNS = "0123456789.,/% -–−+eE[]()x×*;:abcdefgz\u00a0\u2028\u0085\u200b\ttorch.Size 1/8 ß½²٣"


def typed_answers(bank: Bank, item: AnyItem, chance: random.Random, student: str) -> list[object]:
    """The key and the named wrong answers in the ways in which people write them, and noise."""
    found: list[object] = [chance.choice(ODD) for _ in range(3)]
    found += ["".join(chance.choices(SIGNS, k=chance.randint(1, 9))) for _ in range(4)]
    if isinstance(item, Drawn):
        draw = bank.draw(item, student)
        for value in (draw.value, *(value for value, _ in draw.wrong)):
            if isinstance(item, Number):
                near = float(value) + chance.choice((-1, 1)) * draw.tolerance * chance.choice((0, 0.99, 1, 1.01, 2))
                texts = [f"{near!r}", f"{near:.3f}".replace(".", ","), f"{near:,.2f}", f"{near:e}", f"{near * 100!r} %"]
                found += [*texts, f"{near * 8!r}/8", f"{near:,.0f}".replace(",", chance.choice(". "))]
            elif isinstance(value, list):
                inside = [", ", " x ", "×", ",", " ", ";"]
                texts = [chance.choice(inside).join(map(str, value)) for _ in range(3)]
                found += [
                    chance.choice(("{}", "[{}]", "({},)", "torch.Size([{}])", "TORCH.SIZE(({}))")).format(t)
                    for t in texts
                ]
    elif isinstance(item, ShortText):
        for text in (*item.key.accept, *(each.text for each in item.wrong)):
            found += [text.upper(), f" {text}. ", text.replace(" ", "-"), text.replace("s", "\u017f"), text[:-1]]
    elif isinstance(item, Output):
        for text in (item.key.output, *(each.output for each in item.wrong)):
            found += [
                text,
                text.replace(",", " , "),
                f"\n{text}\r\n",
                text.replace("\n", "\u2028"),
                text.replace("(", " (").upper(),
            ]
    else:
        shown = public_item(bank, item)
        letters = [each["letter"] for each in shown.get("options") or shown.get("steps") or shown["right"]]
        for _ in range(12):
            some = chance.sample(letters, chance.randint(0, len(letters)))
            if isinstance(item, Match):
                numbers = [each["number"] for each in shown["left"]]
                pairs = {
                    number: chance.choice(letters) for number in chance.sample(numbers, chance.randint(1, len(numbers)))
                }
                found += [
                    pairs,
                    chance.choice((" ", ", ", "")).join(
                        f"{n}{chance.choice(('', ': ', ')'))}{c}" for n, c in pairs.items()
                    ),
                ]
            else:
                found += [some, "".join(some), ", ".join(some).upper(), some[:1], "".join(some[:1])]
        found += [right_answer(bank, item, student), [*letters, letters[0]]]
    return found


def test_the_page_marks_every_answer_as_python_does(tab: Browser, small: Bank, week08: Bank) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    cases, expected = [], []
    for bank in (small, week08):
        for item in bank.items:
            if item.counted:
                shown, student = public_item(bank, item), f"student {chance.randrange(1000)}"
                about = {"type": item.type, "key": practice_key(bank, item)}
                lettered = shown.get("options") or shown.get("steps") or shown.get("right") or []
                about["letters"] = [each["letter"] for each in lettered]
                about["numbers"] = [each["number"] for each in shown.get("left", ())]
                draw = drawn(student, item.id, len(bank.draws(item))) if isinstance(item, Drawn) else 0
                for typed in typed_answers(bank, item, chance, student):
                    cases.append([about, typed, draw])
                    found = mark(bank, item, typed, student)
                    expected.append(
                        [item.id, typed, found.outcome, [*found.share.as_integer_ratio()], list(found.feedback)]
                    )
    tab.open("about:blank")
    marks = """return arguments[0].map(([item, typed, draw]) => {
        const found = mark(item, typed, draw);
        return [found.outcome, found.share, found.problem ? [found.problem] : found.said.map(i => item.key.lines[i])];
    });"""
    given = tab.run(SOURCES + marks, cases)
    assert isinstance(given, list), given
    different = [(e, g) for e, g in zip(expected, given, strict=True) if e[2:] != g]
    assert len({e[2] for e in expected}) == 5, "not every outcome was met"
    assert not different, f"{len(different)} of {len(expected)} differ, first: {different[0]}"


def test_the_page_draws_the_same_variant_as_python(tab: Browser) -> None:
    names = ["", "mira", "Łukasz Żak", "李雷", "🦉", "o'neil/2", "a" * 200]
    tab.open("about:blank")
    given = tab.run(f"{SOURCES}\nreturn arguments[0].map(name => drawnNumber(name, 'ln_axis', 61))", names)
    assert given == [drawn(name, "ln_axis", 61) for name in names]
