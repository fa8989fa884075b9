"""Demonstrations to start from: people's clicks, and episodes of a script that found the answer."""
