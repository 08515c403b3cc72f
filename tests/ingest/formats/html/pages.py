"""How the tests of this folder read HTML."""

from ingest.formats import webpage
from ingest.formats.extract import Extract

# A paragraph that is long enough to be the text of a page.
LONG = "这一段讲的是服务怎样排队，以及请求在显卡上怎样合批，长到足以算作正文。"


def page(body: str, *, head: str = "") -> Extract:
    """A page with this body, as the reader of pages gives it."""
    return webpage.read(f"<!doctype html><html><head><title>题</title>{head}</head><body>{body}</body></html>".encode())


def lines(body: str, *, head: str = "") -> list[str]:
    """The lines of a page that are not blank."""
    return [line for line in page(body, head=head).text.splitlines() if line.strip()]
