"""The texts of a survey's pages, in English; `[texts]` of a `survey.toml` replaces any of them.

What stands in braces is filled in, and a text in its place must have the same.
"""

from collections.abc import Mapping
from string import Formatter
from typing import Final

from party.names import suggestion
from party.settings.toml import BLANKS, Section

PAGE_TEXTS: Final[Mapping[str, str]] = {
    "how_heading": "How your answers stay yours",
    "how": "Your browser tosses coins that nobody else sees. Block by block they decide whether your true answers "
    "leave this page. Where a coin decides, nobody can be sure from what arrives what is true of you: not who asks, "
    "not who reads along; only a person who knows your answer to a personal question may see it. Shares among many "
    "people can be worked out all the same. No coin leaves this page, and no answer that is not sent; your browser "
    "keeps neither, but what was sent, until the survey closes.",
    "code": "Your code",
    "code_hint": "The letters and digits that you were given.",
    "block": "Block {number}",
    "rule_related": "This block has one coin. With a chance of {truth} your answers to it are sent as they are; "
    "otherwise all of them are moved on in their lists by the same number of places.",
    "rule_unrelated": "This block has one coin. With a chance of {truth} your answers to the private questions are "
    "sent; otherwise those to the personal questions.",
    "rule_drawn": "This block has one coin. With a chance of {truth} your answers are sent as they are; otherwise "
    "answers that your browser draws at random.",
    "rule_direct": "No coin: the answers of this block are sent as they are.",
    "rule_crosswise": "No coin: say only whether the two statements are alike. Which of them is true stays with you.",
    "rule_triangular": "No coin: say only whether at least one of the two statements is true. Which stays with you.",
    "note_beside": "A person who knows whether the second statement is true of you can learn about the first.",
    "first_statement": "First statement",
    "second_statement": "Second statement",
    "same": "Both are true, or both are not",
    "different": "One is true, and the other is not",
    "neither": "Neither is true",
    "at_least_one": "At least one is true",
    "note_relation": "How your answers within this block relate to each other can show.",
    "note_personal": "A person who knows your answer to a personal question, and sees another one arrive, knows "
    "that this one is true.",
    "private": "Private question",
    "personal": "Personal question",
    "no_answer": "I give no answer (that is seen)",
    "send": "Send",
    "sending": "Your answers are being sent.",
    "sent_heading": "Your answers have arrived",
    "sent": "Thank you. This link can only send the same again, from this browser: two responses together would show "
    "more than one. In another browser other coins would fall, so use it nowhere else.",
    "made": "Your response is made, and stays as it is: what is sent again is the same, whatever is chosen.",
    "show_sent": "Show what was sent (while nobody looks on)",
    "sent_truth": "the coin chose your true answers",
    "sent_related": "the coin moved your answers",
    "sent_unrelated": "the coin chose the personal questions",
    "sent_drawn": "the coin chose answers drawn at random",
    "sent_direct": "sent as they are",
    "sent_again": "as it was sent before",
    "no_storage": "Your browser keeps nothing for this page. Send once only: after a reload it would toss other coins.",
    "own_coin": "Rather toss a coin, a die or slips of paper of your own? Use this form.",
    "no_script": "This page tosses its coins by a script, and your browser runs none.",
    "later": "Later this link may ask one more thing: whether a rule that was learned from everybody's answers is "
    "right about your answers to the personal questions. It will ask you these again, as nothing keeps them.",
    "test_heading": "One more thing",
    "test": "From all answers a rule was learned. Answer the personal questions once more: your browser applies the "
    "rule to your answers and finds whether it is right about them. They never leave this page, and are not kept.",
    "test_disguised": "A coin disguises it: with a chance of {truth} what is sent is true, otherwise the opposite.",
    "test_warning": "Who asks has chosen the rule: it can be one that asks for a single personal answer of yours.",
    "test_plain": "No coin disguises it: it is sent as it is.",
    "test_send": "Apply the rule, and send",
    "test_made": "What this link sends is made, and stays as it is, whatever is chosen.",
    "test_sent": "Thank you. That was all: no more is asked with this link.",
    "test_right": "the rule is right about your personal answers",
    "test_wrong": "the rule is wrong about your personal answers",
    "test_coin": "What was sent: {said}. What is true: {found}.",
    "test_again": "What was sent again: {said}.",
    "closed": "The survey is closed. Your browser has just forgotten what it kept of it.",
    "hand": "Toss as each block says and let nobody see the result, nor write it down. What you tick is all that "
    "is sent.",
    "coin": "Toss a coin.",
    "die": "Roll a die.",
    "slips": "Write the numbers 1 to {faces} on slips of paper, mix them, and draw one.",
    "heads": "Heads",
    "tails": "Tails",
    "span": "{first} to {last}",
    "hand_truth": "{faces}: tick your true answers.",
    "hand_opposite": "{faces}: in every question of this block tick the answer that is not true.",
    "hand_private": "{faces}: answer the private questions.",
    "hand_personal": "{faces}: answer the personal questions.",
    "hand_drawn": "{faces}: for each question of this block do the same once more, as it says.",
    "again": "If drawn: {rule}",
    "pick": "{faces}: tick {answer}.",
    "certain": "tick {answer}.",
    "error_malformed": "This cannot be read as answers to this survey.",
    "error_unknown_code": "This code is not known: check every letter and digit.",
    "error_other_survey": "The survey has changed since this page was loaded: load it again.",
    "error_closed": "The survey is closed: nothing was taken.",
    "error_too_long": "This is longer than any answer.",
    "error_too_often": "Too often: wait for some minutes, then try again.",
    "error_unavailable": "It cannot be taken just now: try again in a minute. Nothing is lost.",
}  # fmt: skip


def read_page_texts(section: Section) -> dict[str, str]:
    """Return all texts: those of the section, and English ones where it has none."""
    for name in section.names:
        if name not in PAGE_TEXTS:
            raise section.error(name, "unknown text" + suggestion(name, PAGE_TEXTS))
    return {name: _checked(section, name, english) for name, english in PAGE_TEXTS.items()}


def _checked(section: Section, name: str, english: str) -> str:
    text = section.text(name, english, controls=BLANKS)
    wanted = _placeholders(english) or set()
    if _placeholders(text) != wanted:
        listed = ", ".join(f"{{{each}}}" for each in sorted(wanted)) or "nothing"
        raise section.error(name, f"must hold {listed} in braces, each once, and no other brace")
    return text


def _placeholders(text: str) -> set[str] | None:
    """Return what stands in braces; None where braces do not match, or hold more than a name."""
    try:
        parts = list(Formatter().parse(text))
    except ValueError:
        return None
    names = [name for _, name, _, _ in parts if name is not None]
    plain = all(names) and len(set(names)) == len(names)
    alone = all(not form and not conversion for _, _, form, conversion in parts)
    return set(names) if plain and alone and text.count("{") == len(names) == text.count("}") else None
