"""Finds code that scraping left without fences, often without line breaks, and gives it lines and a fence of its own.

A line is code when, apart from comments and strings, it is ASCII and Python parses it as a statement that does
something. Lost indentation is not invented: the lines stay as the page has them.
"""

import ast
import re
import warnings
from collections.abc import Sequence
from functools import lru_cache

from ingest.formats.encoding import CHINESE
from ingest.structure.lines import Line
from rag.text.mapped import MappedText

OPENING = re.compile(r"`{3,}")
MAX_STATEMENT_LINES = 12
# Longer lines are prose or data; splitting them into statements would cost more than it is worth.
MAX_CODE_LINE = 2_000
MAX_CUT_POINTS = 200
SHELL = re.compile(r"^(?:\$ )?[a-z][\w.-]*(?: [\w./=:-]+)* --?[a-z][\w-]*[\s\S]*$")
COMMENT_THEN_COMMAND = re.compile(r"^(#.*[\u4e00-\u9fff])([a-z][\w-]* --[a-z].*)$")
LITERAL_THEN_NAME = re.compile(r"\b(?:True|False|None)(?=[a-z]\w*\.)")
HEADER_WORDS = (
    "if ", "for ", "while ", "with ", "def ", "class ", "try:", "else:", "elif ", "except", "finally:", "async ",
)  # fmt: skip


FENCE = Line(MappedText.added("```"), is_code=True)


def fence_code(lines: Sequence[MappedText]) -> list[Line]:
    """The lines with every run of code lines between fences. Lines inside existing fences stay as they are."""
    result: list[Line] = []
    position = 0
    while position < len(lines):
        opening = OPENING.match(lines[position].text.strip())
        if opening:
            end = _fence_end(lines, position, opening[0])
            result += (Line(line, is_code=True) for line in lines[position:end])
            if not (end - position > 1 and _closes(lines[end - 1], opening[0])):
                result.append(Line(MappedText.added(opening[0]), is_code=True))
            position = end
            continue
        code, end = _code_at(lines, position)
        if not code:
            result.append(Line(lines[position]))
            position += 1
            continue
        while end < len(lines):
            more, next_end = _code_at(lines, end)
            if not more:
                break
            code += more
            end = next_end
        result += [FENCE, *(Line(line, is_code=True) for line in code), FENCE]
        position = end
    return result


def split_glued_fence(line: MappedText) -> list[MappedText]:
    """`例如:```` opens a fence at the end of a sentence: give the fence a line of its own."""
    text = line.text.rstrip()
    if text.endswith("```") and len(text) > 3 and text.count("```") == 1:
        return [line[: len(text) - 3], line[len(text) - 3 : len(text)]]
    return [line]


def _closes(line: MappedText, opening: str) -> bool:
    text = line.text.strip()
    return len(text) >= len(opening) and not text.strip("`")


def _fence_end(lines: Sequence[MappedText], start: int, opening: str) -> int:
    """Index after the last line of the fence. An unclosed one ends where its brackets are closed again."""
    data = start + 1 < len(lines) and lines[start + 1].text.strip().startswith(("{", "["))
    depth = 0
    for index in range(start + 1, len(lines)):
        text = lines[index].text
        if _closes(lines[index], opening):
            return index + 1
        depth += sum(text.count(bracket) for bracket in "([{") - sum(text.count(bracket) for bracket in ")]}")
        if data and depth <= 0 and not _closes(lines[min(index + 1, len(lines) - 1)], opening):
            return index + 1
    return len(lines) if not data else start + 1


def _code_at(lines: Sequence[MappedText], start: int) -> tuple[list[MappedText], int]:
    """The code lines that begin at `start`, and the index after them; no lines if it is not code."""
    line = lines[start]
    text = line.text.strip()
    if not text or len(text) > MAX_CODE_LINE:
        return [], start
    glued = COMMENT_THEN_COMMAND.match(line.text)
    if glued:
        return [line[: glued.end(1)], line[glued.start(2) :]], start + 1
    if text.startswith("#"):
        following = start + 1
        if following < len(lines) and not lines[following].text.strip().startswith("#"):
            more, end = _code_at(lines, following)
            if more:
                return [line, *more], end
        return [], start
    if not _is_ascii_code(text):
        return [], start
    if SHELL.match(text) and " --" in text:
        return [line.strip()], start + 1
    for end in range(start + 1, min(start + 1 + MAX_STATEMENT_LINES, len(lines) + 1)):
        block = "\n".join(part.text.strip() for part in lines[start:end])
        if _brackets_open(block):
            continue
        if _is_statement(block):
            statements = _split_joined(line.strip()) if end == start + 1 and "#" in text else []
            if len(statements) > 2:  # more than a statement and its comment
                return statements, end
            return [part for line in lines[start:end] for part in _split_literals(line.strip())], end
        break
    statements = _split_joined(line.strip())
    return (statements, start + 1) if statements else ([], start)


