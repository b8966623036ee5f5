"""The audit (placeholder while the house is built)."""
