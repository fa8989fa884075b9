"""One training stack for all models: recipes, run folder, plan, optimization, checkpoints and card."""
