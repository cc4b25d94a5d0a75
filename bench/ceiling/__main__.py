"""Print the ceiling's own rates, in million records a second (best of 15 turns): python -m bench.ceiling [SET ...]"""

import sys
import time
from collections.abc import Callable

from bench.corpus import CODECS, SETS, RecordSet
from bench.race import Contender


def best(call: Callable[[], object], records: int) -> float:
    contender = Contender("limit", call)
    contender.calibrate(time.thread_time)
    return records / min(contender.turn(time.thread_time) for _ in range(15)) / 1e6


def rates(records: RecordSet, codec: str) -> dict[str, float]:
    ceiling, data = records.ceiling(), records.batch(codec)
    out = {
        "decode": best(lambda: ceiling.decode(data), records.count),
        "views": best(lambda: ceiling.decode(data, True), records.count),
    }
    ceiling.decode(data)
    return out | {"encode": best(lambda: ceiling.encode(codec), records.count)}


for name in sys.argv[1:] or SETS:
    for codec in CODECS:
        measured = rates(SETS[name], codec).items()
        print(f"{name:11s} {codec:7s}", "  ".join(f"{what} {rate:7.3f}" for what, rate in measured))
