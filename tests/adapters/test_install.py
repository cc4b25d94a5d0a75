"""install() reaches every module of the client, uninstall() leaves it as it was, and nobody else notices."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from clients import AIOKAFKA, CLIENTS, HAS_BATCH_BUILDER, KAFKA_PYTHON, Client

import recordpress
from patience import HANG
from recordpress.adapters import _install

clients = pytest.mark.parametrize("client", CLIENTS, ids=str)


def everything(package: str) -> dict[tuple[str, str], int]:
    """Every name of every module of a package, by identity; and the attributes of its classes."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name == package or name.startswith(package + "."):
            for attribute, value in list(vars(module).items()):
                found[name, attribute] = id(value)
                if isinstance(value, type) and value.__module__ == name:
                    found.update({(f"{name}.{attribute}", key): id(part) for key, part in vars(value).items()})
    return found


@clients
def test_uninstall_gives_back_exactly_what_was_there(client: Client) -> None:
    package = client.codec.__package__
    with client.adapter.installed():
        pass  # imports what install() imports
    before = everything(package)
    with client.adapter.installed():
        changed = {name for name, value in everything(package).items() if before.get(name) != value}
        assert client.memory.MemoryRecords is client.adapter.MemoryRecords
    assert everything(package) == before
    assert len(changed) > 30
    assert client.memory.MemoryRecords is not client.adapter.MemoryRecords


def test_the_names_that_aiokafka_uses_are_reached() -> None:
    import aiokafka.consumer.fetcher
    import aiokafka.producer.message_accumulator
    import aiokafka.producer.producer

    ours: Any = AIOKAFKA.adapter
    with ours.installed():
        assert aiokafka.consumer.fetcher.MemoryRecords is ours.MemoryRecords
        assert aiokafka.producer.message_accumulator.DefaultRecordBatchBuilder is ours.DefaultRecordBatchBuilder
        assert (aiokafka.producer.message_accumulator.BatchBuilder is ours.BatchBuilder) is HAS_BATCH_BUILDER
        assert aiokafka.producer.producer.AIOKafkaProducer._COMPRESSORS["lz4"] == (ours.has_lz4, 3)


def test_the_names_that_kafka_python_uses_are_reached() -> None:
    import kafka.consumer.fetcher
    import kafka.producer.kafka
    import kafka.producer.record_accumulator

    ours: Any = KAFKA_PYTHON.adapter
    with ours.installed():
        assert kafka.consumer.fetcher.MemoryRecords is ours.MemoryRecords
        assert kafka.producer.record_accumulator.MemoryRecordsBuilder is ours.MemoryRecordsBuilder
        assert kafka.producer.kafka.KafkaProducer._COMPRESSORS["zstd"] == (ours.has_zstd, 4)
        assert isinstance(ours.MemoryRecords(b""), kafka.record.abc.ABCRecords)
        assert issubclass(ours.ControlRecord, ours.DefaultRecord)


@clients
def test_a_module_that_is_imported_meanwhile_is_given_back_too(client: Client) -> None:
    package, name = client.codec.__package__, "imported_meanwhile"
    module = type(sys)(f"{package}.{name}")
    own = client.codec.gzip_encode
    with client.adapter.installed():
        module.gzip_encode = client.codec.gzip_encode  # type: ignore[attr-defined]
        sys.modules[module.__name__] = module
    del sys.modules[module.__name__]
    assert module.gzip_encode is own  # type: ignore[attr-defined]


@clients
def test_install_and_uninstall_may_come_twice(client: Client) -> None:
    client.adapter.uninstall()
    client.adapter.install()
    with client.adapter.installed():
        client.adapter.install()
    assert client.memory.MemoryRecords is client.adapter.MemoryRecords, "installed() leaves it as it was"
    client.adapter.uninstall()
    client.adapter.uninstall()
    assert client.memory.MemoryRecords is not client.adapter.MemoryRecords


@clients
def test_installed_ends_after_an_error(client: Client) -> None:
    with pytest.raises(ZeroDivisionError), client.adapter.installed():
        _ = 1 / 0
    assert client.memory.MemoryRecords is not client.adapter.MemoryRecords


