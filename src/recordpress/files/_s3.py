"""What S3 offers and pyarrow does not: objects that are only created, and listings by key, with boto3."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from html import unescape
from typing import Any
from urllib.parse import unquote_plus

from recordpress.files._interface import LISTS_AT_ONCE, FileInfo, Listing

_CONTENTS = re.compile(rb"<Contents>.*</Contents>", re.DOTALL)
_FIELDS = [re.compile(rb"<%b>([^<]*)</%b>" % (name, name)) for name in (b"Key", b"LastModified", b"Size")]


def s3_client(filesystem: Any) -> Any:
    """Return a boto3 client that only lists and creates objects (S3's If-None-Match, which pyarrow lacks:
    apache/arrow#44281); None for other stores and without boto3."""
    if filesystem.type_name != "s3":
        return None
    try:
        from boto3.session import Session
        from botocore import UNSIGNED
        from botocore.config import Config
    except ImportError:
        return None
    given = filesystem.__reduce__()[1][0]
    server = given["endpoint_override"]
    url = server if "://" in server or not server else f"{given['scheme']}://{server}"
    style = "path" if server and not given.get("force_virtual_addressing") else "auto"
    client = Session().client(
        "s3",
        region_name=given["region"] or None,
        endpoint_url=url or None,
        aws_access_key_id=given["access_key"] or None,
        aws_secret_access_key=given["secret_key"] or None,
        aws_session_token=given["session_token"] or None,
        verify=given.get("tls_ca_file_path") or None,
        config=Config(
            s3={"addressing_style": style},
            max_pool_connections=LISTS_AT_ONCE,
            **({"signature_version": UNSIGNED} if given["anonymous"] else {}),
        ),
    )
    # a header, because versions before 1.35 have no parameter for it
    client.meta.events.register(
        "before-call.s3.PutObject", lambda params, **_: params["headers"].update({"If-None-Match": "*"})
    )
    client.meta.events.register("before-parse.s3.ListObjectsV2", _without_contents)
    return client


def _without_contents(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: Any) -> None:
    """Take the entries out of a page before botocore parses it: parsing takes 80 microseconds per entry."""
    body = response_dict["body"]
    entries = body.split(b"<Contents>")[1:]
    found = [[field.search(entry) for field in _FIELDS] for entry in entries]
    if not all(map(all, found)):
        raise OSError("an entry of the listing has no key, time or size")
    customized_response_dict["Entries"] = [[one[1].decode() for one in entry if one] for entry in found]
    response_dict["body"] = _CONTENTS.sub(b"", body)


def list_keys(client: Any, paths: Sequence[str]) -> list[Listing]:
    """Return the entries of directories, from listings of the keys between the first directory and the last."""
    found: dict[str, dict[str, FileInfo]] = {path: {} for path in paths}
    bucket, _, first = min(f"{path}/" for path in paths).partition("/")
    last = max(f"{path}/" for path in paths).partition("/")[2]
    depth = first.count("/")
    for key, modified, size in _keys(client, bucket, first[: first.rfind("/", 0, -1) + 1], first, last):
        *parents, below = key.split("/", depth)
        directory = "/".join([bucket, *parents])
        name, slash, _ = below.partition("/")
        if name and directory in found:
            path = f"{directory}/{name}"
            file = FileInfo(path, name, "file", size, modified)
            found[directory][name] = FileInfo(path, name, "directory") if slash else file
    return [[one for _, one in sorted(inside.items())] for inside in found.values()]


def _keys(client: Any, bucket: str, prefix: str, first: str, last: str) -> Iterator[tuple[str, float, int]]:
    """Yield key, time and size of the objects in the directories from the first to the last."""
    place = {"StartAfter": first}
    while True:
        page = client.list_objects_v2(Bucket=bucket, Prefix=prefix, **place)
        is_encoded = page.get("EncodingType") == "url"
        for key, modified, size in page["Entries"]:
            text = unquote_plus(unescape(key)) if is_encoded else unescape(key)
            if text > last and not text.startswith(last):
                return
            yield text, datetime.fromisoformat(modified).timestamp(), int(size)
        if not page.get("IsTruncated"):
            return
        place = {"ContinuationToken": page["NextContinuationToken"]}
