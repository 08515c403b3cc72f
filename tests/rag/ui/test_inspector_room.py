"""The inspector, without a browser: what it shows, and that nothing in it can run."""

from dataclasses import fields, replace

import pytest

from rag.answer.answerability import AnswerabilityFeatures
from rag.answer.assistant import Assistant
from rag.answer.inspection import Inspection, inspection_of
from rag.types import RefusalReason
from rag.ui.inspector.tab import render
from rag.ui.texts import INSPECTOR_TEXTS, Language
from tests.rag.ui.rooms import NASTY

# Reasons that no inspection gives, for nothing is written.
AFTER_WRITING = {RefusalReason.NO_SUPPORTED_CLAIM}


def inspected(assistant: Assistant, question: str) -> Inspection:
    return inspection_of(assistant.prepare(question))


@pytest.mark.parametrize("language", Language)
def test_an_inspection_is_shown_whole_and_inert(assistant: Assistant, language: Language) -> None:
    texts = INSPECTOR_TEXTS[language]
    inspection = inspected(assistant, f"ZeRO-3 {NASTY}")
    html = render(inspection, texts)
    assert "<img" not in html
    assert html.count("<tr") >= len(inspection.candidates)
    for candidate in inspection.candidates:
        assert getattr(texts, candidate.fate) in html
    assert 'download="inspection.json"' in html
    assert texts.no_prompt in html
    assert f'title="resolve">{texts.step_resolve}<' in html
    assert texts.quoted in html


@pytest.mark.parametrize("language", Language)
def test_codes_are_shown_in_words(assistant: Assistant, language: Language) -> None:
    texts = INSPECTOR_TEXTS[language]
    refused = render(inspected(assistant, "Mamba-9 的显存是多少？"), texts)
    assert texts.refused.format(reason=texts.reason_missing_terms) in refused
    assert ">missing_terms" not in refused
    assert texts.nothing_chosen in refused
    plain = inspected(assistant, "LoRA 的秩怎么选？")
    assert texts.answered in render(plain, texts)
    judgement = replace(plain.judgement, nearest=True, unheard=True, reading=1.5)
    doubtful = render(replace(plain, judgement=judgement), texts)
    assert texts.answered not in doubtful
    assert all(said in doubtful for said in (texts.nearest, texts.unheard, texts.reading.format(odds=1.5)))
    compared = render(inspected(assistant, "ZeRO-2 和 ZeRO-3 差在哪？"), texts)
    assert compared.count('class="figures ranking"') == 3
    assert {reason for reason in RefusalReason if not hasattr(texts, f"reason_{reason}")} == AFTER_WRITING
    assert all(hasattr(texts, f"feature_{field.name}") for field in fields(AnswerabilityFeatures))
