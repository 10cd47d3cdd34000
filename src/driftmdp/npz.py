"""A JSON header and plain arrays in one npz file, without pickle and with a bound on its unpacked size.

A few kilobytes of a zip can declare gigabytes of zeros. So the unpacked size is bounded by the size of the file.
Arrays that compress better than that are stored uncompressed, so that every file that was written can be read.
"""

import io
import json
import os
import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.files import open_without_waiting

SMALL_FILE_BYTES = 1 << 28  # any file may unpack to this size
MAX_EXPANSION = 20  # a larger file may unpack to this times its size

Arrays = dict[str, NDArray[Any]]


def read_regular(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a regular file. A pipe or a device, which may never end, raises OSError."""
    with open(Path(path), "rb", opener=open_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is not a regular file")
        return file.read()


def pack(header: dict[str, Any], arrays: Arrays) -> bytes:
    """Return the bytes of an npz file."""
    for write in (np.savez_compressed, np.savez):
        content = io.BytesIO()
        write(content, allow_pickle=False, header=np.array(json.dumps(header)), **arrays)
        if _unpacked_size(content) <= _max_unpacked_size(content):
            break
    return content.getvalue()


def unpack(content: bytes, path: str | os.PathLike[str]) -> tuple[Any, Arrays]:
    """Return the header, not yet checked, and the arrays.

    Raises
    ------
    InvalidInputError
        If the file would unpack to more than it may.
    Exception
        Any exception, if the file is damaged or not an npz file.
    """
    file = io.BytesIO(content)
    size, most = _unpacked_size(file), _max_unpacked_size(file)
    if size > most:
        rule = f"{path} must unpack to at most {most:,} bytes, as it has {len(content):,}; it declares {size:,}"
        raise InvalidInputError(f"{rule}. If you trust it, write its arrays again with numpy.savez.")
    with np.load(file, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(str(arrays.pop("header"))), arrays


def _max_unpacked_size(file: io.BytesIO) -> int:
    return max(SMALL_FILE_BYTES, MAX_EXPANSION * file.getbuffer().nbytes)


def _unpacked_size(file: io.BytesIO) -> int:
    """Return the size that the members declare, the most that zipfile reads of stored or deflated members."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
    if any(member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in members):
        raise ValueError("numpy writes no other compression")
    return sum(member.file_size for member in members)
