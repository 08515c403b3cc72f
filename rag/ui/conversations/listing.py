"""The list of conversations, as HTML, with snippets around the words searched for."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby

from rag.ui.conversations.store import LISTED, TAG_CHARACTERS, ListedConversation
from rag.ui.readable import words_of
from rag.ui.session.session import Session
from rag.ui.templates import macros_of
from rag.ui.texts import TEXTS, Texts

HTML = macros_of("conversations/listing.html")

# Characters of a snippet before the first match, and in total.
BEFORE, LENGTH = 24, 90
# Characters of an answer read around the match, and on to the ends of their lines; reading a whole answer for each
# conversation would be slow.
REACH = 400
FORMULA = re.compile(r"(\$\$?[^$\n]+\$\$?)")


def marked(text: str, words: Sequence[str]) -> str:
    """HTML with every word marked, ignoring case; formulas are to be drawn."""
    pattern = _pattern(words)
    pieces: list[tuple[str, bool, bool]] = []  # whether each is a formula, and whether it is marked
    for place, part in enumerate(FORMULA.split(text)):  # matches are at odd places
        if place % 2:
            pieces.append((part, True, pattern is not None and pattern.search(part) is not None))
        else:
            words_and_others = pattern.split(part) if pattern is not None else [part]
            pieces += [(piece, False, odd % 2 == 1) for odd, piece in enumerate(words_and_others)]
    return HTML("marked", pieces=pieces)


def snippet(text: str, words: Sequence[str]) -> str:
    """The text around the first search word found, as HTML; empty if none is found."""
    pattern = _pattern(words)
    found = pattern.search(text) if pattern else None
    if pattern is None or found is None:
        return ""
    low = text.rfind("\n", 0, max(0, found.start() - REACH)) + 1
    high = text.find("\n", found.end() + REACH) + 1 or len(text)
    line = words_of(text[low:high])
    again = pattern.search(line)
    if again is None:  # it is in hidden text, such as the address of a link
        return ""
    formulas = [formula.span() for formula in FORMULA.finditer(line)]
    start = max(0, again.start() - BEFORE)
    start = next((begins for begins, ends in formulas if begins < start < ends), start)
    end = min(len(line), start + LENGTH)
    end = next((ends for begins, ends in formulas if begins < end < ends), end)
    before = "…" if low or start else ""
    after = "…" if high < len(text) or end < len(line) else ""
    return f"{before}{marked(line[start:end], words)}{after}"


def _pattern(words: Sequence[str]) -> re.Pattern[str] | None:
    longest_first = sorted(filter(None, words), key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, longest_first))})", re.IGNORECASE) if longest_first else None


# Without one of these a title is read as it is written: most are, and parsing a hundred would be slow.
SIGNS = frozenset("*`#[_~|>")


def render_list(
    listed: Sequence[ListedConversation],
    session: Session,
    now: datetime,
    *,
    tags: Sequence[str] = (),
    unkept: bool = False,
    set_aside: Sequence[str] = (),
) -> str:
    """`now` is a local time; `tags` are those in use; `unkept` if nothing can be saved, `set_aside` names damaged
    files."""
    texts, words = TEXTS[session.language], session.search_words.split()
    problems = [texts.conversations_unkept] if unkept or session.unkept else []
    if set_aside:
        problems.append(texts.conversations_set_aside.format(files=texts.list_separator.join(set_aside)))
    last = texts.conversations_more if len(listed) > LISTED else ""
    if not listed:
        not_found = texts.conversations_not_found.format(sought=session.search_words)
        last = not_found if words else texts.conversations_none
    groups = [
        (day, [(item, *_found(item, words)) for item in items])
        for day, items in groupby(listed[:LISTED], lambda item: texts.pinned if item.pinned else _day(item, now, texts))
    ]
    count = len(session.deleted)
    deleted = texts.deleted if count == 1 else texts.deleted_many.format(count=count) if count else ""
    values = {"groups": groups, "current": session.conversation, "problems": problems, "deleted": deleted, "last": last}
    return HTML("list", **values, tags=tags, tagged=session.tag_filter, longest=TAG_CHARACTERS, texts=texts)


def _day(item: ListedConversation, now: datetime, texts: Texts) -> str:
    day = datetime.fromtimestamp(item.updated, now.tzinfo).date()
    if day >= now.date():
        return texts.today
    return texts.yesterday if day == now.date() - timedelta(days=1) else texts.earlier


def _found(item: ListedConversation, words: Sequence[str]) -> tuple[str, str, str]:
    """A conversation's title without the signs of its Markdown; the same and its match as HTML with the search words
    marked."""
    name = words_of(item.title) if SIGNS.intersection(item.title) else item.title
    title = marked(name, words)
    return name, title, snippet(item.reply, words) or ("" if "<mark>" in title else snippet(item.question, words))


def feedback_export(texts: Texts) -> str:
    """Feedback on answers, as files."""
    kinds = [(kind, getattr(texts, f"feedback_{kind}")) for kind in ("opinions", "sft", "preferences")]
    return HTML("feedback", kinds=kinds, texts=texts)
