"""Names of the files in a log dir (Kafka's LogFileUtils, LeaderEpochCheckpointFile and PartitionMetadataFile)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Self

from recordpress._arguments import INT32_MAX
from recordpress.errors import InvalidArgumentError

_PARTITION_DIRECTORY = re.compile(r"(?P<topic>.+)-(?P<partition>0|[1-9][0-9]{0,9})", re.DOTALL)

URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)(?:::.*)?://", re.DOTALL)  # fsspec chains them: zip::s3://
_URLS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)(.*?)(?=::[A-Za-z][A-Za-z0-9+.-]*:|$)", re.DOTALL)
_URL_IN_TEXT = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)([^\s'\"<>]*)")
# A URL without two slashes after the scheme: it names a store, or has a user and a password.
_MISTYPED = re.compile(
    r"(?:s3[an]?|gc?s|abfss?|hdfs|viewfs|https?):/?(?!/)|(?!file:)[a-z][a-z0-9+.-]+:(?!//[^/]).*:.*@",
    re.DOTALL | re.IGNORECASE,
)
_LONG_SECRET = 8  # characters; a shorter secret may be a part of other words

# suffixes and names of files (LogFileUtils, LeaderEpochCheckpointFile, PartitionMetadataFile)
LOG_FILE_SUFFIX = ".log"
INDEX_FILE_SUFFIX = ".index"
TIME_INDEX_FILE_SUFFIX = ".timeindex"
TXN_INDEX_FILE_SUFFIX = ".txnindex"
PRODUCER_SNAPSHOT_FILE_SUFFIX = ".snapshot"
LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
SEGMENT_ENDINGS = (LOG_FILE_SUFFIX, f"{LOG_FILE_SUFFIX}.deleted", f"{LOG_FILE_SUFFIX}.swap")

# our own files, in a log dir that Spark's sink writes; brokers ignore unknown files, Spark and Hive ignore _* and .*
STAGING = ".recordpress-staging"
COMMIT_PREFIX = "_recordpress-commit-"
SUCCESS = "_SUCCESS"  # as in Hadoop's FileOutputCommitter: no job is half done

# The kind of a file by the end of its name.
_WITHOUT_RECORDS = {
    INDEX_FILE_SUFFIX: "an offset index",
    TIME_INDEX_FILE_SUFFIX: "a time index",
    TXN_INDEX_FILE_SUFFIX: "a transaction index",
    PRODUCER_SNAPSHOT_FILE_SUFFIX: "a snapshot of producer state",
    LEADER_EPOCH_CHECKPOINT: "a checkpoint of leader epochs",
    PARTITION_METADATA: "the metadata of a partition",
}
_ENDINGS = tuple(_WITHOUT_RECORDS)


def refuse_without_records(path: str | bytes | PathLike[str] | PathLike[bytes], field: str = "path") -> None:
    """Raise InvalidArgumentError for a file whose name shows that it has no records."""
    name = fspath(path)
    text = name.decode("utf-8", "replace") if isinstance(name, bytes) else name
    if not text.endswith(_ENDINGS):
        return
    for ending, what in _WITHOUT_RECORDS.items():
        if text.endswith(ending):
            raise InvalidArgumentError(
                f"this is {what} without records: open the {LOG_FILE_SUFFIX} file next to it",
                file=printable(text),
                field=field,
            )


def printable(path: str | PathLike[str]) -> str:
    r"""Return a path for a message: bytes that are not UTF-8 as ``\xff``, a URL without its user and its query."""
    text = fspath(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if scheme := _mistyped_scheme(text):
        return f"{scheme}:***"
    return _URLS.sub(_shown, text) if URL.match(text) else text


def refuse_mistyped(path: str) -> None:
    """Raise an error for a URL with one slash or three: the system's error would quote the URL."""
    if scheme := _mistyped_scheme(path):
        raise InvalidArgumentError(
            f"a URL has two slashes after {scheme}: and a name after them; a local path may begin with ./", field="path"
        )


def _mistyped_scheme(path: str) -> str:
    if ":" not in path:
        return ""
    return next((part.partition(":")[0] for part in path.split("::") if _MISTYPED.match(part)), "")


def refuse_url(path: str | PathLike[str]) -> None:
    """Raise an error for a URL instead of a local path: the system's error would quote the URL."""
    refuse_mistyped(fspath(path))
    if URL.match(fspath(path)):
        raise InvalidArgumentError(f"{printable(path)} is a URL; only a local path is accepted here", field="path")


def refuse_ambiguous(url: str) -> None:
    """Raise an error if a password has a slash or question mark that is not encoded: libraries take it for a path."""
    if any(set("/?") & set(_parts(match[2])[0]) for match in _URLS.finditer(url)):
        raise InvalidArgumentError(f"{printable(url)}: write / and ? in its password as %2F and %3F", field="path")


def without_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    """Return another library's message without users and queries of URLs, and without `secrets`."""
    text = _URL_IN_TEXT.sub(_shown, text)
    for secret in secrets:
        pattern = re.escape(secret)
        text = re.sub(pattern if len(secret) >= _LONG_SECRET else rf"(?<!\w){pattern}(?!\w)", "***", text)
    return text


def secrets_of(url: str) -> tuple[str, ...]:
    """Return the user, the password and the options of a URL in every form in which a message may quote them."""
    from urllib.parse import quote, unquote  # here, because few URLs have secrets

    found = set()
    for match in _URLS.finditer(url):
        user, _, query = _parts(match[2])
        found |= {user, *user.split(":", 1), query, *(pair.partition("=")[2] for pair in query.split("&"))}
    plain = found | {unquote(one) for one in found}
    forms = plain | {quote(one, safe="") for one in plain} | {repr(one)[1:-1] for one in plain}
    return tuple(sorted(forms - {""}, key=len, reverse=True))


def _shown(match: re.Match[str]) -> str:
    return match[1] + _parts(match[2])[1]


def _parts(rest: str) -> tuple[str, str, str]:
    """Split a URL after its scheme into user, place and query, even if a slash or question mark in the password is not
    encoded."""
    authority = re.split("[/?]", rest, maxsplit=1)[0]
    is_cut = "@" not in authority and ":" in authority and not authority.rpartition(":")[2].isdigit()
    start = (rest if is_cut else authority).rfind("@") + 1
    place, _, query = rest[start:].partition("?")
    return rest[: max(start - 1, 0)], place, query


@dataclass(frozen=True, order=True)
class TopicPartition:
    """Partition of a topic; its str() is the name of its directory.

    Examples
    --------
    >>> TopicPartition.of_directory("web-access.v2-11")
    TopicPartition(topic='web-access.v2', partition=11)
    >>> TopicPartition.of_directory("orders-0.5f1c-delete") is None
    True
    """

    topic: str
    partition: int

    @classmethod
    def of_directory(cls, name: str) -> Self | None:
        """Return the partition from a directory's name, split at its last ``-``; None if the name is not that of a
        partition: it ends with ``-delete`` (deletion is pending), its number is not an int32 or has leading zeros, or
        its topic is not UTF-8."""
        match = _PARTITION_DIRECTORY.fullmatch(name)
        if not match or int(match["partition"]) > INT32_MAX or not _is_utf8(name):
            return None
        return cls(match["topic"], int(match["partition"]))

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def _is_utf8(name: str) -> bool:
    """Return whether a name is UTF-8: other bytes are lone surrogates in Python."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
