"""Small pictures: a PNG with a palette, and what there is to know of one."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from dataclasses import dataclass

from tests.pictures.browser import Browser

COLORS = 96
SIGNATURE = b"\x89PNG\r\n\x1a\n"

# Colours that are nearly alike are one, the most frequent ones are the palette, every other one becomes the nearest of those.
REDUCE = """(async () => {
  const image = new Image();
  image.src = "data:image/png;base64," + %s;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width; canvas.height = image.height;
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const data = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
  const counts = new Map();
  for (const pixel of data) counts.set(pixel, (counts.get(pixel) || 0) + 1);
  const parts = pixel => [pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255];
  const ranked = [...counts.keys()].sort((one, other) => counts.get(other) - counts.get(one) || one - other);
  const distance = (one, other) => one.reduce((sum, part, at) => sum + (part - other[at]) ** 2, 0);
  const palette = [];
  for (const pixel of ranked) {
    if (palette.length === %d) break;
    if (palette.every(kept => distance(kept, parts(pixel)) >= %d)) palette.push(parts(pixel));
  }
  const nearest = new Map();
  for (const pixel of ranked) {
    const far = palette.map(kept => distance(kept, parts(pixel)));
    nearest.set(pixel, far.indexOf(Math.min(...far)));
  }
  const places = new Uint8Array(data.length);
  data.forEach((pixel, at) => places[at] = nearest.get(pixel));
  let text = "";
  for (let at = 0; at < places.length; at += 30000) text += String.fromCharCode(...places.subarray(at, at + 30000));
  return {width: image.width, height: image.height, palette, places: btoa(text)};
})()"""
NEAR = 100
"""Squared distance of two colours that nobody tells apart in letters."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Pixels, and how many colours the palette has."""

    width: int
    height: int
    colors: int


def reduced(picture: bytes, browser: Browser) -> bytes:
    """The same picture in at most ``COLORS`` colours. The browser reads it: nothing else here can."""
    told = browser.run(REDUCE % (json.dumps(base64.b64encode(picture).decode()), COLORS, NEAR))
    width, height = told["width"], told["height"]
    places = base64.b64decode(told["places"])
    rows = b"".join(b"\0" + places[row * width : (row + 1) * width] for row in range(height))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes(part for color in told["palette"] for part in color)),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    return SIGNATURE + b"".join(_chunk(name, data) for name, data in chunks)


def facts(picture: bytes) -> Facts:
    """What a reduced picture is. Raises ValueError for anything else."""
    if not picture.startswith(SIGNATURE) or not picture.endswith(_chunk(b"IEND", b"")):
        raise ValueError("no whole PNG")
    width, height, depth, kind = struct.unpack(">IIBB", picture[16:26])
    at = picture.find(b"PLTE")
    if (depth, kind) != (8, 3) or at < 0:
        raise ValueError("a PNG without a palette: python -m tests.pictures makes it small")
    return Facts(width, height, struct.unpack(">I", picture[at - 4 : at])[0] // 3)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
