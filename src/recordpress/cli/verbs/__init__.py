"""One module per verb, each with a `command`. `recordpress.cli._verbs` has their names."""
