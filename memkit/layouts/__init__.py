"""The three layouts (placeholder while the house is built)."""