@clients
def test_the_limit_ends_with_the_installation(client: Client) -> None:
    ours: Any = client.adapter
    data = recordpress.write_records([bytes(1000)], compression_type="zstd")

    def read() -> int:
        return sum(len(record.value) for record in ours.MemoryRecords(data).next_batch())

    ours.install(max_decompressed_bytes=500)
    try:
        with pytest.raises(client.corrupt):
            read()
        with ours.installed():
            ours.install(max_decompressed_bytes=5000)
            assert read() == 1000
        with pytest.raises(client.corrupt):
            read()
    finally:
        ours.uninstall()
    assert read() == 1000
    with ours.installed():
        ours.install(max_decompressed_bytes=500)
    assert read() == 1000


@clients
@pytest.mark.parametrize("fails", ["_replace", "_replace_table"])
def test_install_that_is_interrupted_leaves_nothing(
    client: Client, fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, whole = client.codec.__package__, getattr(_install.Adapter, fails)
    with client.adapter.installed():
        pass  # imports what install() imports
    before = everything(package)
    calls = 0

    def interrupted(adapter: Any, *arguments: Any) -> None:
        nonlocal calls
        calls += 1
        whole(adapter, *arguments)
        if calls == 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(_install.Adapter, fails, interrupted)
        with pytest.raises(KeyboardInterrupt):
            client.adapter.install()
    assert everything(package) == before
    with client.adapter.installed():
        assert client.memory.MemoryRecords is client.adapter.MemoryRecords
    assert everything(package) == before


def test_a_table_that_the_program_replaced_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    from aiokafka import AIOKafkaProducer

    monkeypatch.setattr(AIOKafkaProducer, "_COMPRESSORS", AIOKafkaProducer._COMPRESSORS)
    with AIOKAFKA.adapter.installed():
        own = AIOKafkaProducer._COMPRESSORS = dict(AIOKafkaProducer._COMPRESSORS)
    assert AIOKafkaProducer._COMPRESSORS is own


@pytest.mark.parametrize(
    ("found", "accepted"),
    [("0.11.9", False), ("0.12.0", True), ("0.14.3", True), ("0.15.0", False), ("0.14rc1", False), ("1", False)],
)
def test_versions_of_the_client(monkeypatch: pytest.MonkeyPatch, found: str, accepted: bool) -> None:
    monkeypatch.setattr(_install, "version", lambda distribution: found)
    if accepted:
        assert _install.check_version("aiokafka", (0, 12), (0, 15))[0] == 0
        return
    message = f"this adapter is for aiokafka 0.12 or later, below 0.15; {found} is installed"
    with pytest.raises(recordpress.InvalidArgumentError, match=message):
        _install.check_version("aiokafka", (0, 12), (0, 15))


LEAKS = """
import sys, recordpress, recordpress.adapters
assert not {"aiokafka", "kafka"} & set(sys.modules)
import warnings
warnings.simplefilter("ignore")
import aiokafka.record, kafka.record
own = aiokafka.record.MemoryRecords, kafka.record.MemoryRecords
import recordpress.adapters.aiokafka, recordpress.adapters.kafka_python
import aiokafka.consumer.fetcher, kafka.consumer.fetcher
assert own == (aiokafka.consumer.fetcher.MemoryRecords, kafka.consumer.fetcher.MemoryRecords)
recordpress.adapters.aiokafka.install()
assert own[1] is kafka.consumer.fetcher.MemoryRecords, "an adapter touches its own client only"
assert own[0] is not aiokafka.consumer.fetcher.MemoryRecords
"""


@pytest.mark.slow
def test_nothing_changes_without_install() -> None:
    subprocess.run([sys.executable, "-c", LEAKS], check=True, timeout=HANG)


def test_a_producer_of_aiokafka_makes_adapter_batches() -> None:
    from aiokafka import AIOKafkaProducer

    async def size() -> int:
        producer = AIOKafkaProducer(bootstrap_servers="nobody:1", compression_type="zstd")
        batch = producer.create_batch()
        assert (type(batch) is AIOKAFKA.adapter.BatchBuilder) is HAS_BATCH_BUILDER
        assert type(batch._builder).__module__ == "recordpress.adapters._aiokafka"
        batch.append(key=None, value=b"v", timestamp=None)
        await producer.stop()
        return batch.size()

    with AIOKAFKA.adapter.installed():
        assert asyncio.run(size()) > 20
