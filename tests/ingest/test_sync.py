"""Roots to generations: what a run counts, keeps, refuses and publishes."""

import json
import random
import shutil
from pathlib import Path

import numpy as np

from ingest.probe import Question
from ingest.updates.first_reading import spread
from rag.index.generation import current_generation
from tests.conftest import HashEmbedder
from tests.ingest.library import TOPICS, Library, counts


def test_the_first_run(library: Library) -> None:
    report = library.sync()
    assert (report.generation, report.published) == (1, True)
    assert counts(report) == {"added": 3}
    assert (report.passages_total, report.passages_embedded, report.passages_reused) == (3, 3, 0)
    assert library.names() == ["attention.md", "lora.md", "norm.md"]
    with library.index() as index:
        assert index.manifest.embedder == "hash@1"
        assert index.manifest.dimension == 256
        assert [root.path for root in index.manifest.roots] == [str(library.root)]
        assert index.manifest.report == {**report.summary(), "seconds": index.manifest.report["seconds"]}
        texts = [p.embedded_text for d in index.storage.documents(with_passages=True) for p in d.passages]
        assert np.array_equal(index.vectors.all(), library.embedder.embed_passages(texts))


def test_a_run_that_changes_nothing_publishes_nothing(library: Library) -> None:
    library.sync()
    before = sorted((p, p.stat().st_mtime_ns) for p in library.settings.index.rglob("*") if p.is_file())
    report = library.sync()
    assert (report.generation, report.published) == (1, False)
    assert counts(report) == {"unchanged": 3}
    assert (report.passages_total, report.passages_embedded, report.passages_reused) == (3, 0, 3)
    assert library.loads == 1  # in the first run
    after = sorted((p, p.stat().st_mtime_ns) for p in library.settings.index.rglob("*") if p.is_file())
    assert [x for x in after if x[0].name != "writer.lock"] == [x for x in before if x[0].name != "writer.lock"]


def test_added_changed_moved_removed(library: Library) -> None:
    library.page("beam")
    library.sync()
    library.page("rope")
    library.write("norm.md", "# norm\n\n层归一化的新写法：只除以均方根，不减均值。\n")
    (library.root / "lora.md").rename(library.root / "adapter.md")
    (library.root / "beam.md").unlink()
    report = library.sync()
    assert counts(report) == {"added": 1, "changed": 1, "moved": 1, "removed": 1, "unchanged": 1}
    assert (report.generation, report.passages_total) == (2, 4)
    assert (report.passages_embedded, report.passages_reused) == (2, 2)
    assert library.names() == ["adapter.md", "attention.md", "norm.md", "rope.md"]


def test_unchanged_passages_keep_their_vectors(library: Library) -> None:
    long = "\n".join(f"## 第{n}节的标题\n\n{TOPICS['beam']}编号是 {n}。{TOPICS['rope'] * 4}\n" for n in range(6))
    path = library.write("long.md", f"# 长文\n\n{long}")
    library.sync()
    path.write_text(path.read_text(encoding="utf-8").replace("编号是 3。", "编号是 33。"), encoding="utf-8")
    report = library.sync()
    assert counts(report) == {"changed": 1, "unchanged": 3}
    assert report.passages_embedded == 1


def test_removing_only_needs_no_embedder(library: Library) -> None:
    library.write("again.md", (library.root / "norm.md").read_text(encoding="utf-8"))
    library.sync()
    library.loads = 0
    (library.root / "attention.md").unlink()
    report = library.sync()
    assert (report.published, report.passages_embedded) == (True, 0)
    assert library.loads == 0


def test_a_repeat_is_kept_once_with_all_its_places(library: Library) -> None:
    library.write("z.md", (library.root / "norm.md").read_text(encoding="utf-8"))
    report = library.sync()
    assert report.passages_total == 3
    with library.index() as index:
        (passage,) = [p for p in index.storage.passages([0, 1, 2]) if p.document == "norm.md"]
        assert [(p.document, p.start, p.end) for p in passage.also_in] == [("z.md", passage.start, passage.end)]


def test_a_repeat_takes_the_place_of_the_first(library: Library) -> None:
    library.write("z.md", (library.root / "norm.md").read_text(encoding="utf-8"))
    library.sync()
    (library.root / "norm.md").unlink()
    report = library.sync()
    assert (counts(report), report.passages_total) == ({"removed": 1, "unchanged": 3}, 3)
    with library.index() as index:
        assert [p.document for p in index.storage.passages([0, 1, 2])] == ["attention.md", "lora.md", "z.md"]
        assert not any(p.also_in for p in index.storage.passages([0, 1, 2]))


