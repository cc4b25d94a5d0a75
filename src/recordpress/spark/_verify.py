"""verify: the check of a log by all executors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from recordpress._arguments import choice
from recordpress.log import Finding
from recordpress.log.check.verify import Check, verify_split
from recordpress.log.splits import TaskSplits
from recordpress.spark._codecs import Codecs
from recordpress.spark._jobs import Paths, opened, schema_of, tasks
from recordpress.spark._run import run, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RESULT = schema_of(
    "topic string, partition int, file string, position long, size long, offset long, rule string, message string, "
    "fieldPosition long"
)


def verify(spark: SparkSession, src: Paths, check: str = "batch", *, codecs: Codecs = None) -> DataFrame:
    """Check a log for errors, without changing it.

    Parameters
    ----------
    spark : SparkSession
        Its executors see `src` under the same paths.
    src : path, URL, pattern, or several
        As for `recordpress.open_log`.
    check : {'file', 'batch', 'record'}
        As for `recordpress.log.verify`. A task checks whole segments. Offsets and leader epochs are compared with the
        end of the preceding segment; for 'record', a task begins where a ``.snapshot`` holds the state of producers.
    codecs : CodecRegistry, str or several, optional
        Codec plug-ins: a registry, or paths as `CodecRegistry.load` takes them (``"package.module:attribute"``),
        which executors import, too.

    Returns
    -------
    DataFrame
        One row per finding: topic, partition, file, position, size, offset, rule, message, fieldPosition. An intact
        log has no rows.

    Raises
    ------
    InvalidArgumentError
        No partition was found, or the check is unknown.
    pyspark.errors.PySparkException
        A task failed: a file cannot be read.

    Examples
    --------
    >>> import recordpress
    >>> recordpress.spark.verify(spark, "demo/logs/sessions-0", "record").count()
    0
    """
    choice("check", check, get_args(Check))
    log = opened(src, codecs)
    work = tasks(spark, log, whole_segments=True, with_files=True, by_state=check == "record")
    findings: dict[tuple[str | None, int | None, Finding], None] = {(None, None, one): None for one in log.skipped}
    for found in run(spark, "verify", _verified, [(task, check) for task in work]):
        findings.update(dict.fromkeys(found))  # without repetitions: every task reads the checkpoint of leader epochs
    rows = [{"topic": topic, "partition": number, **finding.to_dict()} for topic, number, finding in findings]
    return table(spark, rows, _RESULT)


def _verified(work: tuple[TaskSplits, Any]) -> list[tuple[str | None, int | None, Finding]]:
    task, check = work
    return [
        (split.topic, split.partition, finding) for split in task for finding in verify_split(split, check).findings
    ]
