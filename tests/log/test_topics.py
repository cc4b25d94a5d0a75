"""Topics and partitions of a log: by name, by pattern and by number, in Python and in every verb."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import recordpress
from recordpress.log import Log, reindex, repair, scan, verify

LOGS = Path(__file__).parents[2] / "demo" / "logs"


def names(log: Log) -> list[str]:
    return [str(partition) for partition in log]


def test_a_log_is_iterable_and_a_mapping_of_topics() -> None:
    log = recordpress.open_log(LOGS)
    assert list(log) == list(log.partitions)
    assert {topic: names(one) for topic, one in log.topics.items()} == {
        "access-json": ["access-json-0", "access-json-1"],
        "access-log": ["access-log-0", "access-log-1", "access-log-2"],
        "nginx-status": ["nginx-status-0"],
        "sessions": ["sessions-0", "sessions-1"],
    }
    assert log.topics["sessions"].count() == 3600


@pytest.mark.parametrize(
    ("topics", "partitions", "expected"),
    [
        ("sessions", None, ["sessions-0", "sessions-1"]),
        ("access-*", 1, ["access-json-1", "access-log-1"]),
        (["sessions", "nginx-*"], [0], ["nginx-status-0", "sessions-0"]),
        (None, (1, 2), ["access-json-1", "access-log-1", "access-log-2", "sessions-1"]),
    ],
)
def test_only_some(topics: Any, partitions: Any, expected: list[str]) -> None:
    assert names(recordpress.open_log(LOGS, topics=topics, partitions=partitions)) == expected


def test_a_name_is_not_the_beginning_of_another(tmp_path: Path) -> None:
    for name in ("orders-0", "orders-eu-0", "orders-1-0"):
        shutil.copytree(LOGS / "sessions-0", tmp_path / name)
    assert names(recordpress.open_log(tmp_path, topics="orders")) == ["orders-0"]


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"topics": "sessionz"}, "topics", "no topic 'sessionz': did you mean 'sessions'?"),
        (
            {"topics": ["sessions", "zz*"]},
            "topics",
            "no topic 'zz*'; topics are access-json, access-log, nginx-status, sessions",
        ),
        ({"partitions": [0, 7]}, "partitions", "no partition 7"),
        ({"partitions": -1}, "partitions", "partitions must be from 0 to 2147483647, not -1"),
        ({"topics": [3]}, "topics", "topics must be names, not int"),
    ],
)
def test_what_is_not_there_is_an_error(given: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises((recordpress.InvalidArgumentError, recordpress.ArgumentTypeError)) as caught:
        recordpress.open_log(LOGS, **given)
    assert caught.value.field == field and caught.value.message == message


def test_calls_take_a_log_for_a_path(tmp_path: Path) -> None:
    shutil.copytree(LOGS, tmp_path / "logs")
    log = recordpress.open_log(tmp_path / "logs", topics="sessions")
    assert {Path(one.file).parent.name for one in scan(log).segments} == {"sessions-0", "sessions-1"}
    assert verify(log).segments == 4
    assert reindex(log).files == []
    assert {Path(one.file).parent.name for one in repair(log, tmp_path / "repaired").segments} == {*names(log)}
    for copy in (recordpress.transcode, recordpress.convert):
        target = tmp_path / copy.__name__
        copy(log, target, **({"compression_type": "zstd"} if copy is recordpress.transcode else {"magic": 2}))
        assert names(recordpress.open_log(target)) == names(log)
    one = recordpress.open_log(tmp_path / "logs", topics="sessions", partitions=1)
    recordpress.transcode(one, tmp_path / "one", "zstd")
    assert [path.name for path in (tmp_path / "one").iterdir() if path.is_dir()] == ["sessions-1"]
    with pytest.raises(recordpress.InvalidArgumentError, match="lies inside the source"):
        recordpress.transcode(log, tmp_path / "logs" / "copy", "zstd")
    assert recordpress.explain(log).control_batches == 18
    assert recordpress.fits(log).records == 3600
    assert recordpress.analyze(log, "none", depths=[1]).baseline["partitions"] == 2


VERBS: dict[str, tuple[list[str], Any]] = {
    "ls": ([], lambda found: len(found["partitions"])),
    "stats": ([], lambda found: len(found["partitions"])),
    "scan": ([], lambda found: len(found["segments"])),
    "verify": ([], lambda found: found["segments"]),
    "dump": ([], lambda found: len(found["records"])),
    "find": (["--value-contains", ""], lambda found: len(found["records"])),
    "tail": (["-n", "1000000"], lambda found: len(found["records"])),
    "explain": (["--full"], lambda found: sum(one.get("batches", 1) for one in found)),
    "simulate": ([], lambda found: found["records"]),
    "fits": ([], lambda found: found["records"]),
    "analyze": (["-e", "none", "--depth", "1"], lambda found: found["baseline"]["partitions"]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_them(verb: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    pytest.importorskip("click")
    from recordpress.cli import main

    more, count = VERBS[verb]

    def found(*options: str) -> Any:
        main([verb, *options, *more, "--json"])
        return count(json.loads(capfdbinary.readouterr().out))

    wanted = found(str(LOGS / "sessions-1"))
    assert found(str(LOGS), "--topic", "sess*", "--partition", "1") == wanted
    assert found(str(LOGS), "--topic", "sessions") != wanted
