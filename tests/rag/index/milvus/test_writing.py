"""What a writer promises: whole generations, updates that cost what the change costs, no trace of what is gone."""

import contextlib
import json
import os
from contextlib import closing
from pathlib import Path

import pytest

from rag.answer.assistant import Assistant
from rag.errors import IndexCorruptError, IndexLockedError, StoreError
from rag.index.milvus.collect import ORDER
from rag.index.milvus.connection import Connection
from rag.index.milvus.generations import ATTEMPT, CLAIM, Generation, flip, read_live
from rag.index.milvus.lease import Lease, writing
from rag.index.milvus.publish import publish
from rag.index.milvus.schema import Table
from rag.search.retrieval import search
from tests.ingest.library import TOPICS
from tests.rag.index.milvus.conftest import Place
from tests.rag.library import DOCUMENTS, LORA, ROPE


def keys(connection: Connection, table: Table) -> set[int]:
    return {int(row["id"]) for row in connection.all(table, "generation >= 0", ["generation"])}


def content(place: Place) -> list[tuple[object, ...]]:
    """All documents with their passages, without numbers."""
    return [
        (d.entry, d.title, d.source, [(p.section, p.content, p.embedding_key, p.number is None) for p in d.passages])
        for d in place.open().storage.documents(with_passages=True)
    ]


def test_an_update_costs_what_the_change_costs(place: Place) -> None:
    place.ingest()
    connection = place.connection()
    before = {table: keys(connection, table) for table in ORDER}
    place.ingest(DOCUMENTS | {"rope.md": ROPE + "\n再说一句：底数越大，低频越慢。\n"})
    after = {table: keys(connection, table) for table in ORDER}
    documents = len(DOCUMENTS)
    assert len(after[Table.DOCUMENTS] - before[Table.DOCUMENTS]) == 1
    assert len(after[Table.DOCUMENTS] & before[Table.DOCUMENTS]) == documents - 1
    rope = place.open().storage.document_numbers("rope.md")
    assert after[Table.PASSAGES] - before[Table.PASSAGES] == set(rope)
    assert before[Table.PASSAGES] - after[Table.PASSAGES]  # those of the page as it was
    place.ingest(DOCUMENTS | {"rope.md": ROPE + "\n再说一句：底数越大，低频越慢。\n"})
    assert {table: keys(connection, table) for table in ORDER} == after


def test_a_sequence_of_edits_equals_an_ingest_from_nothing(place: Place, tmp_path: Path) -> None:
    place.ingest()
    place.ingest({name: text for name, text in DOCUMENTS.items() if name != "quantization.md"})
    place.ingest(DOCUMENTS | {"new.md": LORA, "rope.md": "# 别的\n\n换了内容。"})
    place.ingest(DOCUMENTS | {"new.md": LORA + "\n\n3、还有一问？\n答案:有。"})
    edited, first = content(place), place.open().generation
    fresh = place.changed(index=tmp_path / "other", milvus_prefix=f"{place.settings.milvus_prefix}_2")
    fresh.ingest(DOCUMENTS | {"new.md": LORA + "\n\n3、还有一问？\n答案:有。"})
    assert content(fresh) == edited
    second = fresh.open().generation
    assert first.terms_in_all == second.terms_in_all
    assert first.rows == second.rows
    for question in ("RoPE", "LoRA 为什么能省显存？", "loss scaling"):
        found = [search(each.open(), place.embedder, question) for each in (place, fresh)]
        assert sorted(h.score for h in found[0].hits) == pytest.approx(sorted(h.score for h in found[1].hits), abs=2e-6)


