"""Sources of `recordpress.explain`, and the modules that process each kind.

::

    bytes ──► a batch at the start? ─ yes ─► record set ───────────────► _explain_set ──► Explanation
                     │ no                                                     ▲
                     └──► _produce_request ──► a record set per partition ────┘
    path  ──► directory, .log, pattern ──► recordpress.log ──► _explain_log ───────┘ (a batch at a time)
              any other file ──► bytes
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from recordpress._buffers import InputView
from recordpress._file_names import LOG_FILE_SUFFIX, SEGMENT_ENDINGS
from recordpress.broker._config import log_config
from recordpress.broker._config_names import is_setting
from recordpress.broker._explain_log import LogExplainer
from recordpress.broker._explain_set import Place, explained
from recordpress.broker._explanation import ExplainedBatch, Explanation, grouped, in_order
from recordpress.broker._judge import Judge
from recordpress.broker._produce_request import Captured, ProduceRequest, read_captured
from recordpress.broker._properties import read_properties
from recordpress.broker._versions import rules_of
from recordpress.codecs import CodecRegistry
from recordpress.codecs.table import codecs_given
from recordpress.errors import ArgumentTypeError, InvalidArgumentError, RecordpressError
from recordpress.files import located, named, resolve
from recordpress.log import Log, Progress, open_log
from recordpress.record import read_batches
from recordpress.typing import Integer, Time

MOST_BYTES = 100 << 20  # of a request: the default of a broker's socket.request.max.bytes
_MOST_SETTINGS = 1 << 20  # bytes of a server.properties
_PATTERN = re.compile(r"[*?[]")
# The settings in a broker's file that affect a record set; others, such as passwords, are dropped.
_MATTERS = re.compile(
    r"(log\.)?(compression\.|message\.|cleanup\.policy|segment\.bytes)|max\.message\.bytes|internal\.segment\.bytes"
    r"|inter\.broker\.protocol\.version|transaction\.partition\.verification\.enable"
)


def explain_source(
    source: Any,
    topic_config: Mapping[str, str | int | bool] | None,
    broker_version: str,
    config: Mapping[str, str | int | bool] | str | os.PathLike[str] | None,
    produce_version: Integer | None,
    transactional_id: str | None,
    now_ms: Time | None,
    helpful: bool,
    full: bool,
    codecs: CodecRegistry | None,
    progress: Callable[[Progress], object] | None,
) -> Explanation:
    """Explain batches, as `recordpress.explain` describes."""
    if progress is not None and not callable(progress):
        raise ArgumentTypeError(f"progress must be callable, not {type(progress).__name__}", field="progress")
    if transactional_id is not None and not isinstance(transactional_id, str):
        message = f"transactional_id must be a str or None, not {type(transactional_id).__name__}"
        raise ArgumentTypeError(message, field="transactional_id")
    with named("config"):
        settings, notes = _settings(config)
    if topic_config is not None and not isinstance(topic_config, Mapping):
        message = f"topic_config must be a mapping of names to values, not {type(topic_config).__name__}"
        raise ArgumentTypeError(message, field="topic_config")
    settings.update(topic_config or {})
    judge = Judge(
        broker_version=broker_version,
        topic_config=settings,
        levels=log_config(settings, rules_of(broker_version), codecs_given(codecs)).levels,
        produce_version=produce_version,
        now_ms=now_ms,
        helpful=helpful,
        codecs=codecs,
    )
    with named("source"):
        data = _buffer_of(source)
        if data is not None:
            found = _of_bytes(data, None, judge, transactional_id)
        else:
            found = _of_paths(source, judge, transactional_id, full, progress)
    found.notes[:0] = notes
    return found


def _buffer_of(source: Any) -> memoryview | None:
    """Return None if `source` does not support the buffer protocol."""
    try:
        return memoryview(InputView(source, "source"))
    except ArgumentTypeError:
        return None


def _explanation(kind: str, judge: Judge, batches: list[ExplainedBatch], notes: Iterable[str] = ()) -> Explanation:
    groups = in_order(grouped(batches).values())
    return Explanation(kind, judge.broker_version, dict(judge.topic_config), batches, groups, notes=list(notes))


# ---- settings


def _settings(
    config: Mapping[str, str | int | bool] | str | os.PathLike[str] | None,
) -> tuple[dict[str, Any], list[str]]:
    """Return a broker's settings, and a note on names unknown to Kafka: a file may configure plug-ins."""
    if config is None:
        return {}, []
    if isinstance(config, Mapping):
        return dict(config), []
    if not isinstance(config, str | os.PathLike):
        message = f"config must be a path or a mapping of names to values, not {type(config).__name__}"
        raise ArgumentTypeError(message, field="config")
    files, path = resolve(config)
    with files.open(path) as file:
        if file.size > _MOST_SETTINGS:
            message = f"file too large for a properties file ({file.size} bytes)"
            raise InvalidArgumentError(message, file=file.name, field="config")
        text = bytes(file.read_exactly(0, file.size)).decode("utf-8", "replace")
        found = read_properties(text, file.name)
    strange = sorted(name for name in found if not is_setting(name))
    notes = [f"{files.url(path)}: skipped settings that Kafka does not have: {', '.join(strange)}"] if strange else []
    return {name: value for name, value in found.items() if is_setting(name) and _MATTERS.match(name)}, notes


