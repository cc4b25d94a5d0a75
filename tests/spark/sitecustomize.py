"""Let Spark's own Pythons start quickly in these tests.

Spark gives them pyspark in a zip file, which each of them reads and compiles again, and each worker imports pandas and
pyarrow after its daemon's fork. Here they get the installed pyspark, and the daemon imports once what workers need.
"""

import sys

if any(word.startswith("pyspark.") for word in sys.orig_argv):
    sys.path[:] = [path for path in sys.path if not path.endswith((".zip", ".jar"))]

if "pyspark.daemon" in sys.orig_argv:
    import pandas  # noqa: F401
    import pyarrow.compute  # noqa: F401
    import pyspark.sql.conversion
    import pyspark.sql.streaming.stateful_processor_util
    import pyspark.worker  # noqa: F401
