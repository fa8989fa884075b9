"""The evaluation harness: standard measures of retrieval systems on any data set."""
