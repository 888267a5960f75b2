"""The questions of a quiz as frozen values, in their complete form, with keys.

Values of keys are formulas (`quiz.formula`), so that numbers come from the worked examples of the course and are never
typed. Students get the form that `quiz.public` cuts from this one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from autograder.course.fields import Id, Points, Text, plain_id
from autograder.course.mistakes import Line
from autograder.course.model import Part
from autograder.course.problems import Problem, checked


def _formula(value: object) -> object:
    return value if isinstance(value, (str, bool)) or value is None else str(value)


def _tolerance(value: object) -> object:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
        raise ValueError(f"must not be negative, got {value}; 0 means exact")
    return value


def _misconception(value: str) -> str:
    for part in value.split("/", 1):
        plain_id(part)
    return value


Formula = Annotated[str, BeforeValidator(_formula)]
Tolerance = Annotated[float, BeforeValidator(_tolerance), Field(allow_inf_nan=False)]
Misconception = Annotated[str, AfterValidator(_misconception)]


class Wrong(Part):
    """What every named wrong answer has: the false idea behind it, and one line that helps."""

    misconception: Misconception
    feedback: Line


class Option(Part):
    """One choice. `key` says that it belongs to the answer; one that does not names the idea behind it."""

    text: Line
    feedback: Line
    key: bool = False
    misconception: Misconception | None = None

    @model_validator(mode="after")
    def _says_why(self) -> Option:
        if not self.key and self.misconception is None:
            return checked(self, [(("misconception",), "missing; every option that is not a key names one")])
        if self.key and self.misconception is not None:
            return checked(self, [(("misconception",), "must be left out where `key` is true")])
        return self


class Item(Part):
    """What all questions have. `aspect` is what is asked for, `course` the place if it is not the file's section."""

    counted: ClassVar[bool] = True

    id: Id
    aspect: Literal["concept", "number", "misconception"]
    prompt: Text
    why: Text
    points: Points = Fraction(1)
    course: Line | None = None
    optional: bool = False


class Single(Item):
    """One of several options."""

    type: Literal["single"]
    options: Annotated[tuple[Option, ...], Field(strict=False)]

    @model_validator(mode="after")
    def _one_key(self) -> Single:
        problems = _option_problems(self.options)
        if sum(option.key for option in self.options) != 1:
            problems.append((("options",), "exactly one option must have `key: true`"))
        return checked(self, problems)


class Multiple(Item):
    """Several of several options."""

    type: Literal["multiple"]
    scoring: Literal["all_or_nothing", "right_minus_wrong"]
    options: Annotated[tuple[Option, ...], Field(strict=False)]

    @model_validator(mode="after")
    def _some_keys(self) -> Multiple:
        problems = _option_problems(self.options)
        if not 0 < sum(option.key for option in self.options) < len(self.options):
            problems.append((("options",), "some options must have `key: true`, and some not"))
        return checked(self, problems)


class NumberKey(Part):
    """The value, and how near an answer must be: `tolerance` is absolute, `relative` a share of it. 0 is exact.

    With `percent` the question asks how many percent: `35`, `35 %` and `35%` are the same answer.
    """

    value: Formula
    tolerance: Tolerance | None = None
    relative: Tolerance | None = None
    percent: bool = False

    @model_validator(mode="after")
    def _one_tolerance(self) -> NumberKey:
        if (self.tolerance is None) == (self.relative is None):
            return checked(self, [((), "must have `tolerance` or `relative`, and not both")])
        return self


class WrongValue(Wrong):
    """A named wrong number or shape."""

    value: Formula


class Drawn(Item):
    """A question whose `parameters` are drawn for each student from the combinations that meet `require`."""

    parameters: dict[str, Annotated[tuple[int | float, ...], Field(strict=False)]] = Field(default_factory=dict)
    require: Formula | None = None
    wrong: Annotated[tuple[WrongValue, ...], Field(strict=False)]

    @model_validator(mode="after")
    def _parameters_are_names(self) -> Drawn:
        problems: list[Problem] = [
            (("parameters", name), "must be a name such as C or num_heads")
            for name in self.parameters
            if not name.isidentifier()
        ]
        problems += [
            (("parameters", name), "must have at least two values, none twice")
            for name, values in self.parameters.items()
            if len(values) < 2 or len(set(values)) < len(values)
        ]
        return checked(self, problems)


class Number(Drawn):
    """A number."""

    type: Literal["number"]
    key: NumberKey


