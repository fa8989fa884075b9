"""Text of a page that its reader cannot see."""
