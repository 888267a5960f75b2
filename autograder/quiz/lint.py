"""What is wrong with a bank although it can be read: sentences for its author."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from autograder.quiz import reading
from autograder.quiz.bank import Bank, Group, is_shape, one_number
from autograder.quiz.drawing import filled
from autograder.quiz.formula import Value, flat, parsed
from autograder.quiz.marking import close
from autograder.quiz.model import (
    AnyItem,
    Drawn,
    Match,
    Multiple,
    Number,
    Open,
    Order,
    Output,
    Shape,
    ShortText,
    Single,
    named_answers,
)
from autograder.quiz.public import displayed_lefts, displayed_options, displayed_rights, displayed_steps
from autograder.quiz.snippets import printed

LONGEST_SENTENCE, LONGEST_PROMPT = 30, 80
"""In words; code and formulas do not count."""

LEAST_DRAWS = 8
_VERDICT = re.compile(
    r"\b(right|wrong|(in)?correct(ly)?|true|false|yes|no|exactly|well done|congratulations)\b[!.,:]?",
    re.IGNORECASE,
)
_GIVEAWAY = re.compile(r"\b(all|none|both|neither) of (the|these)\b|\b(always|never)\b", re.IGNORECASE)
_CODE = re.compile(r"```.*?```|`[^`]*`|\$[^$]*\$", re.DOTALL)


def lint(bank: Bank) -> list[str]:
    """Everything that is wrong, one sentence each, in the order of the bank."""
    found: list[str] = []
    programs = [item for item in bank.items if isinstance(item, Output)]
    printing = dict(zip((item.id for item in programs), printed([item.code for item in programs]), strict=True))
    for group in bank.groups:
        for item in group.items:
            found += [f"{group.file}: {item.id}: {sentence}" for sentence in _about_item(bank, item)]
            if isinstance(item, Output):
                found += [f"{group.file}: {item.id}: {s}" for s in _about_output(item, *printing[item.id])]
        found += [f"{group.file}: {sentence}" for sentence in _about_group(bank, group)]
    return found + [f"{bank.assignment}: {sentence}" for sentence in _about_bank(bank)]


def _about_item(bank: Bank, item: AnyItem) -> Iterator[str]:
    yield from _wording(item)
    if isinstance(item, (Single, Multiple)):
        yield from _about_options(item)
    elif isinstance(item, Drawn):
        yield from _about_draws(bank, item)
    elif isinstance(item, ShortText):
        empty = [text for text in (*item.key.accept, *(each.text for each in item.wrong)) if not _is_readable(text)]
        if empty:
            yield f"nothing is left of the text {empty[0]} once it is read"
            return
        accepted = {reading.text(text, item.key.case) for text in item.key.accept}
        wrong = [reading.text(each.text, item.key.case) for each in item.wrong]
        yield from (f"the named wrong text {text} is accepted as well" for text in wrong if text in accepted)
        yield from _twice("named wrong texts", wrong)
    elif isinstance(item, Match):
        if not item.confusions:
            yield "no confusion is named; say which sides are mixed up, and why"
        belongs = {pair.left: pair.right for pair in item.pairs}
        if [belongs[left] for left in displayed_lefts(item)] == displayed_rights(item)[: len(belongs)]:
            yield "the right sides are shown in the order of the left ones; reword one of them"
    elif isinstance(item, Order) and [text for text in displayed_steps(item) if text in item.steps] == list(item.steps):
        yield "the steps are shown in the right order; reword one of them"
    elif isinstance(item, Open) and len(item.rubric) < 2:
        yield "the rubric must have at least two points"
    if isinstance(item, (Number, Shape, ShortText, Output)) and not item.wrong:
        yield "no wrong answer is named; name at least the one that is met most"


def _is_readable(text: str) -> bool:
    try:
        return bool(reading.text(text))
    except reading.Rewrite:
        return False


def _wording(item: AnyItem) -> Iterator[str]:
    words = len(_words(item.prompt))
    if words > LONGEST_PROMPT:
        yield f"the prompt has {words} words; {LONGEST_PROMPT} are enough"
    for text in (item.prompt, item.why):
        for sentence in re.split(r"(?<=[.?!:;])\s+|\n\n+|\n(?=[-*\d])", _CODE.sub(" x ", text)):
            if len(_words(sentence)) > LONGEST_SENTENCE:
                yield f"a sentence is longer than {LONGEST_SENTENCE} words: {' '.join(sentence.split())[:60]}..."
    for line in _feedback_of(item):
        if found := _VERDICT.search(line):
            yield f'feedback gives a verdict ("{found[0]}") instead of an idea: {line[:60]}'


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['-][^\W_]+)*", _CODE.sub(" x ", text))


def _feedback_of(item: AnyItem) -> list[str]:
    """All lines that students can be told about answers to an item."""
    return [each.feedback for each in named_answers(item)] + ([item.feedback] if isinstance(item, Order) else [])


def _about_options(item: Single | Multiple) -> Iterator[str]:
    for option in item.options:
        if found := _GIVEAWAY.search(option.text):
            yield f'an option gives itself away by "{found[0]}": {option.text[:60]}'
    keys = [len(option.text) for option in item.options if option.key]
    others = [len(option.text) for option in item.options if not option.key]
    if isinstance(item, Single) and keys[0] > 1.6 * max(others) and keys[0] > 30:
        yield "the key is much longer than every other option; shorten it or write fuller ones"


def _about_draws(bank: Bank, item: Drawn) -> Iterator[str]:
    draws = bank.draws(item)
    if item.parameters and len(draws) < LEAST_DRAWS:
        yield f"only {len(draws)} variants can be drawn; at least {LEAST_DRAWS} are needed"
    if isinstance(item, Number) and parsed(item.key.value).is_bare:
        yield f"the key is typed ({item.key.value}); take it from a trace, or write how it is got"
    yield from (
        f"the parameter {name} is not in the prompt" for name in item.parameters if f"{{{name}}}" not in item.prompt
    )
    if item.parameters and (left := re.search(r"(?<!{){(\w+)}(?!})", filled(item.prompt, draws[0].parameters))):
        yield f"the prompt names {left[0]}, which is not a parameter"
    if item.parameters and all(draw.value == draws[0].value for draw in draws):
        yield f"every variant has the same answer, {draws[0].value}"
    for draw in draws:
        values = [draw.value, *(value for value, _ in draw.wrong)]
        shown = f" for {dict(draw.parameters)}" if draw.parameters else ""
        equal: list[Value]
        if isinstance(item, Shape):
            if not all(is_shape(v) for v in values):
                yield f"a shape must be a list of whole numbers{shown}"
                return
            equal = [v for i, v in enumerate(values) if v in values[:i]]
        else:
            numbers = [float(v) for v in values if not isinstance(v, list)]
            if len(numbers) < len(values):
                yield f"a value must be one number{shown}"
                return
            near = 2 * draw.tolerance
            equal = [values[i] for i, v in enumerate(numbers) if any(close(v, w, near) for w in numbers[:i])]
        if equal:
            yield f"{equal[0]} stands for two answers{shown}"
            return


def _about_output(item: Output, real: str, fault: str) -> Iterator[str]:
    if fault:
        yield f"the code fails: {fault}"
        return
    if reading.output(real) != reading.output(item.key.output):
        yield f"the code prints {real.strip()!r}, the key says {item.key.output.strip()!r}"
    wrong = [reading.output(each.output) for each in item.wrong]
    yield from (f"the named wrong output {text!r} is the key" for text in wrong if text == reading.output(real))
    yield from _twice("named wrong outputs", wrong)


def _twice(what: str, texts: Sequence[str]) -> Iterator[str]:
    for text, count in Counter(texts).items():
        if count > 1:
            yield f"two {what} are the same: {text}"


def _about_group(bank: Bank, group: Group) -> Iterator[str]:
    aspects = Counter(item.aspect for item in group.items)
    if group.course.startswith("Week "):
        for aspect in ("concept", "number", "misconception"):
            if not aspects[aspect]:
                yield f"no item has the aspect {aspect}"
    for item in group.items:
        if answer := _given_away(bank, item, item.id.replace("_", " ")):
            yield f"the id of {item.id} gives away its answer: {answer}"
        for other in group.items:
            if item is not other and (answer := _given_away(bank, item, _public_text(other))):
                yield f"{other.id} gives away the answer of {item.id}: {answer}"
    for picture in group.pictures:
        yield from _about_picture(bank, picture.values, picture.rows, picture.columns)


def _about_picture(bank: Bank, formula: str, rows: Sequence[str], columns: Sequence[str]) -> Iterator[str]:
    value = bank.value(formula)
    if not isinstance(value, list) or not flat(value):
        yield f"the picture of {formula} must show a list of numbers"
        return
    lines = value if isinstance(value[0], list) else [value]
    if any(len(line) != len(columns) for line in lines if isinstance(line, list)):
        yield f"the picture of {formula} has {len(columns)} labels for another number of columns"
    if rows and len(rows) != len(lines):
        yield f"the picture of {formula} has {len(rows)} labels for {len(lines)} rows"


def _public_text(item: AnyItem) -> str:
    """Everything of an item that students read before they answer."""
    parts: Iterable[str] = [item.prompt]
    if isinstance(item, (Single, Multiple)):
        parts = [*parts, *displayed_options(item)]
    elif isinstance(item, Order):
        parts = [*parts, *displayed_steps(item)]
    elif isinstance(item, Match):
        parts = [*parts, *(pair.left for pair in item.pairs), *item.rights]
    elif isinstance(item, Output):
        parts = [*parts, item.code]
    return "\n".join(parts)


def _given_away(bank: Bank, item: AnyItem, text: str) -> str:
    """The answer of an item where a text shows it; only answers that are unlikely to stand there by chance."""
    if isinstance(item, Number) and not item.parameters:
        draw = bank.draws(item)[0]
        for found in re.findall(r"(?<![\w.])-?\d+\.?\d*(?!\w|\.\d)", text.replace("−", "-")):
            digits = found.replace(".", "").replace("-", "").lstrip("0")
            if len(digits) >= 3 and close(float(found), one_number(draw.value), draw.tolerance):
                return str(found)
    if isinstance(item, ShortText):
        plain = reading.text(text[: reading.LONGEST].replace("\n", " "), item.key.case)
        for accepted in item.key.accept:
            if len(accepted) >= 5 and reading.text(accepted, item.key.case) in plain:
                return accepted
    return ""


def _about_bank(bank: Bank) -> Iterator[str]:
    positions: Counter[int] = Counter()
    longest = counted = 0
    for item in bank.items:
        if isinstance(item, Single):
            texts = displayed_options(item)
            key = next(option.text for option in item.options if option.key)
            positions[texts.index(key)] += 1
            longest += len(key) >= max(map(len, texts))
            counted += 1
    if counted >= 12:
        most, count = positions.most_common(1)[0]
        if count > 0.5 * counted:
            yield f"the key is option {'abcdef'[most]} in {count} of {counted} single choices; reword some options"
        if longest > 0.5 * counted:
            yield f"the key is the longest option in {longest} of {counted} single choices; shorten some"
    kinds = Counter(item.type for item in bank.items)
    choice, whole = kinds["single"] + kinds["multiple"], sum(kinds.values())
    if whole >= 12 and choice > 0.6 * whole:
        yield f"{choice} of {whole} items are choices; at least 40 % must be of other types"
