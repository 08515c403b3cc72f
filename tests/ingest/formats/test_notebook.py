"""Notebooks: text as it stands, outputs short, no pictures."""

import json
from typing import Any

from ingest.formats import notebook
from ingest.formats.extract import Extract
from ingest.reading.loading import document_of

PICTURE = "iVBORw0KGgo" * 30


def read(*cells: dict[str, Any]) -> Extract:
    return notebook.read(json.dumps({"cells": cells, "metadata": {}}).encode())


def code(*outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": "f()", "outputs": list(outputs)}


def shown(**data: str) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {name.replace("_", "/"): text for name, text in data.items()}}


def outputs(*found: dict[str, Any]) -> str:
    return read(code(*found)).text.removeprefix("```python\nf()\n```").lstrip()


def test_outputs_are_text() -> None:
    assert (
        outputs({"output_type": "stream", "text": "\x1b[31m红\x1b[0m\n"}, shown(text_plain="1"))
        == "```text\n红\n1\n```"
    )
    assert outputs({"output_type": "error", "ename": "ValueError", "evalue": "坏"}) == "```text\nValueError: 坏\n```"
    assert outputs(shown(text_markdown="**好**", text_plain="<IPython.core.display.Markdown object>")) == "**好**"
    page = "<table><tr><th>甲</th></tr><tr><td>1</td></tr></table>"
    assert outputs(shown(text_html=page, text_plain="<IPython.core.display.HTML object>")) == "| 甲 |\n|---|\n| 1 |"
    assert outputs(shown(text_html=page, text_plain="   甲\n0  1")) == "```text\n   甲\n0  1\n```"
    assert outputs(shown(text_plain="<Figure size 640x480 with 1 Axes>")) == ""


def test_long_outputs_are_cut() -> None:
    told = outputs({"output_type": "stream", "text": "\n".join(map(str, range(500)))})
    assert told.endswith("11\n…\n```")


def test_pictures_are_left_out_and_counted() -> None:
    cell = {
        "cell_type": "markdown",
        "source": "# 题\n![曲线](attachment:a.png)",
        "attachments": {"a.png": {"image/png": PICTURE}},
    }
    found = read(cell, code(shown(image_png=PICTURE, text_plain="<Figure size 1x1>")))
    assert found.text == "# 题\n曲线\n\n```python\nf()\n```"
    assert found.warnings == ("2 pictures of outputs and attachments left out",)


def test_a_picture_that_is_written_into_the_text_of_a_cell_is_left_out_and_told() -> None:
    cell = {"cell_type": "markdown", "source": f"![图](data:image/png;base64,{PICTURE})\n文。"}
    document = document_of("a.ipynb", ".ipynb", json.dumps({"cells": [cell]}).encode())
    assert PICTURE[:40] not in document.source
    assert document.warnings == ("1 picture embedded in the text left out",)
