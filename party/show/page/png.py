"""A drawing as an image (extra `png`)."""

import re
from math import sqrt

from protocols.errors import InputError

_ZOOM, _LEAST_ZOOM = 2.0, 0.5
_MOST_PIXELS = 32_000_000  # four bytes each, while it is drawn


def png_of(svg: str) -> bytes:
    """Return a drawing in SVG as PNG on white, twice as large, as screens of many dots want it; a huge one smaller.

    Raises:
        InputError: The library that draws is not installed, or the drawing is too large to be read as an image.
    """
    try:
        import resvg_py  # noqa: PLC0415  # an extra: only who wants images needs it
    except ImportError:
        raise InputError("images need resvg: pip install '.[png]' in cotally's clone, or draw by --svg") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, background="white", zoom=_zoom(svg)))


def _zoom(svg: str) -> float:
    width, height = (int(number) for number in re.findall(r' (?:width|height)="(\d+)"', svg.partition(">")[0]))
    zoom = min(_ZOOM, sqrt(_MOST_PIXELS / (width * height)))
    if zoom < _LEAST_ZOOM:
        raise InputError(f"{width} x {height} is too large for an image: leave levels out (--levels), or use --svg")
    return zoom
