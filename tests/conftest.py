"""Settings of all tests. Helpers are beside this file: oracle (vectors), facts, strategies, arrow_facts,
arrow_structs."""

import os

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
