"""Calls of several threads at a time."""

from collections.abc import Iterator

import pytest

from recordpress.files import for_each, results


def test_a_failure_ends_the_items_at_once() -> None:
    """They may have threads of their own, which would otherwise wait for themselves if a collector runs in one."""
    ended = []

    def items() -> Iterator[int]:
        try:
            for one, _ in results(range(100), str, 2):
                yield one
        finally:
            ended.append(True)

    with pytest.raises(ZeroDivisionError) as caught:
        for_each(items(), lambda one: 1 // (one - 3), 2)
    assert ended and caught.tb
