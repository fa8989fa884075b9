"""From references to cited answers: prompts, backends and citations."""
