"""Verbs and their summaries, so that the program's help does not import the verbs."""

PROGRAM = "recordpress"
COMPLETION_VARIABLE = "_RECORDPRESS_COMPLETE"  # click's name for it

# Modules of recordpress.cli.verbs, each with a `command`, in the order of the help.
VERBS = {
    "ls": "List partitions and their segments.",
    "stats": "Summarize stored codecs, records per batch, ratios and formats.",
    "analyze": "Measure codecs, levels and batch depths on your records.",
    "extract": "Write the uncompressed records of batches to a file, for other benchmarks.",
    "simulate": "Compare policies for closing a producer's batches, on your records.",
    "train": "Train a zstd dictionary on your records, and report whether it pays.",
    "dump": "Print the records of a log, or its batches.",
    "tail": "Print the last records of each partition.",
    "find": "Find records by key, value or header.",
    "verify": "Check whether a log is as a broker would have left it.",
    "compare": "Check whether two logs hold the same records.",
    "scan": "Find all damage in a log, and predict a broker's recovery.",
    "repair": "Copy all intact batches of a damaged log.",
    "reindex": "Rebuild the indexes and the other files next to a log.",
    "transcode": "Copy a log with another codec and the same offsets.",
    "convert": "Copy a log in another message format, with the same offsets.",
    "compact": "Merge small neighbouring segments of a log dir in place.",
    "fits": "Find records that are too large, and the limits that reject them.",
    "explain": "Explain how a broker would treat batches.",
    "doctor": "Report versions, speeds and missing packages.",
    "completion": "Print the completion script of a shell.",
}
