"""What a study says of its systems and of its raters."""
