"""Follow-up questions: each is rewritten as a question of its own, which then is answered as any question."""
