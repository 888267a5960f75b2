"""Canvas and Moodle as markers, small: what an answer earns by their own rules, from the exported file alone.

An answer is what the program sends: name of a field -> what is chosen or typed in it, as a list.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from xml.etree.ElementTree import Element

from quiz_formats import canvas_type

Response = Mapping[str, Sequence[str]]


def by_conditions(item: Element, response: Response) -> float:
    """QTI 1.2: conditions in their order, each setting or adding to the score, until one ends it. Several tests of one
    line of text stand for alternatives, as in Common Cartridge."""
    number = next((f.get("fibtype") for f in item.iter("render_fib")), "") == "Decimal"
    score = 0.0
    for condition in item.findall("resprocessing/respcondition"):
        tests = list(condition.iterfind("conditionvar/*"))
        holds = any if tests and tests[0].get("respident") and item.find(".//render_fib") is not None else all
        if not holds(_holds(test, response, number) for test in tests):
            continue
        for change in condition.findall("setvar"):
            value = float(change.text or 0)
            score = {"Set": value, "Add": score + value, "Subtract": score - value}[str(change.get("action"))]
        if condition.get("continue") == "No":
            break
    variable = item.find("resprocessing/outcomes/decvar")
    assert variable is not None
    return min(max(score, float(variable.get("minvalue", 0))), float(variable.get("maxvalue", 100))) / 100


def _holds(test: Element, response: Response, number: bool) -> bool:
    if test.tag in ("and", "or", "not"):
        inner = [_holds(each, response, number) for each in test]
        return all(inner) if test.tag == "and" else any(inner) if test.tag == "or" else not any(inner)
    if test.tag == "other":
        return True
    given, wanted = response.get(str(test.get("respident")), ()), test.text or ""
    if number:
        value, bound = _decimal(given[0]) if given else None, Decimal(wanted)
        if value is None:
            return False
        return {"varequal": value == bound, "vargte": value >= bound, "varlte": value <= bound}[test.tag]
    if test.get("case") == "Yes":
        return wanted in given
    return wanted.casefold() in [each.strip().casefold() for each in given]


def by_canvas(item: Element, response: Response) -> float:
    """Canvas's classic quizzes: they read keys from the conditions and score by the type of the question."""
    scored = [c for c in item.findall("resprocessing/respcondition") if float(c.findtext("setvar") or 0) > 0]
    given = list(response.get("response1", ()))
    match canvas_type(item):
        case "multiple_choice_question":
            return float(given == [scored[0].findtext("conditionvar/varequal")])
        case "multiple_answers_question":
            keys = {test.text for test in scored[0].findall("conditionvar/and/varequal")}
            return max(0.0, (len(keys & set(given)) - len(set(given) - keys)) / len(keys))
        case "short_answer_question":
            accepted = {(test.text or "").strip().lower() for test in item.iter("varequal")}
            return float(bool(given) and given[0].strip().lower() in accepted)
        case "numerical_question":
            value = _decimal(given[0]) if given else None
            exact, upper = (Decimal(next(item.iter(tag)).text or "") for tag in ("varequal", "varlte"))
            return float(value is not None and abs(value - exact) <= upper - exact)
        case "matching_question":
            texts = {part.get("ident"): part.findtext("material/mattext") for part in item.iter("response_label")}
            keys = {test.get("respident"): test.text for c in scored for test in c.iter("varequal")}
            hits = [texts.get(r) == texts[keys[left]] for left, chosen in response.items() for r in chosen]
            return sum(hits) / len(keys)
    return 0.0


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text.strip())
    except InvalidOperation:
        return None


def by_moodle(question: Element, response: Response) -> float:
    """Moodle: shares that add up, the first answer that fits, tolerances, wildcards; each pair the same share."""
    given = [each for each in response.get("answer", ()) if each.strip()]
    answers = question.findall("answer")
    match question.get("type"):
        case "multichoice":
            shares = {answer.findtext("text"): float(str(answer.get("fraction"))) / 100 for answer in answers}
            return min(max(sum(shares[each] for each in given), 0.0), 1.0)
        case "shortanswer":
            flags = 0 if question.findtext("usecase") == "1" else re.IGNORECASE
            fits = (
                a for a in answers if given and _like(a.findtext("text") or "", flags).fullmatch(_nfc(given[0].strip()))
            )
            return _share(next(fits, None))
        case "numerical":
            value = _moodle_number(given[0]) if given else None
            return _share(next((a for a in answers if value is not None and _near(a, value)), None))
        case "matching":
            pairs = {
                s.findtext("text"): s.findtext("answer/text")
                for s in question.findall("subquestion")
                if s.findtext("text")
            }
            return sum(list(response.get(str(left), ())) == [right] for left, right in pairs.items()) / len(pairs)
    return 0.0


def _share(answer: Element | None) -> float:
    return 0.0 if answer is None else float(str(answer.get("fraction"))) / 100


@cache
def _like(pattern: str, flags: int) -> re.Pattern[str]:
    parts = [re.escape(part.replace(r"\*", "*")) for part in re.split(r"(?<!\\)\*+", _nfc(pattern))]
    return re.compile(".*".join(parts), flags)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _moodle_number(text: str) -> float | None:
    """A number of an English Moodle: a comma groups thousands."""
    plain = text.strip().replace(",", "")
    return float(plain) if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", plain, re.IGNORECASE) else None


def _near(answer: Element, value: float) -> bool:
    key = float(answer.findtext("text") or "nan")
    tolerance = float(answer.findtext("tolerance") or 0) + 1e-14 * max(1.0, abs(key))
    return not math.isnan(key) and key - tolerance <= value <= key + tolerance
