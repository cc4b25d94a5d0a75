"""The options of Hadoop's S3A connector that locate an object store and give its credentials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from recordpress._file_names import printable
from recordpress.errors import InvalidArgumentError
from recordpress.files import FileSystem, resolve
from recordpress.spark._option import Option

STORE_OPTIONS = (
    Option("fs.s3a.access.key", "Access key, as for Hadoop's S3A connector.", "from the environment"),
    Option("fs.s3a.secret.key", "Secret key.", "from the environment"),
    Option("fs.s3a.session.token", "Token of a temporary key."),
    Option("fs.s3a.endpoint", "Server other than Amazon's, with or without http:// or https://."),
    Option("fs.s3a.endpoint.region", "Region.", "the bucket's region if there is no endpoint"),
)
_NAMES = tuple(row.name for row in STORE_OPTIONS)
_SCHEMES = ("s3://", "s3a://", "s3n://")


@dataclass(frozen=True)
class Store:
    """An S3 store as `STORE_OPTIONS` describe it; pyarrow takes the rest from the environment."""

    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    endpoint: str | None = None
    region: str | None = None

    @classmethod
    def parse(cls, given: Callable[[str], str | None], paths: Sequence[str]) -> Store | None:
        """Parse the options for these paths; return None if no option is given."""
        values = {name: value for name in _NAMES if (value := given(name)) is not None}
        if not values:
            return None
        first = next(iter(values))
        for path in paths:
            if not path.lower().startswith(_SCHEMES):
                raise InvalidArgumentError(
                    f"option {first} needs paths in s3://, not {printable(path)}"[:300], field=first
                )
            if "?" in path or "@" in urlsplit(path).netloc:
                raise InvalidArgumentError(
                    f"the path and the option {first} both describe the store: use one of them", field=first
                )
        for one, other in (_NAMES[:2], _NAMES[1::-1], (_NAMES[2], _NAMES[0])):
            if one in values and other not in values:
                raise InvalidArgumentError(f"option {one} needs the option {other}", field=one)
        return cls(*(values.get(name) for name in _NAMES))

    def filesystem(self, path: str) -> Any:
        """Return pyarrow's file system for the bucket of a path."""
        from pyarrow.fs import S3FileSystem, resolve_s3_region

        scheme, _, server = (self.endpoint or "").rpartition("://")
        region = self.region
        if region is None and not server:
            region = resolve_s3_region(urlsplit(path).netloc)
        return S3FileSystem(
            access_key=self.access_key,
            secret_key=self.secret_key,
            session_token=self.session_token,
            endpoint_override=server or None,
            scheme=scheme or None,
            region=region,
        )


def located(store: Store | None, paths: Sequence[str]) -> tuple[list[str], Any]:
    """Return the paths and the file system for `recordpress.open_log`; without a store, the file system is None."""
    if store is None:
        return list(paths), None
    return [unquote(path.partition("://")[2]).strip("/") for path in paths], store.filesystem(paths[0])


def resolved(store: Store | None, path: str) -> tuple[FileSystem, str]:
    """Resolve a path as `recordpress.files.resolve` does, with the store's options for paths in S3."""
    if not path.lower().startswith(_SCHEMES):
        return resolve(path)
    (name,), filesystem = located(store, [path])
    return resolve(name, filesystem)
