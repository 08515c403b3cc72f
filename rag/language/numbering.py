"""How headings and items of lists are numbered: 31、, Q1：, 2), (3), 三、, 第三章."""

import re

# Of a list: 1. 2) 3、
LIST_NUMBER = r"\d{1,2}[.)、）]"
CHINESE_NUMBER = "[〇零一二三四五六七八九十百]"
# 三、
CHINESE_ITEM = "[一二三四五六七八九十]+、"
# 第三, 第12, before what is counted.
CHINESE_ORDINAL = rf"第(?:{CHINESE_NUMBER}|\d){{1,5}}"
CHINESE_CHAPTER = rf"{CHINESE_ITEM}|{CHINESE_ORDINAL}[章节篇部]"
NUMBERING = re.compile(
    rf"(?:Q\s?\d{{1,3}}\s*[:：.、]|\d{{1,3}}\s*[、.．)）](?!\d)|{CHINESE_ITEM}|[(（]\d{{1,2}}[)）])\s*"
)


def without_numbering(heading: str) -> str:
    """`31、请说明…` -> `请说明…`; `3.5 倍` stays."""
    numbering = NUMBERING.match(heading)  # `sub` would try every place of a long line
    return heading[numbering.end() :] if numbering else heading
