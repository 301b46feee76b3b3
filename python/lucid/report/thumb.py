# SPDX-License-Identifier: BSD-3-Clause
"""A matrix as a small PNG, one pixel per cell, written with zlib alone."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Dict, Tuple

from ..scale import on_white, scale

_COLORS = 63  # index 0 is white


def data_uri(size: int, values: Dict[Tuple[int, int], int]) -> str:
    """The matrix as a data: address."""
    return "data:image/png;base64," + base64.b64encode(png(size, values)).decode()


def png(size: int, values: Dict[Tuple[int, int], int]) -> bytes:
    """The matrix as a PNG file with a palette; row = sender, zero white, logarithmic."""
    steps = scale(values.values())
    rows = [bytearray(size) for _ in range(size)]
    for (i, j), value in values.items():
        if value > 0:
            rows[i][j] = 1 + steps.level(value, _COLORS)
    palette = b"\xff\xff\xff" + b"".join(bytes(on_white(k / (_COLORS - 1))) for k in range(_COLORS))
    header = struct.pack(">IIBBBBB", size, size, 8, 3, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows), 9)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"PLTE", palette) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
