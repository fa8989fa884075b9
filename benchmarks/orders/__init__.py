"""Orders to language models, and ordinary text that looks like them: training and measurement."""
