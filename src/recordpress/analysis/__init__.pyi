from recordpress.analysis._analysis import Analysis as Analysis, Cell as Cell, Speed as Speed
from recordpress.analysis._dictionary import DictionaryDepth as DictionaryDepth, Evaluation as Evaluation
from recordpress.analysis._extract import Extract as Extract, extract as extract
from recordpress.analysis._fits import Fits as Fits, Limit as Limit, Rejection as Rejection
from recordpress.analysis._grid import (
    DEFAULT_CANDIDATES as DEFAULT_CANDIDATES,
    Setting as Setting,
    parse_candidates as parse_candidates,
)
from recordpress.analysis._rate import Rate as Rate
from recordpress.analysis._report import html_of as html_of
from recordpress.analysis._simulate import Policy as Policy, Simulation as Simulation, simulate as simulate
from recordpress.analysis._train import DictionaryTraining as DictionaryTraining
from recordpress.analysis.calls import analyze as analyze, fits as fits, train as train