def test_what_is_gone_leaves_no_trace(place: Place) -> None:
    """Queried and counted: no row of any collection holds a word of it."""
    secret = "墨鱼骨粉"
    place.ingest(DOCUMENTS | {"secret.md": f"# {secret}是什么？\n\n{secret}入药，{secret}磨粉。\n"})
    assert place.open().keywords.frequency(secret[:2])
    place.ingest()
    place.sync()  # the tables of the generation before
    connection = place.connection()
    texts = {Table.PASSAGES: ["record"], Table.DOCUMENTS: ["name", "record"], Table.PARTS: ["data"]}
    rows = {table: list(connection.all(table, "generation >= 0", fields)) for table, fields in texts.items()}
    generation = place.open().generation
    assert len(rows[Table.PASSAGES]) == generation.rows[Table.PASSAGES]
    assert len(rows[Table.DOCUMENTS]) == generation.rows[Table.DOCUMENTS]
    assert not [row for found in rows.values() for row in found if secret in str(row) or "secret.md" in str(row)]
    assert not place.open().keywords.frequency(secret[:2])


def test_readers_of_the_generation_before_go_on_within_the_grace(place: Place) -> None:
    patient = place.changed(milvus_grace=3_600.0)
    patient.ingest()
    old = patient.open()
    patient.ingest({"rope.md": ROPE})
    assert patient.open().manifest.documents == 1
    numbers = {name: old.storage.document_numbers(name) for name in DOCUMENTS}
    assert all(numbers.values())
    assert len(search(old, place.embedder, "ZeRO").hits) > 5
    assert {hit.passage.document for hit in search(patient.open(), place.embedder, "ZeRO").hits} == {"rope.md"}
    place.sync()
    with pytest.raises(IndexCorruptError, match="collected"):
        place.store().open().storage.passages(numbers["zero.md"])


