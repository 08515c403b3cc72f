"""Checks what a chat model writes, sentence by sentence, against the evidence before it is shown."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from rag.answer.trace import WrittenAnswer
from rag.answer.written.claims import evidence_sentences, supporting, without_model_markers
from rag.answer.written.prompts import AGENT_SYSTEM, SYSTEM, SYSTEM_OF_SMALL
from rag.index import Index
from rag.language.ends import SENTENCE_OF_A_STREAM
from rag.language.injection import injection_spans
from rag.language.numbering import LIST_NUMBER
from rag.settings import ChatModelName
from rag.text.blocks import BlockKind
from rag.text.markdown import parse
from rag.types import Citation, Claim, Passage

# Links, images, their definitions and HTML tags, but nothing in code, and not the signs of `a < b`.
LINK = re.compile(
    r"(?P<code>`[^`\n]+`)|!?\[(?P<text>[^\]\n]*)\](?:\([^)\n]*\)|\[[^\]\n]*\])|^\s*\[[^\]\n]+\]:.*"
    r"|!(?=\[)|</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>|<(?:img|i?frame|script|style|link|object|embed|video|audio|svg|a)\b[^<>]*$|<!--.*?(?:-->|$)"
    r"|<?\b[a-z][a-z0-9+.-]{1,20}://[!-~]+|(?<![\w:/])//[\w-]+\.[!-~]+"
)
LIST_MARK = re.compile(rf"^\s*(?:(?:[-*+•>]|#{{1,6}}|{LIST_NUMBER})\s+|\*\*(?=\S))*")
UNSUPPORTED_MARK = "⚠️"
WORD = re.compile(r"[a-z_]+")
# This many consecutive words of the prompt are no accident.
TOLD = 6


class CheckedText:
    """Takes a chat model's text as it streams and gives it back sentence by sentence with checked citations."""

    def __init__(
        self,
        index: Index,
        passages: Sequence[Passage],
        sources: dict[str, str],
        *,
        llm: ChatModelName,
        only_supported: bool = False,
    ) -> None:
        """With `only_supported`, a sentence that nothing supports is left out, else it is marked. It is also left out
        if a passage gives orders to the model, which may have obeyed, and if it repeats the prompt."""
        self._index = index
        self._llm = llm
        self.is_wary = any(injection_spans(passage.text) for passage in passages)
        self._only_supported = only_supported or self.is_wary
        self._evidence = evidence_sentences(passages, sources)
        self._left_out = 0
        self._pending = ""
        self._chunks: list[str] = []
        self._claims: list[Claim] = []
        self._citations: list[Citation] = []

    def feed(self, text: str) -> Iterator[str]:
        """Checked text for every sentence that `text` completes."""
        self._pending += text
        while end := self._complete(has_new_line="\n" in text):
            sentence, self._pending = self._pending[:end], self._pending[end:]
            yield from self._check(sentence)

    def _complete(self, *, has_new_line: bool) -> int:
        """Where the first sentence or code block of the pending text ends; 0 if its end has not come."""
        if not _may_be_code(self._pending):
            match = SENTENCE_OF_A_STREAM.match(self._pending)
            return match.end() if match else 0
        if not has_new_line:  # the end of code is a line of its own
            return 0
        first = parse(self._pending)[0]
        end = first.end if first.kind is BlockKind.CODE else first.start
        is_complete = first.kind is not BlockKind.CODE or first.is_closed
        return self._pending.find("\n", end) + 1 if is_complete else 0

    def finish(self) -> Iterator[str]:
        rest, self._pending = self._pending, ""
        yield from self._check(rest)

    @property
    def written(self) -> WrittenAnswer:
        return WrittenAnswer(
            tuple(self._chunks), tuple(self._claims), tuple(self._citations), self._left_out, self._llm
        )

    def _check(self, raw: str) -> Iterator[str]:
        is_code = _may_be_code(raw) and parse(raw)[0].kind is BlockKind.CODE
        sentence = raw if is_code else LINK.sub(_inert, without_model_markers(raw))
        body = sentence.strip() if is_code else LIST_MARK.sub("", sentence).strip()
        if not any(character.isalnum() for character in body):
            chunk = sentence
        else:
            support = supporting(body, self._evidence, self._index)
            if not support and (self._only_supported or _tells_the_prompt(body)):
                self._left_out += 1
                return
            markers = tuple(self._marker(unit.citation) for unit in support)
            self._claims.append(Claim(body, markers, supported=bool(support)))
            marks = " " + "".join(f"[{marker}]" for marker in markers) if markers else f" {UNSUPPORTED_MARK}"
            stripped = sentence.rstrip()
            chunk = stripped + (f"\n\n{marks.strip()}" if is_code else marks) + sentence[len(stripped) :]
        if chunk:
            self._chunks.append(chunk)
            yield chunk

    def _marker(self, citation: Citation) -> int:
        for known in self._citations:
            if (known.document, known.start, known.end) == (citation.document, citation.start, citation.end):
                return known.marker
        marker = len(self._citations) + 1
        self._citations.append(replace(citation, marker=marker))
        return marker


def is_plain(text: str) -> bool:
    """Whether a model's text has no links and no HTML, and does not repeat the prompt."""
    return all(match["code"] for match in LINK.finditer(text)) and not _tells_the_prompt(text)


def _may_be_code(text: str) -> bool:
    """A quick check before parsing, since every piece of a reply is checked."""
    first_line = text.lstrip().partition("\n")[0]
    return "```" in first_line or "~~~" in first_line


def _inert(match: re.Match[str]) -> str:
    return match["code"] or match["text"] or ""


def _tells_the_prompt(sentence: str) -> bool:
    words = WORD.findall(sentence.lower())
    return any(tuple(words[start : start + TOLD]) in _told_words() for start in range(len(words) - TOLD + 1))


@cache
def _told_words() -> frozenset[tuple[str, ...]]:
    words = [WORD.findall(text.lower()) for text in (SYSTEM, SYSTEM_OF_SMALL, AGENT_SYSTEM)]
    return frozenset(tuple(text[start : start + TOLD]) for text in words for start in range(len(text) - TOLD + 1))
