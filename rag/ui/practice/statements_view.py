"""Right or wrong: statements made from the mistakes that pages correct, judged one by one."""

from collections.abc import Mapping, Sequence

from rag.ui.session.practice import Practice
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("practice/statements_view.html")
COUNTS = (10, 20)


def setup_shell(topics: Sequence[tuple[str, str]], texts: Texts) -> str:
    return HTML("setup", topics=topics, numbers=COUNTS, texts=texts)


def statement_shell(practice: Practice, texts: Texts) -> str:
    """The statement to judge, or the one judged last."""
    number = len(practice.judged) - practice.is_told
    place = texts.place.format(place=number + 1, count=len(practice.statements))
    return HTML("shell", statement=practice.statements[number], place=place, texts=texts)


def statement_part(practice: Practice, names: Mapping[str, str], texts: Texts) -> str:
    """The two verdicts; once one is given, the correction. `names` maps headings to the reader's language."""
    if not practice.is_told:
        return HTML("verdicts", texts=texts)
    number = len(practice.judged) - 1
    statement, was_right = practice.statements[number], practice.judged[number]
    is_last = number + 1 == len(practice.statements)
    return HTML("told", statement=statement, was_right=was_right, is_last=is_last, names=names, texts=texts)


def result_shell(practice: Practice, names: Mapping[str, str], texts: Texts) -> str:
    """The number of statements judged correctly, and those that were not."""
    judged = list(zip(practice.statements, practice.judged, strict=False))
    missed = [statement for statement, was_right in judged if not was_right]
    told = texts.statements_done.format(count=len(judged), right=len(judged) - len(missed))
    return HTML("result", told=told, missed=missed, names=names, texts=texts)
