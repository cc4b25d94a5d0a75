"""Which verbs there are: what the help of the program lists without importing them."""

PROGRAM = "kpress"
COMPLETION_VARIABLE = "_KPRESS_COMPLETE"  # click's name for it

# Modules of kpress.cli.verbs, each with a `command` of its name. In the order of the help.
VERBS = {
    "completion": "Print the completion script of a shell.",
}
