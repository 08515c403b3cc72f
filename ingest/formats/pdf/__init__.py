"""PDF files: what their pages show, put together as Markdown."""

from ingest.formats.pdf.document import read

__all__ = ["read"]
