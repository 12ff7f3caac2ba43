"""Arrays from a file of NumPy's format npz that anybody may have written.

``numpy.load`` allocates what a file announces. Here nothing is taken but plain numbers and texts
whose bytes are there: no objects, no shape that the bytes do not fill, no more than ``MOST_BYTES``.
"""

import io
import math
import os
import zipfile
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

MOST_BYTES = 1 << 28
"""Bytes, unpacked, that all arrays of a file may have."""

MOST_DIMENSIONS = 8
"""Dimensions that an array may have."""

MOST_LETTERS = 1000
"""Letters that a text may have."""

Arrays = dict[str, NDArray[np.generic]]


def read_arrays(path: str | os.PathLike[str]) -> Arrays:
    """The arrays of a file by their names.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is no such file, or a damaged one.
    """
    with open(path, "rb") as file:
        packed = file.read(MOST_BYTES + 1)
    if len(packed) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES} bytes")
    try:
        return _unpacked(packed)
    except Exception as error:  # Zip and NumPy raise many kinds where a byte is wrong.
        raise ValueError(str(error) or type(error).__name__) from error


def _unpacked(packed: bytes) -> Arrays:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        members = archive.infolist()
        total = sum(member.file_size for member in members)
        if total > MOST_BYTES:
            raise ValueError(f"its arrays have {total} bytes, more than {MOST_BYTES}")
        # No more is unpacked than a member's ``file_size``, and its checksum is verified.
        return {member.filename.removesuffix(".npy"): _array(archive, member) for member in members}


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[np.generic]:
    """One array, which has exactly the bytes that its header announces."""
    content = archive.read(member)
    stream = io.BytesIO(content)
    if npy.read_magic(stream) != (1, 0):
        raise ValueError(f"{member.filename} is of another version")
    shape, by_columns, kind = npy.read_array_header_1_0(stream)
    if kind.kind not in "biufU" or kind.itemsize == 0:
        raise ValueError(f"{member.filename} holds {kind}, neither numbers nor a text")
    rest = len(content) - stream.tell()
    if len(shape) > MOST_DIMENSIONS or min(shape, default=0) < 0:
        raise ValueError(f"{member.filename} has the shape {shape}")
    if math.prod(shape) * kind.itemsize != rest:
        raise ValueError(f"{member.filename} has {rest} bytes, which {kind} {shape} does not fill")
    numbers = np.frombuffer(content, kind, offset=stream.tell())
    return numbers.reshape(shape, order="F" if by_columns else "C")


def text_in(arrays: Arrays, name: str) -> str:
    """A text of a file.

    Raises:
        KeyError, ValueError: if there is none.
    """
    array = arrays[name]
    if array.dtype.kind != "U" or array.ndim > 0:
        raise ValueError(f"its {name} is no text")
    if len(str(array)) > MOST_LETTERS or not str(array).isprintable():
        raise ValueError(f"its {name} has {len(str(array))} letters, or some that cannot be shown")
    return str(array)


def number_in(arrays: Arrays, name: str) -> float:
    """A number of a file; else errors as above."""
    array = arrays[name]
    if array.dtype.kind not in "iuf" or array.ndim > 0:
        raise ValueError(f"its {name} is no number")
    return float(array)


def integers_in(arrays: Arrays, name: str, dimensions: int) -> list[Any]:
    """An array of integers as lists; else errors as above."""
    array = arrays[name]
    if array.ndim != dimensions or (array.size > 0 and array.dtype.kind not in "iu"):
        raise ValueError(f"its {name} are no integers")
    return list(array.tolist())
