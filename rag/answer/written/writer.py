"""An answer written by a chat model from selected paragraphs, checked, with quotes where it fails."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from rag.answer.choices import STYLES, StyleName
from rag.answer.quoted.paragraphs import BLOCKS, Paragraph, without_orders
from rag.answer.quoted.writer import QuoteWriter, select_quotes, sources_of, wanted_of, write_quotes
from rag.answer.trace import Event, ModelLoading, Selection, TextAdded, TextDiscarded, Trace, WrittenAnswer
from rag.answer.verdict import is_refused_unsupported
from rag.answer.written.checked_text import UNSUPPORTED_MARK, CheckedText
from rag.answer.written.claims import without_model_markers
from rag.answer.written.context import as_context, choose_context
from rag.answer.written.prompts import GO_ON
from rag.answer.written.reply import may_say_no_answer, prompt_for, says_no_answer, stream_reply
from rag.errors import ChatModelError, ChatModelProblem
from rag.language.language import Language
from rag.text.sentences import Unit
from rag.types import Passage

logger = logging.getLogger(__name__)

# Passages whose sentences may support the model's text, besides those it was given.
MODEL_PASSAGES = 4
# Problems of the reply itself: there is nothing in it to continue.
OF_THE_REPLY = frozenset(
    {ChatModelProblem.LOOPS, ChatModelProblem.LANGUAGE, ChatModelProblem.UNSUPPORTED, ChatModelProblem.FAILED}
)
# Before the quotes that follow a chat model's text.
ALSO = {Language.ZH: "**资料原文还说：**", Language.EN: "**The material also says:**"}


class ChatModelWriter:
    """Lets a chat model write, and checks every sentence. Quotes follow a small model's text, fill in for sentences
    that were left out, and replace a text of which nothing is supported."""

    def select(self, trace: Trace) -> Selection:
        resources, result = trace.resources, trace.decision.result
        assert resources.chat_model is not None
        share = resources.choices.answer_style.evidence
        budget = int(resources.chat_model.evidence_tokens * (min(share, 1.0) if resources.is_small else share))
        evidence = replace(result.evidence, query=result.selection_query)
        chosen = choose_context(evidence, trace.rankings, budget, wanted=wanted_of(result, resources.choices.language))
        prompt = prompt_for(
            result.evidence.query, as_context(chosen), resources.choices.answer_style, small=resources.is_small
        )
        return Selection(tuple(chosen), prompt)

    def write(self, trace: Trace) -> Iterator[Event | WrittenAnswer]:
        shown = False
        try:
            if trace.resources.chat_model is not None and not trace.resources.chat_model.is_ready():
                yield ModelLoading()
            for item in self._write_checked(trace):
                shown = True
                yield item
            return
        except ChatModelError as error:
            logger.warning("%s; answering with quotes instead", error.message)
            problem = error.problem
        if shown:
            yield TextDiscarded()
        if problem is ChatModelProblem.UNSUPPORTED and is_refused_unsupported(trace):
            yield WrittenAnswer(llm=trace.resources.llm, fallback=problem)
            return
        quotes = QuoteWriter()
        for item in quotes.write(replace(trace, selection=quotes.select(trace))):
            yield replace(item, fallback=problem) if isinstance(item, WrittenAnswer) else item

    def _write_checked(self, trace: Trace) -> Iterator[Event | WrittenAnswer]:
        """Raises ChatModelError if nothing that the model wrote is supported; a large model may decline to answer."""
        resources = trace.resources
        assert resources.chat_model is not None
        passages = _citable(trace)
        checked = CheckedText(
            resources.index,
            passages,
            {passage.document: resources.index.storage.source(passage.document) or "" for passage in passages},
            llm=resources.llm,
            only_supported=resources.choices.only_supported,
        )
        began = False
        pending = ""
        try:
            for text in _reply(trace):
                pending += text
                # The refusal word must not be shown as an answer: wait until the text cannot be its beginning.
                if not began and may_say_no_answer(pending):
                    continue
                began = True
                yield from map(TextAdded, checked.feed(pending))
                pending = ""
        except ChatModelError as error:
            can_go_on = resources.choices.begun is not None and error.problem not in OF_THE_REPLY
            if not can_go_on or not checked.written.is_supported:
                raise
            logger.warning("%s; the answer can be continued", error.message)
            yield replace(checked.written, fallback=ChatModelProblem.CUT)  # without the sentence that it broke off in
            return
        if says_no_answer(pending) and not resources.is_small and not checked.is_wary:
            yield checked.written
            return
        yield from map(TextAdded, checked.feed(pending))
        yield from map(TextAdded, checked.finish())
        written = checked.written
        if not written.is_supported:
            raise ChatModelError(
                "nothing that the chat model wrote is supported by the material",
                hint="the quotes are given instead",
                problem=ChatModelProblem.UNSUPPORTED,
            )
        if resources.is_small or written.left_out or not all(claim.supported for claim in written.claims):
            more = _quotes_beside(trace, written)
            yield from map(TextAdded, more.chunks)
            written = replace(
                written,
                chunks=written.chunks + more.chunks,
                claims=written.claims + more.claims,
                citations=written.citations + more.citations,
            )
        yield written


def prompt_of(trace: Trace) -> tuple[tuple[str, str], ...]:
    """The messages that a chat model was sent, or would have been sent in place of quotes, as (role, text)."""
    if trace.selection.prompt or trace.decision.refusal is not None:
        return trace.selection.prompt
    style, question = trace.resources.choices.answer_style, trace.decision.result.evidence.query
    return prompt_for(question, as_context(without_orders(trace.selection.paragraphs)), style, small=False)


def _reply(trace: Trace) -> Iterator[str]:
    """The model's raw text, or the reply that an agent has already written. The beginning of a reply that broke off
    comes first, and is checked like the rest."""
    if trace.exploration.reply is not None:
        return iter((trace.exploration.reply,))
    assert trace.resources.chat_model is not None
    begun = without_model_markers(trace.resources.choices.begun or "").replace(UNSUPPORTED_MARK, "").rstrip()
    prompt, query = trace.selection.prompt, trace.decision.result.evidence.query
    if begun:
        prompt = (*prompt, ("ai", begun), ("human", GO_ON[trace.language is Language.ZH]))
    reply = stream_reply(trace.resources.chat_model.model, query, prompt)
    return chain((f"{begun}\n\n",), reply) if begun else reply


def _citable(trace: Trace) -> list[Passage]:
    """The passages whose sentences may support the reply: those that the model read, and the best hits."""
    read = [paragraph.passage for paragraph in trace.selection.paragraphs]
    hits = [hit.passage for hit in trace.decision.result.evidence.hits[:MODEL_PASSAGES]]
    return list({passage.number: passage for passage in (*read, *hits)}.values())


def _quotes_beside(trace: Trace, written: WrittenAnswer) -> WrittenAnswer:
    """Under a heading, the paragraphs that the model's text does not cite; only the best if a large model wrote it."""
    resources = trace.resources
    style = resources.choices.answer_style if resources.is_small else STYLES[StyleName.SHORT]
    left = _uncited(select_quotes(trace, style), written)
    if not left:
        return WrittenAnswer()
    heading = ALSO[trace.language]
    gap = "" if written.chunks[-1].endswith("\n\n") else "\n\n"
    quotes = write_quotes(left, sources_of(trace, left), first=len(written.citations) + 1)
    return replace(quotes, chunks=(f"{gap}{heading}\n\n", *quotes.chunks))


def _uncited(chosen: Sequence[Paragraph], written: WrittenAnswer) -> list[Paragraph]:
    """The parts of the paragraphs that an answer does not cite; a line that announces a block stays with it."""
    cited = [(citation.document, citation.start, citation.end) for citation in written.citations]

    def is_cited(paragraph: Paragraph, unit: Unit) -> bool:
        document, span = paragraph.passage.document, paragraph.passage.content.source_range(unit.start, unit.end)
        return span is None or any(
            name == document and start <= span[0] and span[1] <= end for name, start, end in cited
        )

    left = []
    for paragraph in chosen:
        units: list[Unit] = []
        for unit in reversed(paragraph.units):
            if not is_cited(paragraph, unit) or (units and units[0].kind in BLOCKS):
                units.insert(0, unit)
        if not all(is_cited(paragraph, unit) for unit in units):
            left.append(replace(paragraph, units=tuple(units)))
    return left
