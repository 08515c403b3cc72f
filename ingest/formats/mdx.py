"""MDX -> Markdown: omits imports, exports, comments and component tags, and keeps the text inside them."""

import re

from ingest.formats.encoding import decoded
from ingest.formats.extract import Extract

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
STATEMENT = re.compile(
    r"import\s*(?:['\"{]|[\w$*][\w$*,{} ]*\sfrom\s*['\"])"
    r"|export\s+(?:(?:default|const|let|var|function|class|async)\s+[\w$({]|[*{])",
    re.ASCII,
)
# A component's name begins with a capital, or is empty; backticks enclose code.
COMPONENT = re.compile(r"(`+[^`]*`+)|</?(?:[A-Z][\w.]*(?:\s(?:[^<>{}\"']|\"[^\"]*\"|'[^']*'|\{[^{}]*\})*)?)?/?>")
COMMENT = re.compile(r"\{/\*.*?\*/\}", re.DOTALL)
MOST_OF_A_LINE = 20_000


def read(data: bytes) -> Extract:
    text, warnings = decoded(data)
    lines: list[str] = []
    fence, in_statement = "", False
    for line in COMMENT.sub("", text).splitlines():
        mark = FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) and not line.strip(" `~") else fence
            lines.append(line)
            continue
        if mark and not in_statement:
            fence = mark[1]
            lines.append(line)
            continue
        # A statement ends where its paragraph ends.
        in_statement = bool(line.strip()) and (in_statement or bool(STATEMENT.match(line)))
        if not in_statement:
            lines.append(_without_components(line))
    return Extract("\n".join(lines).strip("\n") + "\n", warnings=warnings)


def _without_components(line: str) -> str:
    if "<" not in line or len(line) > MOST_OF_A_LINE:
        return line
    return COMPONENT.sub(lambda match: match[1] or "", line)
