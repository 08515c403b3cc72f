"""The program's own location. Imports nothing of ours."""

from pathlib import Path

# The built-in material. In a checkout, a link to the top-level folder; an installed program has it inside.
CORPUS = Path(__file__).resolve().parent / "corpus"
# The folder of the packages `rag` and `ingest`, which child processes need on their path.
PROGRAM = Path(__file__).resolve().parents[1]
