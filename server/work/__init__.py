"""The work of the service: the order of questions, and the events that their followers see."""
