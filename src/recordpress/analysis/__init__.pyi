from recordpress.analysis._analysis import Analysis, Cell, Speed
from recordpress.analysis._dictionary import DictionaryDepth, Evaluation
from recordpress.analysis._fits import Fits, Limit, Rejection
from recordpress.analysis._grid import DEFAULT_CODECS, Setting, parse_codecs
from recordpress.analysis._rate import Rate, parse_rate
from recordpress.analysis._report import html_of
from recordpress.analysis._train import DictionaryTraining
from recordpress.analysis.calls import analyze, fits, train_dictionary

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
