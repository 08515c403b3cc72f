"""Where the program itself lies. Imports nothing of ours."""

from pathlib import Path

# What the chatbot knows out of the box. In a checkout a link to the folder at its top; an installed one has it inside.
CORPUS = Path(__file__).resolve().parent / "corpus"
# The folder that holds the packages `rag` and `ingest`, and what child processes need on their path.
PROGRAM = Path(__file__).resolve().parents[1]
