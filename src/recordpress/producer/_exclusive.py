"""Calls of an accumulator that run one at a time."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from recordpress.producer._filling import BatchFiller

Method = TypeVar("Method", bound=Callable[..., Any])


def exclusive(method: Method) -> Method:
    """Give the method the accumulator to itself: another call raises InUseError. It must not call callbacks."""

    @functools.wraps(method)
    def called(self: BatchFiller, *args: Any, **kwargs: Any) -> Any:
        self._begin()
        try:
            return method(self, *args, **kwargs)
        finally:
            self._end()

    return cast(Method, called)
