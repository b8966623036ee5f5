"""The worker processes of a fleet: that closing them comes to an end, whatever they were doing."""

import os
import struct
import sys
import threading
import time

from memkit.fleet.pool import Pool


def half_a_reply(folder):
    """In a worker: write the beginning of a reply, and no more."""
    frame = sys._getframe()
    while "result_queue" not in frame.f_locals:
        frame = frame.f_back
    os.write(frame.f_locals["result_queue"]._writer.fileno(), struct.pack("!i", 1000) + b"half")
    (folder / "written").touch()
    time.sleep(60)


def test_closing_does_not_wait_for_the_other_half_of_a_reply(tmp_path):
    pool = Pool(1)
    pool._started().submit(half_a_reply, tmp_path)
    end = time.monotonic() + 60
    while not (tmp_path / "written").exists() and time.monotonic() < end:
        time.sleep(0.05)
    closing = threading.Thread(target=pool.close, daemon=True)
    closing.start()
    closing.join(20)
    assert not closing.is_alive()
