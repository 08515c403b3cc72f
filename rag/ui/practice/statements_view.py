"""Right or wrong: claims made of the mistakes that pages correct, judged one after the other."""

from collections.abc import Sequence

from rag.practice.rounds import Statement
from rag.ui.practice.actions import ALL
from rag.ui.practice.elements import button, heading, hint, select, source_button, submit, words
from rag.ui.readable import text_of
from rag.ui.session.practice import Practice
from rag.ui.texts import Texts

COUNTS = (10, 20)


def setup_shell(topics: Sequence[tuple[str, str]], texts: Texts) -> str:
    counts = [(str(count), str(count)) for count in COUNTS]
    return (
        f"{heading(texts.view_statements)}{hint(texts.statements_hint)}"
        f'<form class="filter" data-act="state">{select("topic", texts.topic, topics, ALL)}'
        f"{select('count', texts.how_many, counts, str(COUNTS[0]))}"
        f'<div class="buttons">{submit(texts.start)}</div></form>'
    )


def statement_shell(practice: Practice, texts: Texts) -> str:
    """The statement to be judged, or the one that was judged last."""
    number = len(practice.judged) - practice.is_told
    place = texts.place.format(place=number + 1, count=len(practice.statements))
    statement = practice.statements[number]
    return (
        f'<p class="crumbs">{button("go", "← " + texts.end_deck, "statements", style="quiet")} '
        f"<span>{text_of(place)}</span></p>{heading(texts.is_it_right)}"
        f'<blockquote class="statement">{words(statement.text)}</blockquote>'
    )


def statement_part(practice: Practice, texts: Texts) -> str:
    """The two verdicts; once one is given, what is right."""
    if not practice.is_told:
        ways = button("judge", texts.is_right, "right", key="1") + button("judge", texts.is_wrong, "wrong", key="2")
        return f'<div class="buttons">{ways}</div>'
    number = len(practice.judged) - 1
    statement, was_right = practice.statements[number], practice.judged[number]
    told = texts.judged_well if was_right else texts.judged_badly
    is_last = len(practice.judged) == len(practice.statements)
    onward = button("onward", texts.see_result if is_last else texts.next_one, style="lead-on", key=" ")
    return (
        f'<div class="told-verdict {"found" if was_right else "contradicted"}" role="status"><b>{text_of(told)}</b> '
        f"{text_of(texts.it_is_right if statement.is_right else texts.it_is_wrong)}</div>"
        f"{_correction(statement, texts)}"
        f'<div class="buttons">{onward}'
        f"{button('open', texts.practise_question, statement.question_id)}</div>"
    )


def result_shell(practice: Practice, texts: Texts) -> str:
    """How many were judged well, and those that were not."""
    judged = list(zip(practice.statements, practice.judged, strict=False))
    missed = [statement for statement, was_right in judged if not was_right]
    items = "".join(
        f"<li><blockquote>{words(one.text)}</blockquote>{_correction(one, texts)}"
        f"{button('open', texts.practise_question, one.question_id)}</li>"
        for one in missed
    )
    listed = f'<h3>{text_of(texts.judged_badly_list)}</h3><ul class="missed">{items}</ul>' if missed else ""
    told = texts.statements_done.format(count=len(judged), right=len(judged) - len(missed))
    ways = button("go", texts.again_deck, "statements", style="lead-on")
    return f'{heading(texts.view_statements)}<p>{text_of(told)}</p>{listed}<div class="buttons">{ways}</div>'


def _correction(statement: Statement, texts: Texts) -> str:
    return (
        f'<div class="correction"><h5>{text_of(texts.material_says)}</h5>'
        f"<blockquote>{words(statement.correction.quote)}</blockquote>"
        f"{source_button(statement.correction, texts)}</div>"
    )
