"""A bank for Canvas: a zip of QTI 1.2, one quiz for each section, which both of its quiz engines import.

Only what they read is written. Both take every number or text of a condition for an accepted answer, whatever it
scores, so named wrong answers that are typed stand in the feedback's text and in no condition. Identifiers come from
ids of items, and the zip has the same bytes each time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from fractions import Fraction
from html import escape
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from autograder.course.archive import zipped
from autograder.quiz.bank import Bank, Group
from autograder.quiz.exports.forms import (
    Choice,
    Essay,
    Numeric,
    Pairs,
    Question,
    Said,
    Typed,
    notes_on,
    questions,
)
from autograder.quiz.exports.markup import html, line, plain
from autograder.quiz.exports.notes import Export, Note

_QTI = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
_CANVAS = "http://canvas.instructure.com/xsd/cccv1p0"
_PACKAGE = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
_LEARNING_RESOURCE = "associatedcontent/imscc_xmlv1p1/learning-application-resource"
_TYPES = {Typed: "short_answer_question", Numeric: "numerical_question", Pairs: "matching_question"}


def canvas(bank: Bank) -> Export:
    """The zip. Raises QuizError for text that XML cannot carry."""
    files: dict[str, bytes] = {}
    notes: list[Note] = []
    count = 0
    for number, group in enumerate(bank.groups, 1):
        if not group.items:
            continue
        ident = f"{bank.assignment}_quiz_{number:02d}"
        asked = [questions(bank, group, item) for item in group.items]
        files[f"{ident}/{ident}.xml"] = _written(_assessment(bank, group, ident, asked))
        files[f"{ident}/assessment_meta.xml"] = _written(_meta(bank, group, ident))
        notes += [note for variants in asked for note in _notes(variants[0])]
        count += len(asked)
    idents = sorted({name.split("/")[0] for name in files})
    files = {"imsmanifest.xml": _written(_manifest(bank, idents)), **files}
    return Export({f"{bank.assignment}_canvas.zip": zipped(files)}, count, "questions", tuple(notes))


def _notes(question: Question) -> Iterator[Note]:
    yield from notes_on(question, in_one_text=(Typed, Numeric, Pairs))
    form = question.form
    if isinstance(form, Choice) and not form.all_or_nothing and sum(option.key for option in form.options) > 1:
        yield Note(question.item.id, "no_part_elsewhere")
    if isinstance(form, Typed) and form.case and any(s.lower() != s.upper() for s in form.accepted):
        yield Note(question.item.id, "letter_case_ignored")


def _written(root: Element) -> bytes:
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True)) + b"\n"


def _manifest(bank: Bank, idents: list[str]) -> Element:
    root = Element("manifest", {"identifier": f"{bank.assignment}_quizzes", "xmlns": _PACKAGE})
    metadata = SubElement(root, "metadata")
    _text(metadata, "schema", "IMS Content")
    _text(metadata, "schemaversion", "1.1.3")
    SubElement(root, "organizations")
    resources = SubElement(root, "resources")
    for ident in idents:
        resource = SubElement(resources, "resource", identifier=ident, type="imsqti_xmlv1p2")
        SubElement(resource, "file", href=f"{ident}/{ident}.xml")
        SubElement(resource, "dependency", identifierref=f"{ident}_meta")
        href = f"{ident}/assessment_meta.xml"
        meta = SubElement(resources, "resource", identifier=f"{ident}_meta", type=_LEARNING_RESOURCE, href=href)
        SubElement(meta, "file", href=href)
    return root


def _meta(bank: Bank, group: Group, ident: str) -> Element:
    """Settings of a quiz: unpublished, and results hidden until the instructor shows them, as they hold the keys."""
    points = float(sum((item.points for item in group.items if item.counted), Fraction(0)))
    root = Element("quiz", {"identifier": ident, "xmlns": _CANVAS})
    settings = {
        "title": _title(group),
        "description": f"<p>{escape(bank.title)}</p>",
        "shuffle_answers": "false",
        "scoring_policy": "keep_highest",
        "hide_results": "always",
        "quiz_type": "assignment",
        "points_possible": f"{points:g}",
        "show_correct_answers": "false",
        "allowed_attempts": "1",
        "available": "false",
    }
    for name, value in settings.items():
        _text(root, name, value)
    return root


def _title(group: Group) -> str:
    return f"{group.course}: {plain(group.title)}"


def _assessment(bank: Bank, group: Group, ident: str, asked: list[list[Question]]) -> Element:
    root = Element("questestinterop", {"xmlns": _QTI})
    assessment = SubElement(root, "assessment", ident=ident, title=_title(group))
    _fields(assessment, {"cc_maxattempts": "1"})
    section = SubElement(assessment, "section", ident="root_section")
    for variants in asked:
        item = variants[0].item
        if len(variants) == 1:
            section.append(_item(bank, group, variants[0]))
            continue
        drawn = SubElement(section, "section", ident=f"{bank.assignment}_{item.id}", title=item.id)
        selection = SubElement(SubElement(drawn, "selection_ordering"), "selection")
        _text(selection, "selection_number", "1")
        _text(SubElement(selection, "selection_extension"), "points_per_item", f"{float(item.points):g}")
        drawn.extend(_item(bank, group, variant) for variant in variants)
    return root


def _item(bank: Bank, group: Group, question: Question) -> Element:
    """One question: what it is, what is seen, how it is scored, what is said."""
    item, form = question.item, question.form
    ident = f"{bank.assignment}_{question.ident}"
    root = Element("item", ident=ident, title=f"{item.course or group.course} {question.ident}")
    kind = _TYPES.get(type(form), "essay_question")
    if isinstance(form, Choice):
        kind = "multiple_answers_question" if form.several else "multiple_choice_question"
    fields = {"question_type": kind, "points_possible": f"{float(item.points):g}" if item.counted else "0"}
    _fields(SubElement(root, "itemmetadata"), {**fields, "assessment_question_identifierref": f"{ident}_question"})
    presentation = SubElement(root, "presentation")
    _material(presentation, _asked(question))
    scoring = SubElement(root, "resprocessing")
    outcomes = SubElement(scoring, "outcomes")
    SubElement(outcomes, "decvar", maxvalue="100", minvalue="0", varname="SCORE", vartype="Decimal")
    afterwards = form.model if isinstance(form, Essay) else item.why
    _say(scoring, "general_fb")
    feedback = {"general_fb": html(afterwards)}
    if isinstance(form, Choice):
        feedback |= _choice(presentation, scoring, ident, form)
    elif isinstance(form, Pairs):
        _pairs(presentation, scoring, ident, form)
    else:
        _line(presentation, scoring, form)
    if not isinstance(form, (Choice, Essay)) and (text := _named(form)):
        feedback["general_incorrect_fb"] = text
        _say(scoring, "general_incorrect_fb")
    for name, text in feedback.items():
        _material(SubElement(SubElement(root, "itemfeedback", ident=name), "flow_mat"), text)
    return root


def _asked(question: Question) -> str:
    text = question.pictures + html(question.ask)
    if isinstance(question.form, Essay):
        text += html("What is looked for:\n\n" + "\n".join(f"- {point}" for point in question.form.rubric))
    return f"<div>{text}</div>"


def _named(form: Typed | Numeric | Pairs) -> str:
    """Feedback on all named wrong answers in one text."""
    said: list[Said] = [each for _, each in form.wrong] if isinstance(form, Numeric) else list(form.wrong)
    lines = [f"<p>{escape(each.spellings[0], quote=False)}: {line(each.feedback)}</p>" for each in said]
    otherwise = "" if isinstance(form, Numeric) else form.otherwise
    return "".join([f"<p>{line(otherwise)}</p>" if otherwise else "", *lines])


def _choice(presentation: Element, scoring: Element, ident: str, form: Choice) -> dict[str, str]:
    """Options and their conditions; returns the feedback on each."""
    cardinality = "Multiple" if form.several else "Single"
    shown_options = _options(presentation, "response1", cardinality)
    names = {option.text: _number(ident, option.text) for option in form.options}
    for option in form.options:
        _material(SubElement(shown_options, "response_label", ident=names[option.text]), line(option.text))
        condition = _condition(scoring, "Yes")
        _text(SubElement(condition, "conditionvar"), "varequal", names[option.text], respident="response1")
        _display(condition, f"{names[option.text]}_fb")
    scored = _condition(scoring, "No")
    test = SubElement(scored, "conditionvar")
    if form.several:
        test = SubElement(test, "and")
    for option in form.options:
        if option.key:
            _text(test, "varequal", names[option.text], respident="response1")
        elif form.several:
            _text(SubElement(test, "not"), "varequal", names[option.text], respident="response1")
    _score(scored, "Set", "100")
    return {f"{names[option.text]}_fb": f"<p>{line(option.feedback)}</p>" for option in form.options}


def _pairs(presentation: Element, scoring: Element, ident: str, form: Pairs) -> None:
    names = {right: _number(ident, f"right {right}") for right in form.rights}
    for left, right in form.pairs:
        response = f"response_{_number(ident, f'left {left}')}"
        offered = _options(presentation, response, "Single", line(left))
        for each, name in names.items():
            _text(SubElement(SubElement(offered, "response_label", ident=name), "material"), "mattext", plain(each))
        scored = _condition(scoring, "Yes")
        _text(SubElement(scored, "conditionvar"), "varequal", names[right], respident=response)
        _score(scored, "Add", f"{100 / len(form.pairs):.9g}")


def _line(presentation: Element, scoring: Element, form: Typed | Numeric | Essay) -> None:
    """A field for one line or a text. The condition does not end the others: Canvas would take feedback that stands in
    the other branch of it for feedback on the key."""
    field = SubElement(presentation, "response_str", ident="response1", rcardinality="Single")
    kind = {"fibtype": "Decimal"} if isinstance(form, Numeric) else {}
    SubElement(SubElement(field, "render_fib", kind), "response_label", ident="answer1")
    scored = _condition(scoring, "Yes")
    test = SubElement(scored, "conditionvar")
    if isinstance(form, Essay):
        SubElement(test, "other")
        return
    if isinstance(form, Numeric):
        either = SubElement(test, "or")
        _text(either, "varequal", form.key.value, respident="response1")
        between = SubElement(either, "and")
        _text(between, "vargte", form.key.low, respident="response1")
        _text(between, "varlte", form.key.high, respident="response1")
    else:
        case = {"case": "Yes"} if form.case else {}
        for spelling in form.accepted:
            _text(test, "varequal", spelling, respident="response1", **case)
    _score(scored, "Set", "100")


def _options(parent: Element, response: str, cardinality: str, material: str = "") -> Element:
    field = SubElement(parent, "response_lid", ident=response, rcardinality=cardinality)
    if material:
        _material(field, material)
    return SubElement(field, "render_choice")


def _condition(scoring: Element, goes_on: str) -> Element:
    return SubElement(scoring, "respcondition", {"continue": goes_on})


def _say(scoring: Element, feedback: str) -> None:
    condition = _condition(scoring, "Yes")
    SubElement(SubElement(condition, "conditionvar"), "other")
    _display(condition, feedback)


def _display(condition: Element, feedback: str) -> None:
    SubElement(condition, "displayfeedback", feedbacktype="Response", linkrefid=feedback)


def _score(condition: Element, action: str, points: str) -> None:
    _text(condition, "setvar", points, action=action, varname="SCORE")


def _material(parent: Element, text: str) -> None:
    _text(SubElement(parent, "material"), "mattext", text, texttype="text/html")


def _fields(parent: Element, fields: dict[str, str]) -> None:
    metadata = SubElement(parent, "qtimetadata")
    for label, entry in fields.items():
        field = SubElement(metadata, "qtimetadatafield")
        _text(field, "fieldlabel", label)
        _text(field, "fieldentry", entry)


def _text(parent: Element, tag: str, text: str, **attributes: str) -> None:
    SubElement(parent, tag, attributes).text = text


def _number(item: str, text: str) -> str:
    """A name for a choice, of digits only as Canvas gives them, which depends on nothing but the item and the text."""
    return str(10**8 + int.from_bytes(hashlib.sha256(f"{item}\n{text}".encode()).digest()[:8], "big") % (9 * 10**8))
