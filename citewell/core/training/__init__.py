"""What training runs of all models share: their folder, log, checkpoints and card."""