def _split_literals(line: MappedText) -> list[MappedText]:
    """`deterministic = Truetorch.backends…`: two statements whose line break was lost."""
    cuts = [match.end() for match in LITERAL_THEN_NAME.finditer(line.text)]
    return [line[a:b] for a, b in zip([0, *cuts], [*cuts, len(line)], strict=True)]


def _is_ascii_code(text: str) -> bool:
    without_comments = re.sub(r"#.*", "", text)
    without_strings = re.sub(r"'[^'\n]*'|\"[^\"\n]*\"", "''", without_comments)
    return without_strings.isascii() and bool(re.search(r"[=(.:]|^(?:import|return|from|pass)\b", without_strings))


def _brackets_open(text: str) -> bool:
    plain = re.sub(r"#.*|'[^'\n]*'|\"[^\"\n]*\"", "", text)
    return sum(plain.count(b) for b in "([{") > sum(plain.count(b) for b in ")]}")


@lru_cache(maxsize=20_000)
def _is_statement(text: str) -> bool:
    """Whether Python parses `text` as statements that do something (a bare name or a product of names does not)."""
    body = re.sub(r"(?:(?<!\s)\s+)?#[^'\"]*$", "", text)
    if body.endswith(";"):
        return False  # `loss.backward();`: the semicolon belongs to the sentence around the code
    if body.startswith("@"):
        return body[1:].replace(".", "").isidentifier()
    candidate = body + "\n pass" if body.endswith(":") and body.startswith(HEADER_WORDS) else body
    for prefix, word in (("try:\n pass\n", ("except", "finally")), ("if 1:\n pass\n", ("elif", "else"))):
        if body.startswith(word):
            candidate = prefix + candidate
    if body.startswith(("return", "yield")):
        candidate = "def f():\n " + candidate.replace("\n", "\n ")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            module = ast.parse(candidate)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(module.body) and all(_does_something(statement) for statement in module.body)


def _does_something(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.AnnAssign):
        return statement.value is not None  # `loss: 0.3` is prose
    if isinstance(statement, ast.Expr):
        value = statement.value
        # `np.random.seed(0)` and `print(x)` do something; `Softmax(x)` or `GPT-4 (2023)` is a formula or a name.
        return isinstance(value, ast.Call) and (
            isinstance(value.func, ast.Attribute)
            or (isinstance(value.func, ast.Name) and value.func.id.islower() and len(value.func.id) > 1)
        )
    return True


def _split_joined(line: MappedText) -> list[MappedText]:
    """Split code whose line breaks were lost into the fewest statements that cover it; empty if it cannot be split.

    `x = f(a) y = g(x)` -> `x = f(a)`, `y = g(x)`. A comment ends before the first statement that follows its Chinese
    text.
    """
    text = line.text.removesuffix("-").rstrip()
    cuts = _cut_points(text)
    if len(cuts) > MAX_CUT_POINTS:
        return []
    best: dict[int, tuple[int, list[tuple[int, int]]]] = {0: (0, [])}
    for end_index in range(1, len(cuts)):
        end = cuts[end_index]
        for start in reversed(cuts[:end_index]):
            if start not in best:
                continue
            part = text[start:end].strip()
            if not (_is_whole_comment(part) if part.startswith("#") else _is_single_statement(part)):
                continue
            cost = best[start][0] + 1
            if end not in best or cost < best[end][0]:
                best[end] = (cost, [*best[start][1], (start, end)])
    if len(text) not in best or best[len(text)][0] < 2:
        return []
    return [line[a:b].strip() for a, b in best[len(text)][1]]


def _is_whole_comment(part: str) -> bool:
    """A Chinese comment ends with Chinese: what follows it is code again."""
    return not CHINESE.search(part) or bool(CHINESE.match(part[-1]))


def _is_single_statement(part: str) -> bool:
    """One statement without the body of another: `for x in y:` but not `for x in y: f(x)`."""
    if not part.isascii() or " @" in part or (part.startswith(HEADER_WORDS) and not part.endswith(":")):
        return False
    return _is_statement(part)


def _cut_points(text: str) -> list[int]:
    """0, the spaces outside brackets and strings, and the end."""
    cuts = [0]
    depth = 0
    quote = ""
    for index, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == " " and depth == 0:
            cuts.append(index)
    return [*cuts, len(text)]
