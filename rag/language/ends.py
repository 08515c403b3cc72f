"""How sentences and clauses end."""

import re
import string
from collections.abc import Iterator

# Inline code and formulas: their content neither ends a sentence nor is prose.
INLINE_VERBATIM = re.compile(r"`[^`\n]*`|\$[^$\n]+\$")
# Quotation marks and brackets that close after the end of their content.
CLOSING = "[”’」』）)]*"
# What may stand behind the mark at an end: white space, quotation marks, brackets, emphasis.
BEHIND_AN_END = f"{string.whitespace}\xa0\u2002\u2003\u2009\u202f\u3000”’」』）)*_"
# A bracket behind a colon is a smiley.
BEHIND_A_COLON = f"{string.whitespace}\xa0\u3000*_"
FULL_STOPS, QUESTION_MARKS, SEMICOLONS, COLONS, COMMAS = "。.！!", "？?", "；;", "：:", "，,、"
STOPS = FULL_STOPS + QUESTION_MARKS + SEMICOLONS
# A line of prose: it holds a full stop, or a colon before text, or ends with any mark but a question mark.
PROSE = re.compile(rf"[{FULL_STOPS}{SEMICOLONS}{COLONS}{COMMAS}…]{CLOSING}\s*$|[。！？；](?=.)|[：:]\s*\S")
# Abbreviations whose full stop ends no sentence ("Hu et al. 发现"), unless the text ends there.
ABBREVIATIONS = "".join(
    rf"(?<!\b{name}\.)" for name in ("et al", "vs", "cf", "Dr", r"e\.g", r"i\.e", "[Ff]ig", "[Ee]q", "[Ss]ec")
)
HALF_WIDTH_ENDS = r"(?=[\s!?。！？”’」』）)\"*_]|$|[\u2e80-\u9fff])"
# Begins with the marks: the search for them takes no time.
SENTENCE_END = re.compile(
    rf"[。！？!?.](?:(?:(?<=[。！？])|(?<=[!?]){HALF_WIDTH_ENDS})(?:[。！？]|[!?]{HALF_WIDTH_ENDS})*[”’」』）)]*"
    rf"|(?<=[a-z0-9)]\.)(?:(?=\s*$)|{ABBREVIATIONS}(?=\s+[A-Z\u4e00-\u9fff])))"
)
# For a stream: half-width marks end a sentence only before white space, neither in a URL nor in `a != b`.
SENTENCE_OF_A_STREAM = re.compile(
    rf".*?(?:[。！？；]+{CLOSING}|[!?;]+{CLOSING}(?=\s)|(?<=[a-z0-9)])\.(?=\s)|\n)", re.DOTALL
)
# For speech or hasty typing: semicolons and line breaks end a sentence as well.
SPOKEN_END = re.compile(
    rf"[。！？!?；;\n]+{CLOSING}|(?:(?<=[a-z0-9)%\u0370-\u03ff])|(?<=[A-Z]{{2}}))\.(?=\s+[A-Z]|\s*$)", re.MULTILINE
)
CLAUSE_END = re.compile(r"[，,；;：:。！？!?]\s*|\b(?:but|while|whereas)\b")
ENDS_CLAUSE = re.compile(r"[，,、：:]|\s")


def ends_with(text: str, marks: str = STOPS, *, behind: str = BEHIND_AN_END) -> bool:
    """Whether a text ends with one of the marks, whatever stands behind it; by default, with one that ends a sentence.

    >>> ends_with("他说“可以。”"), ends_with("**分三步：**"), ends_with("分三步：", STOPS + COLONS)
    (True, False, True)
    """
    return text.rstrip(behind).endswith(tuple(marks))


def is_finished(line: str) -> bool:
    """Whether a line of a wrapped text ends a sentence or announces something, so that the next line begins anew."""
    return ends_with(line, f"{STOPS}{COLONS}…", behind=f'{BEHIND_AN_END}"')


def ends_of(text: str) -> Iterator[int]:
    """Where the sentences of a text end, blanks after them included."""
    for found in SENTENCE_END.finditer(text):
        yield found.end() + len(text[found.end() :]) - len(text[found.end() :].lstrip(" \t"))


def first_sentence(text: str) -> str:
    """The first sentence of the first line with text.

    >>> first_sentence("LoRA 冻结权重。只训练两个矩阵。"), first_sentence("As Hu et al. show.\\nMore")
    ('LoRA 冻结权重。', 'As Hu et al. show.')
    """
    line = text.strip().partition("\n")[0].rstrip()
    end = SENTENCE_END.search(line)
    return line[: end.end()] if end else line
