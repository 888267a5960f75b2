"""Right answers to a quiz, and how a person who uses no mouse gives them."""

from __future__ import annotations

from typing import Any

from laboratory import Browser
from selenium.webdriver.common.keys import Keys

from autograder.quiz.bank import Bank
from autograder.quiz.model import AnyItem, Match, Number, Order, Output, Shape, ShortText
from autograder.quiz.page.keys import practice_key

FOCUS = """const e = document.activeElement, step = e.closest(".step");
return {id: e.id, tag: e.tagName, type: e.type, value: e.value, checked: e.checked, tick: e.classList.contains("tick"),
        act: e.dataset.act, letter: step && step.dataset.letter, number: e.dataset.number,
        question: (e.closest(".question") || {id: ""}).id.slice(2),
        placed: e.closest(".question") ? e.closest(".question").querySelectorAll(".placed .step").length : 0,
        outline: getComputedStyle(e).outlineStyle}"""
"""What has the focus."""


def right_answer(bank: Bank, item: AnyItem, student: str) -> Any:
    """An answer of full marks, as the page's controls give it."""
    key = practice_key(bank, item)
    match item:
        case Order():
            return key["steps"]
        case Match():
            return dict(key["pairs"])
        case ShortText():
            return item.key.accept[0]
        case Output():
            return item.key.output
        case Number() | Shape():
            return str(bank.draw(item, student).value)
    letters = [option["letter"] for option in key["options"] if option["key"]]
    return letters if item.type == "multiple" else letters[0]


def by_keyboard(tab: Browser, focus: dict[str, Any], right: dict[str, Any]) -> None:
    """Give the right answer where the focus is, if it is not there yet."""
    answer = right.get(focus["question"])
    if focus["id"] == "student" and not focus["value"]:
        tab.press("mira", Keys.ENTER)
    elif focus["type"] == "radio" and not focus["checked"]:
        tab.press(Keys.SPACE)
        for _ in range(6):
            if tab.run("return document.activeElement.value") == answer:
                break
            tab.press(Keys.ARROW_DOWN)
    elif focus["type"] == "checkbox" and not focus["checked"] and (focus["tick"] or focus["value"] in answer):
        tab.press(Keys.SPACE)
    elif focus["tag"] == "SELECT" and not focus["value"]:
        tab.press(answer[focus["number"]])
    elif focus["act"] == "place":
        while focus["act"] == "place" and focus["placed"] < len(answer):
            tab.press(Keys.ENTER if focus["letter"] == answer[focus["placed"]] else Keys.TAB)
            focus = tab.run(FOCUS)
            assert focus["tag"] == "BUTTON", "the focus was lost with the button that was pressed"
    elif focus["type"] in ("text", "textarea") and focus["question"] and not focus["value"]:
        tab.press(answer or "Two numbers, two points.")
