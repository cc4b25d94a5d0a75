"""Measurements on the user's own records: which codec, level and batch depth to set, and whether a dictionary pays.

::

    log, URL, file of lines ──► _sample, _lines    batches spread over the whole, uncompressed
    "zstd,1,3/lz4"          ──► _grid              codecs and levels
                                _measure           record sets of each codec, level and depth: sizes, then speeds
                                _recommend         settings to use, and their savings
                                _analysis, _report the result as an object and as an HTML page
    log ──► _extract            uncompressed records for other benchmarks
    log ──► _simulate           policies by which a producer ends its batches
    records ──► _fits           limits of size from the producer to the log, and the records that they reject
"""

from recordpress._lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "recordpress.analysis._analysis": "Analysis Cell Speed",
        "recordpress.analysis._dictionary": "DictionaryDepth Evaluation",
        "recordpress.analysis._extract": "Extract extract",
        "recordpress.analysis._fits": "Fits Limit Rejection",
        "recordpress.analysis._grid": "DEFAULT_CANDIDATES Setting parse_candidates",
        "recordpress.analysis._rate": "Rate parse_rate",
        "recordpress.analysis._report": "html_of",
        "recordpress.analysis._simulate": "Policy Simulation simulate",
        "recordpress.analysis._train": "DictionaryTraining",
        "recordpress.analysis.calls": "analyze fits train",
    },
)
