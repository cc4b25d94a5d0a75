"""One module per verb, each with a `command`. `kpress.cli._verbs` has their names."""
