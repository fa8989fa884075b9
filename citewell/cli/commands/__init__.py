"""The subcommands of `citewell`, one a file."""
