"""Engines, which compute the vectors of a tower from token ids, one library per file."""
