"""WebGLM's ablations by its own recipe, on small models: `python -m benchmarks.ablations`."""
