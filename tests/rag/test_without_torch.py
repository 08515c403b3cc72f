"""Never: torch in a program that reads documents with the default embedder's kind and answers."""

import os
import subprocess
import sys
from pathlib import Path

from rag.models import e5
from tests.paths import ROOT
from tests.rag.models.e5_oracle import write_tiny

ASKS = """
import sys
from ingest.__main__ import main as ingest
from rag.answer.assistant import Assistant
from rag.settings import load_settings
index = sys.argv[2]
assert ingest([sys.argv[1], "--index", index]) == 0
assert Assistant.open(load_settings(options={"index": index, "llm": "extractive"})).ask("旋转位置编码").text
print("heavy:", sorted({"torch", "transformers", "sentence_transformers", "tokenizers"} & set(sys.modules)))
"""


def test_a_process_that_reads_and_answers_imports_no_torch(tmp_path: Path) -> None:
    e5.convert(write_tiny(tmp_path / "tiny.bin", spare_positions=512), tmp_path / "model")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# 旋转位置编码\n\n旋转位置编码旋转查询和键。\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", ASKS, str(tmp_path / "notes"), str(tmp_path / "index")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"INTERVIEW_RAG_EMBEDDER": str(tmp_path / "model")},
    )
    assert "heavy: []" in done.stdout, done.stderr
