"""The only rooms that read or write memory files: find, scan, lock and write; and output for everything that is no memory."""

from memkit.files.find import Found, find_store, is_folder, kept_out, store_around
from memkit.files.home import CURE, Home, home_at, home_of, refuse_begin
from memkit.files.lock import Lock
from memkit.files.many import folders_of
from memkit.files.output import (
    names_of_output,
    place_of,
    read_output,
    refuse_inside,
    refuse_unmakable,
    remove_output,
    tail_of_output,
    text_of_output,
    write_output,
)
from memkit.files.scan import TOO_LARGE, data_of, head_of, is_still, names_in, read, read_plain, scan, sha256
from memkit.files.write import STALE_TEMP, apply, others_in, sweep, text_of

__all__ = [
    "CURE",
    "STALE_TEMP",
    "TOO_LARGE",
    "Found",
    "Home",
    "Lock",
    "apply",
    "data_of",
    "find_store",
    "folders_of",
    "head_of",
    "home_at",
    "home_of",
    "is_folder",
    "is_still",
    "kept_out",
    "names_in",
    "names_of_output",
    "others_in",
    "place_of",
    "read",
    "read_output",
    "read_plain",
    "refuse_begin",
    "refuse_inside",
    "refuse_unmakable",
    "remove_output",
    "scan",
    "sha256",
    "store_around",
    "sweep",
    "tail_of_output",
    "text_of",
    "text_of_output",
    "write_output",
]
