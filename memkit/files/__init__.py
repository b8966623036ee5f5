"""The only rooms that read or write memory files: find, scan, lock and write; and output for everything that is no memory."""

from memkit.files.find import Found, find_store, is_folder
from memkit.files.lock import Lock
from memkit.files.many import folders_of
from memkit.files.output import (
    names_of_output,
    place_of,
    read_output,
    refuse_inside,
    remove_output,
    tail_of_output,
    text_of_output,
    write_output,
)
from memkit.files.scan import TOO_LARGE, data_of, head_of, is_still, names_in, read, read_plain, scan, sha256
from memkit.files.write import STALE_TEMP, apply, sweep, text_of

__all__ = [
    "STALE_TEMP",
    "TOO_LARGE",
    "Found",
    "Lock",
    "apply",
    "data_of",
    "find_store",
    "folders_of",
    "head_of",
    "is_folder",
    "is_still",
    "names_in",
    "names_of_output",
    "place_of",
    "read",
    "read_output",
    "read_plain",
    "refuse_inside",
    "remove_output",
    "scan",
    "sha256",
    "sweep",
    "tail_of_output",
    "text_of",
    "text_of_output",
    "write_output",
]
