"""Python runs this file first in every process of the benchmark: PySpark's daemons keep the CPU times of their workers.

pyspark.daemon ignores SIGCHLD: the kernel then forgets its children and their times (wait(2), getrusage(2)). Here they
stay in /proc as zombies, so that they are counted. A setting of Spark names the daemon of the workers alone, not those
that plan a query.
"""

import signal
import sys

if "pyspark.daemon" in sys.orig_argv:
    _signal = signal.signal

    def _keeping_zombies(number, handler):
        return _signal(number, signal.SIG_DFL if number == signal.SIGCHLD else handler)

    signal.signal = _keeping_zombies
