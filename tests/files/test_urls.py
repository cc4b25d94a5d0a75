"""No key, password or token of a URL reaches a message, a repr, a manifest or a terminal, wherever a call fails."""

import contextlib
import inspect
import json
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

import recordpress
import recordpress.log
import recordpress.polars
import recordpress.spark
from recordpress.cli._app import run
from recordpress.cli._verbs import VERBS
from recordpress.files import resolve
from recordpress.log import sidecars
from together import THOROUGH

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("pyspark")
from recordpress.spark.datasource import KafkaLogDataSource
from recordpress.spark.schema import spark_schema

SECRETS = ("AKIAKEY", "SeC", "ReT", "TokeN")
USER = "AKIAKEY:SeC%2FReT@"
URLS = [
    f"{scheme}://{user}{host}/a-0?{option}=TokeN"
    for scheme, host, option in [
        ("s3", "bucket", "bad"),
        ("S3A", "bucket", "bad"),
        ("gs", "bucket", "bad"),
        ("abfs", "127.0.0.1:1", "enable_tls=false&bad"),
        ("abfss", "127.0.0.1:1", "bad"),
        ("hdfs", "127.0.0.1:1", "bad"),
        ("viewfs", "127.0.0.1:1", "bad"),
        ("ftp", "127.0.0.1:1", "bad"),
        ("http", "127.0.0.1:1", "sig"),
        ("file", "host", "sig"),
        ("fails", "host", "sig"),
        ("simplecache::fails", "host", "sig"),
        ("opened", "host", "sig"),
        ("nobody-opens-this", "host", "sig"),
    ]
    for user in ([USER, "AKIAKEY:SeC/ReT@", "AKIAKEY:SeC?ReT@"] if scheme in ("s3", "fails") else [USER])
    for user in (["logs:SeC%2FReT@"] if scheme.startswith("abfs") else [user])  # the container's name is no secret
]
# One or three slashes by mistake, or none: the system would take most of them for a local path, and quote it.
MISTYPED = [
    "s3:/AKIAKEY:SeC%2FReT@bucket/a-0?bad=TokeN",
    "s3:AKIAKEY:SeC/ReT@bucket/a-0?bad=TokeN",
    "S3A:///AKIAKEY:SeC%2FReT@bucket/a-0?bad=TokeN",
    "gs:/bucket/a-0?bad=TokeN",
    "fails:/AKIAKEY:SeC%2FReT@bucket/a-0?bad=TokeN",
    "simplecache::fails:/AKIAKEY:SeC%2FReT@bucket/a-0?bad=TokeN",
]


def refuse(url: str) -> Any:
    """Fail as libraries do: the URL, its parts and an error with them are in the error."""
    try:
        raise KeyError(url, {"key": "AKIAKEY", "secret": "SeC/ReT"})
    except KeyError as error:
        error.add_note(f"at {url}")
        made = OSError(f"{url}: 403, <Url>{url}</Url>, key='AKIAKEY' secret=SeC/ReT sig=TokeN")
        made.filename = url
        raise made from error


class Fails(fsspec.AbstractFileSystem):
    protocol = "fails"
    cachable = False

    def __init__(self, **options: Any) -> None:
        refuse(URLS[0])


class Opened(fsspec.AbstractFileSystem):
    """Paths are URLs, as with HTTP; every call fails."""

    protocol = "opened"
    cachable = False

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return path

    def info(self, path: str, **options: Any) -> Any:
        return refuse(path)

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        return refuse(path)

    def cat_file(self, path: str, start: Any = None, end: Any = None, **options: Any) -> Any:
        return refuse(path)

    def _open(self, path: str, *args: Any, **options: Any) -> Any:
        return refuse(path)

    def makedirs(self, path: str, exist_ok: bool = False) -> Any:
        return refuse(path)


