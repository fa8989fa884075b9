"""The dual encoder: questions and passages become vectors whose inner product is relevance."""
