"""The only rooms that read or write memory files: find, scan and read; and output for everything that is no memory."""

from memkit.files.find import Found, find_store, is_folder
from memkit.files.output import names_of_output, read_output, refuse_inside, write_output
from memkit.files.scan import TOO_LARGE, read, read_plain, scan, sha256

__all__ = [
    "TOO_LARGE",
    "Found",
    "find_store",
    "is_folder",
    "names_of_output",
    "read",
    "read_output",
    "read_plain",
    "refuse_inside",
    "scan",
    "sha256",
    "write_output",
]
