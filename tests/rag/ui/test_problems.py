"""What went wrong is told in the reader's language."""

from pathlib import Path

import pytest

from ingest.library import Library
from rag import errors
from rag.errors import ChatModelProblem, ModelError, RagError, UsageError
from rag.models import locate
from rag.settings import Settings
from rag.ui.chat.messages import problem_text
from rag.ui.library.report import why_not
from rag.ui.problems import OF_THE_CONNECTION, SENTENCES, tell, tell_fallback
from rag.ui.texts import LIBRARY_TEXTS, TEXTS, Language
from tests.conftest import HashEmbedder

KINDS: list[type[RagError]] = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and RagError in kind.__mro__[1:]
]


def has_chinese(text: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in text)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.code in SENTENCES])
def test_every_common_kind_in_both_languages(kind: type[RagError]) -> None:
    chinese, english = (tell(kind("disk 7 is full", hint="buy one"), TEXTS[language]) for language in Language)
    assert has_chinese(chinese)
    assert not has_chinese(english)
    for told in (chinese, english):
        assert "disk 7 is full" in told
        assert "{" not in told


def test_sentences_are_for_codes_that_there_are() -> None:
    assert set(SENTENCES) <= {kind.code for kind in KINDS}
    assert tell(UsageError("no such place", hint="look"), TEXTS[Language.ZH]) == "no such place. look"


@pytest.mark.parametrize("language", Language)
def test_a_missing_model_is_fetched_by_its_name(language: Language, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        locate("multilingual-e5-small", tmp_path)
    assert "python -m rag models fetch multilingual-e5-small" in tell(caught.value, TEXTS[language])
    html = problem_text(caught.value, TEXTS[language])
    assert "<code>python -m rag models fetch multilingual-e5-small</code>" in html


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("code", [*ChatModelProblem, "tomorrow"])
def test_why_quotes_take_the_place_of_a_model(code: str, language: Language) -> None:
    texts = TEXTS[language]
    told = tell_fallback(code, texts)
    assert has_chinese(told) is (language is Language.ZH)
    assert "{" not in told
    assert told.endswith(texts.fallback_settings) is (code in OF_THE_CONNECTION)
    others = {tell_fallback(other, texts) for other in ChatModelProblem if other != code}
    assert (told in others) is (code not in list(ChatModelProblem))


def test_why_a_file_did_not_become_a_document(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    settings = Settings(index=tmp_path / "index", library=tmp_path / "own", max_file_megabytes=1)
    library = Library(settings, hash_embedder)
    files = {"a.exe": b"MZ", "big.md": b"x" * 1_100_000, "note.md": b"# two"}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "note.md").write_bytes(b"# one")
    said = {}
    for language in Language:
        own, texts = LIBRARY_TEXTS[language], TEXTS[language]
        for name in files:
            with pytest.raises(UsageError) as caught:
                library.add(name, tmp_path / name)
            said[name] = why_not(tmp_path / name, caught.value, library, own, texts)
            assert name in said[name]
            assert has_chinese(said[name]) is (language is Language.ZH)
    assert ".md" in said["a.exe"]
    assert "1 MB" in said["big.md"]
    assert own.replace in said["note.md"]
