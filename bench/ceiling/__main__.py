"""Print the ceiling's own rates, in million records a second (best of 15 turns): python -m bench.ceiling [SET ...]"""

import sys
from collections.abc import Callable

from bench.corpus import CODECS, SETS
from bench.race import Contender


def best(call: Callable[[], object], records: int) -> float:
    contender = Contender("limit", call)
    contender.calibrate()
    return records / min(contender.turn() for _ in range(15)) / 1e6


for records in [SETS[name] for name in sys.argv[1:] or SETS]:
    ceiling = records.ceiling()
    for codec in CODECS:
        data = records.batch(codec)
        rates = {
            "decode": best(lambda: ceiling.decode(data), records.count),
            "views": best(lambda: ceiling.decode(data, True), records.count),
        }
        ceiling.decode(data)
        rates["encode"] = best(lambda: ceiling.encode(codec), records.count)
        print(f"{records.name:11s} {codec:7s}", "  ".join(f"{name} {rate:7.3f}" for name, rate in rates.items()))
