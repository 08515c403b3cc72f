"""Small pieces of HTML that tell how something went."""

from html import escape


def hint(text: str) -> str:
    return f'<p class="hint">{escape(text)}</p>'


def under_way(text: str) -> str:
    return f'<p class="hint" role="status">{escape(text)}</p>'


def done(text: str) -> str:
    return f'<p role="status">{escape(text)}</p>'


def problem(text: str, *, details: str = "", summary: str = "") -> str:
    """What went wrong; `details` are behind a `summary` that opens."""
    told = f'<p class="problem" role="alert">{escape(text)}</p>'
    return told + (f"<details><summary>{escape(summary)}</summary>{hint(details)}</details>" if details else "")
