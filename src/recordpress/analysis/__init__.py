"""Which codec, at which level, in batches how deep: measured on the user's own records.

::

    log, URL, file of lines ──► _sample     batches spread over the whole, uncompressed; _lines: cut from a text
    "zstd,1,3/lz4"          ──► _grid       codecs and levels
                                _measure    record sets of each codec, level and depth: sizes, then speeds
                                _dictionary whether a dictionary pays
                                _recommend  what to set, what it saves
                                _analysis   the result: cells, Pareto front, JSON
                                _analyze    all of it, one after another
                                _train      the same for a dictionary alone
                                _report     an HTML file with plots
                html           what reports are made of
                sample_tasks   samples that other processes take and measure
    records ──► _fits           which limit of size rejects which record, from the producer to the log

The name of the room is not that of its calls, `recordpress.analyze` and others: importing a room gives
its name to the package.
"""

from recordpress.analysis._analysis import Analysis, Cell, Speed
from recordpress.analysis._analyze import analyze
from recordpress.analysis._dictionary import DictionaryDepth, Evaluation
from recordpress.analysis._fits import Fits, Limit, Rejection, fits
from recordpress.analysis._grid import DEFAULT_CODECS, Setting, parse_codecs
from recordpress.analysis._rate import Rate, parse_rate
from recordpress.analysis._report import html_of
from recordpress.analysis._train import DictionaryTraining, train_dictionary

__all__ = [
    "DEFAULT_CODECS",
    "Analysis",
    "Cell",
    "DictionaryDepth",
    "DictionaryTraining",
    "Evaluation",
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
    "train_dictionary",
]
