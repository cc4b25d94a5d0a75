"""Settings of all tests. Helpers are next to this file: oracle (vectors), facts, strategies, arrow_facts,
arrow_structs."""

import os

import pytest
from hypothesis import HealthCheck, settings

# quick: part of every run. thorough: HYPOTHESIS_PROFILE=thorough, for a night or before a release.
settings.register_profile("quick", max_examples=40, deadline=None, derandomize=True)
settings.register_profile(
    "thorough",
    max_examples=3000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with Spark: its session takes longest, and one process should not wait for it at the end."""
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
