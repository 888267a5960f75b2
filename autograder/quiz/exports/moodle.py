"""A bank as Moodle XML, which keeps feedback, tolerances and ids, and which every Moodle reads.

Text stands in CDATA, for without it Moodle refuses the whole file. There is no update: a second import adds a second
copy, so the category is named after the version of the bank. The type for putting steps in order came with Moodle 4.4
and has no steps that belong nowhere, so such questions take other forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from html import escape
from xml.sax.saxutils import quoteattr

from autograder.quiz.bank import Bank, Group
from autograder.quiz.exports.forms import (
    Choice,
    Essay,
    Numeric,
    Pairs,
    Question,
    Typed,
    notes_on,
    questions,
)
from autograder.quiz.exports.markup import html, line, plain
from autograder.quiz.exports.notes import Export, Note
from autograder.quiz.receipts import bank_hash

FRACTIONS = (
    *("100", "90", "83.33333", "80", "75", "70", "66.66667", "60", "50", "40", "33.33333", "30", "25", "20"),
    *("16.66667", "14.28571", "12.5", "11.11111", "10", "5", "0"),
)
"""The shares of a mark that Moodle knows, in percent. It passes over a question with any other."""


def moodle(bank: Bank) -> Export:
    """The file. Raises QuizError for text that XML cannot carry."""
    root = f"$course$/top/{_path(bank.title)} ({bank_hash(bank)[:8]})"
    parts: list[str] = []
    notes: list[Note] = []
    count = 0
    for group in bank.groups:
        here = f"{root}/{_path(f'{group.course}: {plain(group.title)}')}"
        if group.items:
            parts.append(_category(here))
        drawn: list[str] = []
        for item in group.items:
            variants = questions(bank, group, item)
            written = [_question(group, each) for each in variants]
            if len(variants) > 1:
                drawn += [_category(f"{here}/{item.id}"), *written]
            else:
                parts += written
            notes += notes_on(variants[0], in_one_text=(Pairs,))
            count += 1
        parts += drawn
    text = "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', "<quiz>", *parts, "</quiz>", ""])
    return Export({f"{bank.assignment}_moodle.xml": text.encode()}, count, "questions", tuple(notes))


def _path(name: str) -> str:
    """One name of a category; a slash that belongs to it is doubled."""
    return name.replace("/", "//")


def _category(path: str) -> str:
    return _tag("question", _tag("category", _tag("text", _cdata(path))), type="category")


def _question(group: Group, question: Question) -> str:
    form = question.form
    match form:
        case Choice():
            return _whole(group, question, "multichoice", *_choice(form))
        case Typed():
            return _whole(group, question, "shortanswer", *_typed(form))
        case Numeric():
            return _whole(group, question, "numerical", *_numeric(form))
        case Pairs():
            return _whole(group, question, "matching", *_pairs(form))
        case Essay():
            return _whole(group, question, "essay", *_essay(form))


def _whole(group: Group, question: Question, kind: str, *parts: str) -> str:
    """What all types have, and the parts of this one."""
    item, form = question.item, question.form
    asked = question.pictures + html(question.ask)
    if isinstance(form, Essay):
        asked += html("What is looked for:\n\n" + "\n".join(f"- {point}" for point in form.rubric))
    afterwards = form.model if isinstance(form, Essay) else item.why
    return _tag(
        "question",
        _tag("name", _tag("text", _cdata(f"{item.course or group.course} {question.ident}"))),
        _html("questiontext", asked),
        _html("generalfeedback", html(afterwards)),
        _tag("defaultgrade", f"{float(item.points if item.counted else Fraction(0)):g}"),
        _tag("penalty", "0"),
        _tag("hidden", "0"),
        _tag("idnumber", question.ident),
        *parts,
        _tag("tags", _tag("tag", _tag("text", _cdata(item.aspect)))),
        type=kind,
    )


def _choice(form: Choice) -> Iterator[str]:
    yield _tag("single", "false" if form.several else "true")
    yield _tag("shuffleanswers", "false")
    yield _tag("answernumbering", "abc")
    for option in form.options:
        share = _share(form, option.key)
        yield _answer(share, line(option.text), line(option.feedback), "html")


def _share(form: Choice, key: bool) -> str:
    """What choosing an option adds: a share of the mark for each key, and as much less for each other one."""
    if not form.several:
        return "100" if key else "0"
    keys = sum(option.key for option in form.options)
    if form.all_or_nothing and not key:
        return "-100"
    return ("" if key else "-") + nearest(Fraction(100, keys))


def nearest(percent: Fraction) -> str:
    """The share that Moodle knows and that is next to this one."""
    return min(FRACTIONS, key=lambda known: abs(Fraction(known) - percent))


def _typed(form: Typed) -> Iterator[str]:
    yield _tag("usecase", "1" if form.case else "0")
    for spelling in form.accepted:
        yield _answer("100", _literal(spelling))
    for said in form.wrong:
        for spelling in said.spellings:
            yield _answer("0", _literal(spelling), line(said.feedback))
    if form.otherwise:
        yield _answer("0", "*", line(form.otherwise))


def _literal(text: str) -> str:
    """Text in which a star is a star, and not anything at all."""
    return text.replace("*", r"\*")


def _numeric(form: Numeric) -> Iterator[str]:
    yield _answer("100", form.key.value, "", "moodle_auto_format", _tag("tolerance", form.key.tolerance))
    for value, said in form.wrong:
        tolerance = _tag("tolerance", value.tolerance)
        yield _answer("0", value.value, line(said.feedback), "moodle_auto_format", tolerance)
    yield _tag("unitgradingtype", "0")
    yield _tag("unitpenalty", "0")
    yield _tag("showunits", "3")
    yield _tag("unitsleft", "0")


def _pairs(form: Pairs) -> Iterator[str]:
    """Left sides with their right sides, then right sides that belong to none."""
    said = "".join(f"<p>{escape(each.spellings[0], quote=False)}: {line(each.feedback)}</p>" for each in form.wrong)
    if form.otherwise:
        said = f"<p>{line(form.otherwise)}</p>{said}"
    yield _tag("shuffleanswers", "true")
    yield _html("correctfeedback", "")
    yield _html("partiallycorrectfeedback", said)
    yield _html("incorrectfeedback", said)
    used = {right for _, right in form.pairs}
    for left, right in [*form.pairs, *(("", right) for right in form.rights if right not in used)]:
        answer = _tag("answer", _tag("text", _cdata(plain(right))))
        yield _html("subquestion", line(left), answer)


def _essay(form: Essay) -> Iterator[str]:
    yield _tag("responseformat", "editor")
    yield _tag("responserequired", "0")
    yield _tag("responsefieldlines", "10")
    yield _tag("attachments", "0")
    yield _tag("attachmentsrequired", "0")
    yield _html("graderinfo", html("\n".join(f"- {point}" for point in form.rubric)) + html(form.model))
    yield _html("responsetemplate", "")


def _answer(share: str, text: str, feedback: str = "", kind: str = "moodle_auto_format", *parts: str) -> str:
    return _tag("answer", _tag("text", _cdata(text)), _html("feedback", feedback), *parts, fraction=share, format=kind)


def _html(tag: str, text: str, *parts: str) -> str:
    return _tag(tag, _tag("text", _cdata(text)), *parts, format="html")


def _tag(tag: str, *content: str, **attributes: str) -> str:
    """An element: what holds elements in lines of its own, text in one line."""
    begin = tag + "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    inner = "\n".join(content)
    nested = inner.startswith("<") and not inner.startswith("<![") and tag != "text"
    return f"<{begin}>\n{inner}\n</{tag}>" if nested else f"<{begin}>{inner}</{tag}>"


def _cdata(text: str) -> str:
    """Text as CDATA; where it holds the end of one, it is two."""
    return "<![CDATA[" + text.replace("]]>", "]]]]><![CDATA[>") + "]]>"
