"""Which verbs there are: what the help of the program lists without importing them."""

PROGRAM = "recordpress"
COMPLETION_VARIABLE = "_RECORDPRESS_COMPLETE"  # click's name for it

# Modules of recordpress.cli.verbs, each with a `command` of its name. In the order of the help.
VERBS = {
    "ls": "List partitions and their segments.",
    "stats": "Tell what is stored: codecs, records per batch, ratios, formats.",
    "analyze": "Measure codecs, levels and batch depths on your own records.",
    "train": "Train a dictionary on your own records, and tell whether it pays.",
    "dump": "Print the records of a log, or its batches.",
    "tail": "Print the last records of each partition.",
    "find": "Find records by key, value or header.",
    "verify": "Check whether a log is as a broker would have left it.",
    "scan": "Find all damage in a log, and what a broker's recovery would make of it.",
    "repair": "Copy all that is intact of a damaged log.",
    "reindex": "Make the indexes of a log again, and the other files beside it.",
    "transcode": "Copy a log under another codec, with every offset kept.",
    "convert": "Copy a log in another message format, with every offset kept.",
    "fits": "Tell which records are too large, and which limit rejects them.",
    "explain": "Tell what a broker would do with batches, and why.",
    "doctor": "Tell what this recordpress has, and what is missing.",
    "completion": "Print the completion script of a shell.",
}
