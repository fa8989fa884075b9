"""The forms of studies, each as one value: its questions, scales and instructions."""