def test_an_assistant_goes_over_to_what_was_published(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.index.milvus.store.LOOKED", 0.0)
    place.ingest({"rope.md": ROPE})
    assistant = Assistant(place.settings, place.embedder)
    first = assistant.index
    assert assistant.index is first
    place.ingest()
    assert assistant.index.name > first.name
    assert assistant.ask("LoRA 为什么能省显存？").citations


def test_a_writer_with_a_copy_that_is_behind_fetches_first(place: Place, tmp_path: Path) -> None:
    """Two machines that ingest folders of their own into one index."""
    place.ingest()
    other = place.changed(index=tmp_path / "elsewhere" / "index")
    other.folder = tmp_path / "elsewhere"
    other.ingest({"new.md": "# 新的一页\n\n归一化放在残差之前。"})
    names = {entry.name for entry in place.open().storage.entries()}
    assert names >= set(DOCUMENTS)
    assert any(name.endswith("new.md") for name in names)
    with closing(other.on_disk()) as disk:
        assert disk.manifest.documents == len(DOCUMENTS) + 1
    report = place.sync(place.folder / "documents")
    assert report.documents.unchanged == len(DOCUMENTS) + 1
    assert report.passages_embedded == 0
    assert content(place) == content(other)


def test_two_writers_exclude_each_other(place: Place, tmp_path: Path) -> None:
    place.ingest({"rope.md": ROPE})
    connection = place.connection()
    other = place.changed(index=tmp_path / "elsewhere" / "index")
    with (
        writing(connection, wait=0),
        pytest.raises(IndexLockedError, match=rf"\({os.getpid()}\) on .* is writing to test_"),
    ):
        other.ingest()
    other.ingest()  # free again
    assert not connection.query(Table.STATE, f'kind in ["{CLAIM}", "{ATTEMPT}"]', ["kind"])


def test_the_claim_of_a_dead_process_is_void(place: Place) -> None:
    place.ingest({"rope.md": ROPE})
    connection = place.connection()
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    lease = Lease(connection)
    assert lease.claim() is None
    (row,) = connection.query(Table.STATE, f'kind == "{CLAIM}"', ["data", "kind", "number", "vector"])
    data = json.dumps(json.loads(row["data"]) | {"pid": child})
    connection.insert(Table.STATE, [dict(row) | {"id": f"{CLAIM}/dead/1", "data": data}])
    lease.end()
    place.ingest()
    assert place.open().manifest.documents == len(DOCUMENTS)


def test_a_writer_that_was_silent_for_too_long_writes_nothing_more(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.ingest({"rope.md": ROPE})
    connection = place.connection()
    monkeypatch.setattr("rag.index.milvus.lease.MARGIN", 1e9)
    with pytest.raises(StoreError, match="could not be renewed"):
        place.ingest()
    assert place.open().manifest.documents == 1
    with writing(connection, wait=0) as lease:
        assert lease.aborted
    monkeypatch.undo()
    place.ingest()
    assert place.open().manifest.documents == len(DOCUMENTS)


def test_a_flip_that_arrives_after_another_writer_has_published_is_no_success(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.ingest({"rope.md": ROPE})
    other = place.changed(index=tmp_path / "elsewhere" / "index")
    other.folder = tmp_path / "elsewhere"

    def late(connection: Connection, generation: Generation, text: str, parts: list[int]) -> None:
        monkeypatch.undo()
        connection.delete(Table.STATE, f'kind == "{CLAIM}"')  # it has expired
        other.ingest({"new.md": LORA})
        flip(connection, generation, text, parts)

    monkeypatch.setattr("rag.index.milvus.publish.flip", late)
    with pytest.raises(StoreError, match="another process has published meanwhile to test_") as raised:
        place.ingest()
    assert "run the command again" in raised.value.hint
    assert {entry.relative for entry in place.open().storage.entries()} == {"rope.md", "new.md"}
    place.sync(place.folder / "documents")
    assert {entry.relative for entry in place.open().storage.entries()} == {"new.md", *DOCUMENTS}
    assert len(place.open().storage.documents(with_passages=True)) == len(DOCUMENTS) + 1


@pytest.mark.parametrize("method", ["insert", "delete"])
def test_a_writer_that_dies_before_any_change_of_the_store_leaves_a_whole_generation(
    place: Place, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(BaseException):
        pass

    place.ingest()
    change = getattr(Connection, method)
    for calls in range(1, 30):
        before = content(place)
        page = f"# 第 {calls} 版\n\n" + TOPICS[list(TOPICS)[calls % len(TOPICS)]]
        done: list[str] = []

        def until(connection: Connection, table: str, what: object, calls: int = calls, done: list[str] = done) -> None:
            done.append(table)
            if len(done) == calls:
                raise KilledError
            change(connection, table, what)

        with monkeypatch.context() as patched:
            patched.setattr(Connection, method, until)
            with contextlib.suppress(KilledError):
                place.ingest(DOCUMENTS | {"changed.md": page})
        # A process that died would be told by its number; this one lives on.
        connection = place.connection()
        connection.delete(Table.STATE, f'kind == "{CLAIM}"')
        found = content(place)
        assert found == before or "".join(str(found)).count(f"第 {calls} 版")
        place.sync()
        generation = place.open().generation
        assert page == place.open().storage.source("changed.md")
        for table in (Table.PASSAGES, Table.DOCUMENTS):
            assert len(keys(connection, table)) == generation.rows[table]
        tables = {*generation.terms, *generation.tokens, *generation.codec}
        loose = connection.all(Table.PARTS, "document == 0", ["kind", "generation"])
        assert not [row for row in loose if row["kind"] != "record" and row["id"] not in tables]
        if len(done) < calls:
            return
    raise AssertionError("it never came to an end")


def test_rows_of_a_writer_that_was_thought_dead_are_never_seen(place: Place) -> None:
    """One that publishes nothing comes back and goes on inserting, after another has published."""
    place.ingest()
    connection = place.connection()
    with contextlib.suppress(RuntimeError), writing(connection, wait=0) as late:
        raise RuntimeError
    place.ingest(DOCUMENTS | {"new.md": LORA})
    live = read_live(connection)
    assert live is not None
    assert late.attempt in live.aborted
    before = content(place)
    with closing(place.on_disk()) as disk, pytest.raises(StoreError, match="another process"):
        publish(connection, late, None, disk)
    assert len(keys(connection, Table.DOCUMENTS)) > len(DOCUMENTS) + 1
    assert content(place) == before
    place.ingest()
    assert place.open().manifest.documents == len(DOCUMENTS)
