"""The program `memkit`, also `python -m memkit`: signals as a shell expects them, and nothing else."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Run the command line; return the exit code: 130 after Ctrl-C, silence when the reader of a pipe has gone."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        from memkit.cli import run

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