class Kept(Opened):
    """Files in memory, under URLs with a user."""

    protocol = "kept"
    files: ClassVar[dict[str, bytes]] = {}

    def info(self, path: str, **options: Any) -> Any:
        path = path.rstrip("/")
        if path in self.files:
            return {"name": path, "type": "file", "size": len(self.files[path])}
        if any(name.startswith(f"{path}/") for name in self.files):
            return {"name": path, "type": "directory", "size": 0}
        raise FileNotFoundError(path)

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        path = path.rstrip("/") + "/"
        names = {path + name[len(path) :].split("/")[0] for name in self.files if name.startswith(path)}
        return [self.info(name) for name in sorted(names)]

    def cat_file(self, path: str, start: Any = None, end: Any = None, **options: Any) -> Any:
        return self.files[path][start:end]

    def _open(self, path: str, *args: Any, **options: Any) -> Any:
        import io

        class File(io.BytesIO):
            def close(file) -> None:
                self.files[path] = file.getvalue()
                super().close()

        return File()

    def makedirs(self, path: str, exist_ok: bool = False) -> Any:
        pass

    def rm_file(self, path: str) -> None:
        self.info(path)
        del self.files[path]

    def mv(self, source: str, target: str, **options: Any) -> None:
        self.files[target] = self.files.pop(source)


@pytest.fixture(autouse=True)
def schemes() -> None:
    Kept.files = {}
    for kind in (Fails, Opened, Kept):
        fsspec.register_implementation(kind.protocol, kind, clobber=True)


def texts_of(error: BaseException) -> Iterator[str]:
    """Everything that can be printed of an error and of the errors behind it."""
    seen: list[BaseException | None] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or one in seen:
            continue
        seen.append(one)
        waiting += [one.__cause__, one.__context__]
        yield from (str(one), repr(one), repr(one.args), repr(vars(one)), repr(getattr(one, "__notes__", "")))
        yield from map(str, (getattr(one, name, "") for name in ("filename", "filename2", "strerror")))
    frames = traceback.TracebackException.from_exception(error)
    yield from frames.format_exception_only()


def check(text: str) -> None:
    assert not [secret for secret in SECRETS if secret in text], text


DEMO = str(Path(__file__).parents[2] / "demo" / "logs" / "sessions-0")
# Public calls that take a path, each with its path as a URL.
CALLS: dict[str, Callable[[str], Any]] = {
    "analysis.extract path": lambda url: recordpress.analysis.extract(url),
    "analysis.simulate path": lambda url: recordpress.analysis.simulate(url),
    "analyze path": lambda url: recordpress.analyze(url),
    "broker.explain source": lambda url: recordpress.broker.explain(url),
    "convert src": lambda url: recordpress.convert(url, "/tmp/never", 1),
    "convert dst": lambda url: recordpress.convert(
        DEMO, url, 1, compression_type="gzip", allow_loss=("headers", "transactions")
    ),
    "dictionaries.DictionaryStore path": lambda url: list(recordpress.dictionaries.DictionaryStore(url)),
    "explain source": lambda url: recordpress.explain(url),
    "log.FileRecords path": lambda url: recordpress.log.FileRecords(url),
    "log.compact path": lambda url: recordpress.log.compact(url),
    "log.reindex path": lambda url: recordpress.log.reindex(url),
    "log.reindex target": lambda url: recordpress.log.reindex(DEMO, url),
    "log.repair path": lambda url: recordpress.log.repair(url, "/tmp/never"),
    "log.repair target": lambda url: recordpress.log.repair(DEMO, url),
    "log.scan path": lambda url: recordpress.log.scan(url),
    "log.verify path": lambda url: recordpress.log.verify(url),
    "open_log path": lambda url: recordpress.open_log(url),
    "open_log path[0]": lambda url: recordpress.open_log([url]),
    "open_log pattern": lambda url: recordpress.open_log(url.replace("/a-0?", "/*?")),
    "polars.scan_log path": lambda url: recordpress.polars.scan_log(url).collect(),
    "spark.compact path": lambda url: recordpress.spark.compact(None, url),
    "spark.compare left": lambda url: recordpress.spark.compare(None, url, DEMO),
    "spark.compare right": lambda url: recordpress.spark.compare(None, DEMO, url),
    "spark.estimate src": lambda url: recordpress.spark.estimate(None, url),
    "spark.inventory src": lambda url: recordpress.spark.inventory(None, url),
    "spark.read src": lambda url: recordpress.spark.read(None, url),
    "spark.ship wheel": lambda url: recordpress.spark.ship(None, url),
    "spark.to_parquet src": lambda url: recordpress.spark.to_parquet(None, url, "/tmp/never"),
    "spark.to_parquet dst": lambda url: recordpress.spark.to_parquet(None, DEMO, url),
    "spark.transcode src": lambda url: recordpress.spark.transcode(None, url, "/tmp/never"),
    "spark.transcode dst": lambda url: recordpress.spark.transcode(None, DEMO, url),
    "spark.verify src": lambda url: recordpress.spark.verify(None, url),
    "train path": lambda url: recordpress.train(url),
    "transcode src": lambda url: recordpress.transcode(url, "/tmp/never", "zstd"),
    "transcode dst": lambda url: recordpress.transcode(DEMO, url, "zstd"),
    **{f"log.sidecars.{name} source": getattr(sidecars, name) for name in sidecars.__all__ if name.startswith("read_")},
    **{
        f"log.sidecars.{name} target": lambda url, name=name: getattr(sidecars, name)(url, [])
        for name in sidecars.__all__
        if name.startswith("write_")
    },
}
SCHEMA = spark_schema(["value"])
# What the driver does with the options of Spark's data source.
SPARK = {
    "batch": lambda url: KafkaLogDataSource({"path": url}).reader(SCHEMA).partitions(),
    "schema": lambda url: KafkaLogDataSource({"path": url}).schema(),
    "store": lambda url: KafkaLogDataSource({"path": url, "fs.s3a.access.key": "a", "fs.s3a.secret.key": "b"}),
    "stream": lambda url: KafkaLogDataSource({"path": url}).streamReader(SCHEMA).initialOffset(),
    "write": lambda url: KafkaLogDataSource({"path": url}).writer(SCHEMA, True),
}

