"""pyspark.daemon, but workers that have ended stay in /proc as zombies, so that their CPU seconds are counted.

Spark's own one ignores SIGCHLD: the kernel then forgets children and their times (wait(2), getrusage(2)). Spark starts
this module as a program, because spark.python.daemon.module names it.
"""

import runpy
import signal

_signal = signal.signal


def _keeping_zombies(number, handler):
    return _signal(number, signal.SIG_DFL if number == signal.SIGCHLD else handler)


if __name__ == "__main__":
    signal.signal = _keeping_zombies
    runpy.run_module("pyspark.daemon", run_name="__main__", alter_sys=True)