def test_what_vanished_leaves_no_trace(library: Library) -> None:
    """Neither text nor names: every byte of the live generation is looked at, UTF-16 included."""
    secrets = ["胡萝卜素的秘密配方", "secretname", "另一个秘密标题", "zebra-secret-root", "只在旧版里的一节"]
    library.write(f"{secrets[1]}.md", f"# {secrets[2]}\n\n{secrets[0]}，写在这里只是为了以后删掉。\n")
    library.page("beam", root=secrets[3])
    library.write("changed.md", f"# 会变的一页\n\n## {secrets[4]}\n\n{TOPICS['beam']}{secrets[0]}在这里。\n")
    library.sync(library.root, library.folder / secrets[3])

    def traces() -> list[tuple[str, str]]:
        live = library.settings.index / "generations" / str(current_generation(library.settings.index))
        found: list[tuple[str, str]] = []
        for file in [library.settings.index / "CURRENT", *live.iterdir()]:
            data = file.read_bytes()
            forms = {s: (s.encode(), s.encode("utf-16-le"), json.dumps(s).encode()) for s in secrets}
            found += [(file.name, secret) for secret in secrets if any(form in data for form in forms[secret])]
        return found

    assert {secret for _, secret in traces()} == set(secrets)
    (library.root / f"{secrets[1]}.md").unlink()
    library.write("changed.md", f"# 会变的一页\n\n## 新的一节\n\n{TOPICS['rope']}\n")
    questions = [Question("q1", "配方写在哪里")]
    report = library.sync(remove_root=library.folder / secrets[3], questions=questions)
    assert {"removed": 2, "changed": 1}.items() <= counts(report).items()
    assert secrets[1] in report.as_text()  # told, but not kept
    assert report.probe is not None
    assert report.probe.moved
    assert traces() == []


def test_the_report_is_kept(library: Library) -> None:
    report = library.sync()
    with library.index() as index:
        kept = json.loads((index.folder / "report.json").read_text(encoding="utf-8"))
        assert "report.json" in index.manifest.files
    assert kept == {**report.as_kept(), "seconds": kept["seconds"]}
    assert kept["changes"]["added"] == ["attention.md", "lora.md", "norm.md"]


def test_several_edits_equal_an_ingest_from_nothing(
    library: Library, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    chance = random.Random(7)
    topics = list(TOPICS)
    library.sync()
    for step in range(12):
        files = sorted(library.root.glob("*.md"))
        match chance.choice(["add", "edit", "remove", "rename", "copy", "long"]):
            case "add":
                library.page(chance.choice(topics), f"new{step}.md")
            case "edit":
                path = chance.choice(files)
                path.write_text(path.read_text(encoding="utf-8") + f"\n补充一句，编号 {step}。\n", encoding="utf-8")
            case "remove" if len(files) > 1:
                chance.choice(files).unlink()
            case "rename":
                chance.choice(files).rename(library.root / f"moved{step}.md")
            case "copy":
                shutil.copy(chance.choice(files), library.root / f"copy{step}.md")
            case _:
                text = "".join(f"{TOPICS[chance.choice(topics)]}第 {n} 处。" for n in range(40))
                library.write(f"long{step}.md", f"# 长文 {step}\n\n{text}\n")
        library.sync()
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    again = Library(fresh, hash_embedder)
    again.sync(library.root)
    assert library.content() == again.content()


def test_passages_that_the_embedder_would_cut_are_split(library: Library) -> None:
    class Narrow(HashEmbedder):
        max_tokens = 64

    library.embedder = Narrow()
    library.write("long.md", f"# 长文\n\n{TOPICS['rope'] * 5}\n")
    report = library.sync()
    assert counts(report) == {"added": 4}
    with library.index() as index:
        texts = [p.embedded_text for d in index.storage.documents(with_passages=True) for p in d.passages]
    assert max(library.embedder.count_tokens(texts)) <= 64
    library.write("long.md", f"# 长文\n\n{TOPICS['rope'] * 5}{TOPICS['beam']}\n")
    assert library.sync().passages_reused > 3


def test_progress_is_told(library: Library) -> None:
    told: list[tuple[str, int, int]] = []
    library.sync(progress=lambda stage, done, total: told.append((stage, done, total)))
    assert [done for stage, done, _ in told if stage == "documents"] == [0, 1, 2, 3]
    assert told[-1] == ("passages", 3, 3)


def test_a_part_of_the_new_documents_and_then_the_rest(library: Library) -> None:
    for number in range(7):
        library.page("beam", f"more/{number}.md")
    report = library.sync(choose=lambda new, known: spread(new, 5))
    assert counts(report) == {"added": 5}
    assert library.names() == ["attention.md", "more/0.md", "more/2.md", "more/4.md", "more/6.md"]
    assert counts(library.sync(choose=lambda new, known: spread(new, 2))) == {"unchanged": 5, "added": 2}
    assert counts(library.sync()) == {"unchanged": 7, "added": 3}
    assert len(library.names()) == 10


def test_the_way_there_does_not_show_in_the_index(library: Library, tmp_path: Path) -> None:
    for topic in TOPICS:
        library.page(topic)
    library.sync(choose=lambda new, known: spread(new, 2))
    library.sync()
    (tmp_path / "other").mkdir()
    other = Library(tmp_path / "other", library.embedder)
    for topic in TOPICS:
        other.page(topic)
    other.sync()
    with library.index() as one, other.index() as two:
        assert one.storage.texts(100) == two.storage.texts(100)
        assert np.array_equal(one.vectors.all(), two.vectors.all())