class ShapeKey(Part):
    value: Formula


class Shape(Drawn):
    """The shape of a tensor."""

    type: Literal["shape"]
    key: ShapeKey


class TextKey(Part):
    """Accepted texts. Blanks, hyphens and full-width forms never count, letter case only with `case`."""

    accept: Annotated[tuple[Line, ...], Field(strict=False)]
    case: bool = False

    @model_validator(mode="after")
    def _accepts_something(self) -> TextKey:
        return self if self.accept else checked(self, [(("accept",), "must not be empty")])


class WrongText(Wrong):
    text: Line


class ShortText(Item):
    """A word or two."""

    type: Literal["text"]
    key: TextKey
    wrong: Annotated[tuple[WrongText, ...], Field(strict=False)]


class Order(Item):
    """Steps to be put in order; `steps` is the key, `extra` belong nowhere."""

    type: Literal["order"]
    steps: Annotated[tuple[Line, ...], Field(strict=False)]
    extra: Annotated[tuple[WrongText, ...], Field(strict=False)] = ()
    scoring: Literal["exact", "neighbours"]
    feedback: Line

    @model_validator(mode="after")
    def _steps_differ(self) -> Order:
        texts = [*self.steps, *(extra.text for extra in self.extra)]
        problems: list[Problem] = [] if len(self.steps) >= 3 else [(("steps",), "must be at least 3")]
        return checked(self, problems + _equal("steps", texts))


class Pair(Part):
    left: Line
    right: Line


class Confusion(Wrong):
    left: Line
    right: Line


class Match(Item):
    """Left sides, each with the right side that belongs to it; `extra` right sides belong to none."""

    type: Literal["match"]
    pairs: Annotated[tuple[Pair, ...], Field(strict=False)]
    extra: Annotated[tuple[Line, ...], Field(strict=False)] = ()
    confusions: Annotated[tuple[Confusion, ...], Field(strict=False)]

    @property
    def rights(self) -> tuple[str, ...]:
        """All right sides, each once."""
        return tuple(dict.fromkeys([*(pair.right for pair in self.pairs), *self.extra]))

    @model_validator(mode="after")
    def _sides_are_known(self) -> Match:
        lefts = {pair.left: pair.right for pair in self.pairs}
        problems: list[Problem] = [] if len(self.pairs) >= 3 else [(("pairs",), "must be at least 3")]
        problems += _equal("pairs", [pair.left for pair in self.pairs])
        if len(self.rights) < 2:
            problems.append((("pairs",), "must have at least two different right sides"))
        for i, each in enumerate(self.confusions):
            if each.left not in lefts or each.right not in self.rights:
                problems.append((("confusions", i), "left and right must be texts of this item"))
            elif lefts[each.left] == each.right:
                problems.append((("confusions", i), "these two belong together"))
        return checked(self, problems)


class OutputKey(Part):
    output: Text


class WrongOutput(Wrong):
    output: Text


class Output(Item):
    """What a piece of code prints."""

    type: Literal["output"]
    code: Text
    key: OutputKey
    wrong: Annotated[tuple[WrongOutput, ...], Field(strict=False)]


class Open(Item):
    """A question that students judge for themselves, by a rubric. It never counts."""

    counted: ClassVar[bool] = False

    type: Literal["open"]
    why: Text = "-"
    rubric: Annotated[tuple[Line, ...], Field(strict=False)]
    model: Text


AnyItem = Single | Multiple | Number | Shape | ShortText | Order | Match | Output | Open


def named_answers(item: AnyItem) -> list[Option | Wrong]:
    """Each option, and each named wrong answer, with feedback and the idea behind it; in the order of the file."""
    found = [*getattr(item, "options", ()), *getattr(item, "wrong", ()), *getattr(item, "confusions", ())]
    return found + [each for each in getattr(item, "extra", ()) if isinstance(each, Wrong)]


def _option_problems(options: tuple[Option, ...]) -> list[Problem]:
    problems: list[Problem] = [] if 2 <= len(options) <= 6 else [(("options",), "must be two to six")]
    return problems + _equal("options", [option.text for option in options])


def _equal(field: str, texts: list[str]) -> list[Problem]:
    plain = [" ".join(text.casefold().split()) for text in texts]
    return [
        ((field, i), f"says the same as {field}[{plain.index(text)}]")
        for i, text in enumerate(plain)
        if plain.index(text) < i
    ]
