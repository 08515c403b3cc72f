"""The process that parses untrusted files: python -m ingest.reading.child, which talks over its pipes.

A request is a line of JSON ({"suffix", "size", "seconds"}) and that many bytes; the answer is a line of JSON. With
"page" and "quote" a page of a PDF is drawn instead of read.
Before the first request the process drops its rights: memory and files are limited, and it can no longer reach the
network, files or other programs.
"""

import base64
import json
import os
import resource
import sys
import time
from contextlib import suppress
from typing import Any, BinaryIO

from ingest.formats.extract import Extract, UnreadableError
from ingest.reading.confinement import confine, limit
from ingest.reading.registry import READERS, reader
from rag.errors import Unreadable

MEMORY_BYTES = 1536 << 20
OCR_MEMORY_BYTES = 4096 << 20
# One for one, to keep offsets: characters that no index can hold, and that no text file may.
REPLACED = dict.fromkeys((*range(9), 11, *range(14, 32), 127), " ") | dict.fromkeys(range(55296, 57344), "�")


def main() -> None:
    ocr = sys.argv[1:] == ["--ocr"]
    requests = sys.stdin.buffer
    # A parser's prints must not mix with the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _preload()
    if ocr:
        # Loads the system's C++ library, which cannot be opened later. onnxruntime comes later: it starts a thread
        # that reports to its makers, and must find no way out.
        import cv2  # noqa: F401

        confine(OCR_MEMORY_BYTES, load_models)
    else:
        confine(MEMORY_BYTES)
    answers.write(b"ready\n")
    answers.flush()
    while line := requests.readline():
        _serve(json.loads(line), requests, answers, ocr=ocr)


def load_models() -> None:
    """The models of the extra `ocr`, which are beside its code."""
    from ingest.formats.recognition import load

    load()


def _preload() -> None:
    for suffix in READERS:
        with suppress(UnreadableError):
            reader(suffix)


def _serve(request: dict[str, Any], requests: BinaryIO, answers: BinaryIO, *, ocr: bool) -> None:
    data = requests.read(request["size"])
    limit(resource.RLIMIT_CPU, int(time.process_time() + request["seconds"]) + 1)
    try:
        if "page" in request:
            answer = _picture(data, request["page"], request["quote"])
        else:
            answer = _answer(_extract(request["suffix"], data, ocr=ocr))
    except UnreadableError as error:
        answer = {"error": error.message, "hint": error.hint, "reason": error.reason}
    except MemoryError:
        answer = {
            "error": "needs more memory than a document may",
            "hint": "split the file",
            "exhausted": True,
            "reason": Unreadable.LARGE,
        }
    except RecursionError:
        answer = {
            "error": "is nested too deeply", "hint": "save it again with the program it comes from",
            "reason": Unreadable.LARGE,
        }  # fmt: skip
    except Exception as error:  # libraries fail on hostile files in undocumented ways
        answer = {
            "error": f"cannot be parsed: {type(error).__name__}: {str(error)[:200]}",
            "hint": "save it again with the program it comes from",
            "reason": Unreadable.DAMAGED,
        }
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def _extract(suffix: str, data: bytes, *, ocr: bool) -> Extract:
    read = reader(suffix)
    if ocr and suffix == ".pdf":
        from ingest.formats.pdf import read as read_pdf
        from ingest.formats.recognition import recognize

        return read_pdf(data, recognize)
    return read(data)


def _picture(data: bytes, page: int, quote: str) -> dict[str, Any]:
    from ingest.formats.pdf.picture import picture

    drawn = picture(data, page, quote)
    png = base64.b64encode(drawn.png).decode()
    return {"png": png, "width": drawn.width, "height": drawn.height, "boxes": drawn.boxes}


def _answer(extract: Extract) -> dict[str, Any]:
    return {
        "text": extract.text.translate(REPLACED),
        "title": extract.title.translate(REPLACED),
        "pages": extract.pages,
        "warnings": extract.warnings,
        "is_markdown": extract.is_markdown,
        "removed": [line.translate(REPLACED) for line in extract.removed],
    }


if __name__ == "__main__":
    main()
