"""Which codec, at which level, in batches how deep: measured on the user's own records.

::

    log, URL, file of lines ──► _sample     batches spread over the whole, uncompressed; _lines: cut from a text
    "zstd,1,3/lz4"          ──► _grid       codecs and levels
                                _measure    record sets of each codec, level and depth: sizes, then speeds
                                _recommend  what to set, what it saves
                                _analysis   the result: cells, Pareto front, JSON
                                _analyze    all of it, one after another
                                _report     an HTML file with plots
    records ──► _fits           which limit of size rejects which record, from the producer to the log

The name of the room is not that of its call, `kpress.analyze`: importing a room gives its name to the package.
"""

from kpress.analysis._analysis import Analysis, Cell, Speed
from kpress.analysis._analyze import analyze
from kpress.analysis._fits import Fits, Limit, Rejection, fits
from kpress.analysis._grid import DEFAULT_CODECS, Setting, parse_codecs
from kpress.analysis._rate import Rate, parse_rate
from kpress.analysis._report import html_of

__all__ = [
    "DEFAULT_CODECS",
    "Analysis",
    "Cell",
    "Fits",
    "Limit",
    "Rate",
    "Rejection",
    "Setting",
    "Speed",
    "analyze",
    "fits",
    "html_of",
    "parse_codecs",
    "parse_rate",
]
