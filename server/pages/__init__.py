"""The web pages: rendered on the server, with small scripts and no third-party resources."""
