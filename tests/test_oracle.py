"""The vectors themselves are whole, and the shipped subset is a faithful part of the full collection."""

import hashlib

import pytest

import oracle


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_shipped_archives_hold_what_the_manifest_says() -> None:
    manifest = oracle.shipped_manifest()
    for entry in manifest["batches"]:
        assert _sha256(oracle.read_shipped(entry["file"])) == entry["sha256"]
        assert oracle.read_shipped(entry["expected"])
    for partition in manifest["segments"]:
        for file in partition["files"]:
            assert _sha256(oracle.read_shipped("segments/" + file["file"])) == file["sha256"]
            assert "decoded" not in file or oracle.read_shipped("segments/" + file["decoded"])
    assert oracle.read_shipped(manifest["acceptance"])


@pytest.mark.skipif(not oracle.FULL_SET, reason="the full collection is not here")
def test_shipped_archives_are_part_of_the_full_collection() -> None:
    replaced = ("acceptance-small.json",)
    for archive in set(oracle.pack.ARCHIVES.values()):
        for path, data in oracle.archive(archive).items():
            assert path in replaced or oracle.read_full(path) == data


def test_every_vector_has_a_name_of_its_own() -> None:
    names = [str(vector) for vector in oracle.EVERYTHING]
    assert len(set(names)) == len(names) >= 569
