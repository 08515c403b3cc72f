"""Headings of follow-ups in a source: `## 追问`, `**常见追问**`, `常见追问：`, `### Follow-up questions`."""

import re

from rag.language.lexicon import either
from rag.language.numbering import LIST_NUMBER

FOLLOW_UPS_BEGIN = re.compile(
    rf"^[ \t]*(?P<marks>#{{0,6}})[ \t]*\**{either('headings', 'follow_ups')}(?:[ \t]*&[^\n]*)?\**[:：]?[ \t\r]*$"
    rf"|^[ \t]*(?P<english>#{{1,6}})[ \t]*{either('headings', 'follow_ups_in_english')}[:：]?[ \t\r]*$",
    re.MULTILINE | re.IGNORECASE,
)
# Unmarked lines that end a section of follow-ups without a heading.
FOLLOW_UPS_END = re.compile(rf"^[ \t]*(?:{either('headings', 'after_follow_ups')}|\d{{1,2}}[.、][^?？]*$)")
# A question marked as one in a line of prose: `Q: …`, `**…？**`, `1、…？`.
MARKED_QUESTION = re.compile(
    rf"[ \t]*(?:{LIST_NUMBER}[ \t]*|Q\d*[ \t]*[:：.][ \t]*|\*\*Q?[:：]?)(.{{4,}}?[?？])\**[ \t]*$"
)
QUESTION = re.compile(r"(.{4,}?[?？])\**[ \t]*$")
# A line that is a heading by itself, in a document without markup.
LABEL = re.compile(r"[\u4e00-\u9fff]{2,8}[:：]?")
