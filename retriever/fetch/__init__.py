"""Fetching pages: only from public addresses, bounded in every direction, on a deadline."""
