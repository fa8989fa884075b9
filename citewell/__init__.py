"""Answers questions in long form, with every sentence cited and every citation checked."""