# ---- record sets and requests


def _of_bytes(data: memoryview, file: str | None, judge: Judge, transactional_id: str | None) -> Explanation:
    captured = None if _begins_with_a_batch(data) else _captured(data, file)
    if captured is None:
        ask = judge.of_request(judge.produce_version, transactional_id)
        batches = list(explained(data, Place(file=file), ask, judge.levels, judge.codecs))
        return _explanation("record set", judge, batches)
    batches, notes = [], []
    if captured.others:
        notes.append(f"skipped {captured.others} requests other than Produce")
    for request in captured.requests:
        batches += _of_request(request, file, judge)
        if not request.has_header and judge.produce_version is None:
            notes.append(f"the request has no header: Produce {request.version} is assumed")
    return _explanation("Produce request", judge, batches, notes)


def _begins_with_a_batch(data: memoryview) -> bool:
    try:
        batch = next(iter(read_batches(data, check_crcs=False)), None)
        return batch is not None and batch.is_valid()
    except RecordpressError:
        return False


def _captured(data: memoryview, file: str | None) -> Captured | None:
    with located(0, file or ""):
        return read_captured(data)


def _of_request(request: ProduceRequest, file: str | None, judge: Judge) -> list[ExplainedBatch]:
    version = request.version if judge.produce_version is None else judge.produce_version
    ask = judge.of_request(version, request.transactional_id)
    return [
        batch
        for part in request.partitions
        for batch in explained(
            part.records, Place(part.position, file, part.topic, part.partition), ask, judge.levels, judge.codecs
        )
    ]


# ---- paths


def _of_paths(
    source: Any, judge: Judge, transactional_id: str | None, full: bool, progress: Callable[[Progress], object] | None
) -> Explanation:
    if isinstance(source, Log):
        return _of_logs(source, judge, full, progress)
    paths = [source] if isinstance(source, str | os.PathLike) else _several(source)
    logs = [path for path in paths if _is_log(path)]
    if logs and len(logs) < len(paths):
        other = next(path for path in paths if path not in logs)
        message = f"{os.fspath(other)} is a request or a record set: explain it separately from logs"
        raise InvalidArgumentError(message, field="source")
    if logs:
        return _of_logs(logs, judge, full, progress)
    parts = [_of_file(path, judge, transactional_id) for path in paths]
    if len(parts) == 1:
        return parts[0]
    kind = parts[0].kind if len({part.kind for part in parts}) == 1 else "record set"
    batches = [batch for part in parts for batch in part.batches]
    return _explanation(kind, judge, batches, (note for part in parts for note in part.notes))


def _several(source: Any) -> list[Any]:
    if not isinstance(source, Iterable):
        message = f"source must be bytes, a path or several paths, not {type(source).__name__}"
        raise ArgumentTypeError(message, field="source")
    paths = list(source)
    if not paths or not all(isinstance(path, str | os.PathLike) for path in paths):
        raise ArgumentTypeError("source must contain at least one path or URL, and nothing else", field="source")
    return paths


def _is_log(path: str | os.PathLike[str]) -> bool:
    """Return whether a path leads to segments, not to a client's request or record set."""
    files, name = resolve(path)
    if name.endswith(SEGMENT_ENDINGS):
        return True
    try:
        return files.info(name).is_directory
    except FileNotFoundError:
        if _PATTERN.search(name):
            return True
        raise


def _of_file(path: str | os.PathLike[str], judge: Judge, transactional_id: str | None) -> Explanation:
    files, name = resolve(path)
    with files.open(name) as file:
        if file.size > MOST_BYTES:
            raise InvalidArgumentError(
                f"file too large for a request ({file.size} bytes, limit {MOST_BYTES}); the name of a segment ends in "
                f"{LOG_FILE_SUFFIX}",
                file=files.url(name),
                field="source",
            )
        data = memoryview(file.read_exactly(0, file.size))
    return _of_bytes(data, files.url(name), judge, transactional_id)


def _of_logs(
    paths: list[Any] | Log, judge: Judge, full: bool, progress: Callable[[Progress], object] | None
) -> Explanation:
    log = paths if isinstance(paths, Log) else open_log(paths)
    found = LogExplainer(judge, full, progress).explain(log)
    explanation = _explanation("log", judge, [])
    explanation.groups = in_order(found.groups)
    explanation.batches = [group.first for group in explanation.groups]
    explanation.control_batches, explanation.compacted_batches = found.control_batches, found.compacted_batches
    explanation.depths, explanation.findings = found.depths, found.findings
    explanation.notes = [*(f"skipped: {finding}" for finding in log.skipped), *found.cut]
    if found.opened < found.batches:
        explanation.notes.append(
            f"{found.opened:,} of {found.batches:,} batches were opened; the others are assumed to be alike"
        )
    return explanation
