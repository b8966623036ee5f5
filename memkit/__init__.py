"""memkit: the long-term memory of AI agents, kept as Markdown, as pandas DataFrames."""

__version__ = "0.1.0"
