"""Calls of an accumulator of which one at a time is at work."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from recordpress.producer._filling import BatchFiller

Method = TypeVar("Method", bound=Callable[..., Any])


def alone(method: Method) -> Method:
    """The method has the accumulator to itself: a call meanwhile is an InUseError. So it must not call callbacks."""

    @functools.wraps(method)
    def called(self: BatchFiller, *args: Any, **kwargs: Any) -> Any:
        self._begin()
        try:
            return method(self, *args, **kwargs)
        finally:
            self._end()

    return cast(Method, called)
