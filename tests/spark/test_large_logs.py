"""Plans of logs with very many segments: calls, time and memory, on a store that counts."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = pytest.mark.spark

import large_logs

from recordpress.log.splits import plan
from recordpress.spark import KafkaLogDataSource, _stream, datasource


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> large_logs.Store:
    """500 partitions of three segments."""
    made = large_logs.Store(500, 3)
    for module in (datasource, _stream):
        monkeypatch.setattr(module, "located", lambda *_: ([large_logs.ROOT], made))
    return made


def reader(**options: str) -> Any:
    source = KafkaLogDataSource({"path": f"s3://{large_logs.ROOT}"} | options)
    return source.reader(source.schema())


def partitions_of(tasks: Any) -> set[tuple[str, int]]:
    return {(split.topic, split.partition) for task in tasks for split in task.splits}


def test_a_plan_lists_only_what_is_wanted(store: large_logs.Store) -> None:
    """It listed each of the 500 partitions, one after another."""
    assert partitions_of(reader(assign='{"topic-7": [3]}').partitions()) == {("topic-7", 3)}
    assert store.calls == {"info": 1, "list": 2}
    store.calls.clear()
    assert len(partitions_of(reader(subscribe="topic-7, topic-8").partitions())) == 10
    assert store.calls["list"] <= 11
    store.calls.clear()
    assert len(partitions_of(reader(subscribePattern="topic-1.").partitions())) == 50
    assert store.calls["list"] <= 51


def test_a_plan_lists_by_prefix(store: large_logs.Store) -> None:
    store.delay = 0.01
    assert len(partitions_of(reader().partitions())) == 500
    assert store.calls["list"] <= 75
    assert 8 <= store.running["most"] <= 16


@pytest.mark.parametrize("name", ["_LimitedReader", "_PlainReader"])
def test_a_trigger_lists_once(name: str, store: large_logs.Store) -> None:
    """It listed for the latest offset, for the tasks and for the report."""
    source = KafkaLogDataSource({"path": f"s3://{large_logs.ROOT}", "assign": '{"topic-7": [3]}'})
    if not hasattr(_stream, name):
        pytest.skip("Spark before 4.2 has no limits")
    stream: Any = getattr(_stream, name)(source.streamReader(source.schema())._log._reader)
    limited = name == "_LimitedReader"
    start = stream.initialOffset()
    for expected in (1, 0):  # a batch, then an empty trigger
        store.calls.clear()
        end = stream.latestOffset(start, stream.getDefaultReadLimit()) if limited else stream.latestOffset()
        if start != end:
            assert len(stream.partitions(json.loads(json.dumps(start)), json.loads(json.dumps(end)))) == expected
        if limited:
            assert stream.reportLatestOffset() == end
        assert store.calls == {"info": 1, "list": 2}
        start = end


def test_a_plan_is_linear_in_the_segments_of_a_partition() -> None:
    """Of 40,000 segments it took four seconds."""
    seconds = []
    for count in (1_000, 10_000):
        store = large_logs.Store(1, count)
        begun = time.process_time()
        log = datasource.open_wanted(large_logs.ROOT, store, None, None).log
        plan(log.partitions, 1 << 20, ranges={"topic-0-0": (None, 1 << 40)})
        seconds.append(time.process_time() - begun)
    assert seconds[1] < 25 * seconds[0]


@pytest.mark.slow
def test_the_driver_at_three_sizes() -> None:
    """What docs/howto/spark.md computes: calls, memory and bytes of a plan by partitions and segments."""
    found = []
    for partitions, segments in ((500, 10), (2_000, 5), (2_000, 20)):
        command = [sys.executable, large_logs.__file__, str(partitions), str(segments)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parent)
        found.append(json.loads(done.stdout))
        one = found[-1]
        names = partitions * segments * 4
        assert one["calls"] <= 1 + -(-partitions // 1000) + names / 1000 + 130
        assert one["mb"] - one["before"] <= 25 + 1400 * partitions * segments / 1e6
        assert one["plan_bytes"] <= 130 * partitions * segments + 300 * partitions
    print(found)
