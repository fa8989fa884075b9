"""The subcommands of `citewell`, one per file."""
