"""How long memkit takes beside what the same files cost anyway: `python -m tests.benchmarks`.

Nothing here is a test: no time is asserted, no file is collected by pytest. Quote ratios and medians only.
"""