SMALL = ("--sample", "20kB", "--depth", "1")  # it trains before it writes
# Verbs, with the arguments that a path is added to.
COMMANDS = {
    **{
        verb: [[]]
        for verb in (
            "ls",
            "stats",
            "dump",
            "tail",
            "verify",
            "scan",
            "reindex",
            "explain",
            "fits",
            "simulate",
            "compact",
        )
    },
    "analyze": [[], ["--report", ..., DEMO]],
    "extract": [["--output", "/tmp/never"], ["--output", ..., DEMO]],
    "train": [["--size", "1k"], *([*SMALL, option, ..., DEMO] for option in ("--output", "--store"))],
    "find": [["--value", "x"]],
    "compare": [[..., DEMO], [DEMO, ...]],
    "repair": [[..., "/tmp/never"], [DEMO, ...]],
    "reindex": [[], ["--target", ..., DEMO]],
    "transcode": [["--codec", "zstd", ..., "/tmp/never"], ["--codec", "zstd", DEMO, ...]],
    "convert": [["--magic", "1", ..., "/tmp/never"], ["--magic", "1", "--codec", "gzip", DEMO, ...]],
    "explain": [[], ["--config", ..., DEMO]],
}
# Every HDFS client that fails to load takes seconds.
FAST = MISTYPED + [url for url in URLS if not url.startswith(("hdfs", "viewfs", "abfs"))]


def urls_for(name: str) -> list[str]:
    """Half of the URLs for a call or a verb, and the other half for the next; in a thorough run all."""
    names = [*CALLS, *COMMANDS]
    return FAST if THOROUGH else FAST[names.index(name) % 2 :: 2]


def outcome(call: Callable[[str], Any], url: str) -> Iterator[str]:
    """The texts of a call's error, or of its result."""
    try:
        yield repr(call(url))
    except Exception as error:
        yield from texts_of(error)


@pytest.mark.parametrize("call", CALLS)
def test_no_error_of_a_call_has_a_secret(call: str, capfd: pytest.CaptureFixture[str]) -> None:
    for url in urls_for(call):
        for text in outcome(CALLS[call], url):
            check(text)
    check("".join(capfd.readouterr()))


@pytest.mark.parametrize("scheme", sorted({url.partition("://")[0] for url in URLS}))
def test_no_scheme_shows_a_secret(scheme: str) -> None:
    for url in URLS:
        if url.startswith(f"{scheme}://"):
            for text in outcome(recordpress.open_log, url):
                check(text)


@pytest.mark.parametrize("call", SPARK)
def test_no_option_of_spark_shows_a_secret(call: str) -> None:
    for url in FAST:
        for text in outcome(SPARK[call], url):
            check(text)


@pytest.mark.parametrize("verb", COMMANDS)
def test_no_verb_prints_a_secret(verb: str, capfd: pytest.CaptureFixture[str]) -> None:
    for url in urls_for(verb):
        for arguments in COMMANDS[verb]:
            given = [url if one is ... else one for one in arguments]
            assert run([verb, *given] if ... in arguments else [verb, *given, url]) in (2, 3)
            check("".join(capfd.readouterr()))


@pytest.mark.parametrize("url", MISTYPED)
def test_a_mistyped_url_is_refused(url: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="has two slashes"):
        resolve(url)


@pytest.mark.parametrize(
    "path", ["a:b/c-0", "/logs/a:b@c/t-0", "./s3:/bucket", "file:///a:b@c/t-0", "C:/logs/a@b", "hdfs.log:5"]
)
def test_a_path_that_looks_a_little_like_a_url(path: str) -> None:
    assert resolve(path)[1] == path.removeprefix("file://")


def test_every_call_and_verb_with_a_path_is_here() -> None:
    assert "polars.scan_log path" in CALLS
    names = {"path", "src", "dst", "source", "target", "left", "right", "wheel"}
    missing = []
    for module in (
        recordpress,
        recordpress.log,
        recordpress.spark,
        recordpress.dictionaries,
        recordpress.broker,
        recordpress.analysis,
        sidecars,
    ):
        room = module.__name__.removeprefix("recordpress").lstrip(".")
        for name in module.__all__:
            made = getattr(module, name)
            if inspect.isclass(made) and name not in ("FileRecords", "DictionaryStore"):
                continue  # results and options
            with contextlib.suppress(TypeError, ValueError):
                for parameter in names & inspect.signature(made).parameters.keys():
                    if not {f"{name} {parameter}", f"{room}.{name} {parameter}"} & CALLS.keys():
                        missing.append(f"{room}.{name} {parameter}")
    assert missing == [".iter_columns source"]  # bytes or a file
    assert VERBS.keys() - COMMANDS.keys() == {"doctor", "completion"}


def test_no_result_has_a_secret(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Of a store whose paths are URLs: findings, reprs, manifests, progress, suggestions."""
    log = bytearray(b"".join(recordpress.write_records([b"x"] * 9, base_offset=base) for base in (0, 9, 18)))
    there = f"kept://{USER}host/logs/a-0"
    Kept.files[f"{there}/00000000000000000000.log"] = bytes(log)
    copy = recordpress.transcode(there, f"kept://{USER}host/copy", "zstd")
    log[150] ^= 1
    Kept.files[f"{there}/00000000000000000000.log"] = bytes(log)
    opened = recordpress.open_log(there)
    reader = opened.read(on_corrupt="skip")
    repaired = recordpress.log.repair(there, f"kept://{USER}host/repaired/a-0")
    results = [opened, opened.partitions, *opened.partitions[0].segments, resolve(there)[0].list(there), reader]
    results += [list(reader), reader.findings, list(opened.batches())]
    results += [recordpress.log.verify(there), recordpress.log.scan(there), repaired, copy, recordpress.explain(there)]
    results += [recordpress.analyze(there, candidates="none", depths=[1], sample_bytes=1024, threads=1)]
    for one in results:
        check(repr(one))
        check(str(one))
        if hasattr(one, "to_dict"):
            check(json.dumps(one.to_dict(), default=repr))
    for name, data in Kept.files.items():
        if name.endswith(".json"):
            check(data.decode())
    for verb in ("ls", "stats", "verify", "scan", "dump", "tail"):
        for more in ([], ["--json"]):
            run([verb, *more, there])
    run(["repair", there, f"kept://{USER}host/again/a-0"])
    run(["transcode", "--codec", "zstd", there, f"kept://{USER}host/new/a-0"])
    check("".join(capfd.readouterr()))


def test_a_store_that_takes_the_user_for_a_part_of_the_path() -> None:
    """fsspec's memory has no users, so that its paths have the whole URL."""
    url = f"memory://{USER}b/x?sig=TokeN"
    files, path = resolve(url)
    with pytest.raises(recordpress.RecordpressError) as caught:
        recordpress.open_log(url)
    for text in (str(caught.value), repr(caught.value), files.url(path)):
        assert not any(secret in text for secret in SECRETS), text
