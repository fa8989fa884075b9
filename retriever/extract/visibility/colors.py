"""Colors of style sheets (https://www.w3.org/TR/css-color-4/), as far as they hide text."""

from __future__ import annotations

import colorsys
import re
from typing import NamedTuple

_HEX = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})(?![0-9a-f])")
_FUNCTION = re.compile(r"(rgb|hsl)a?\(([^()]*)\)")
_NUMBER = re.compile(r"(-?[\d.]+(?:e-?\d+)?)(%|deg)?")
_NAMES = {
    "white": "#ffffff",
    "black": "#000000",
    "snow": "#fffafa",
    "ivory": "#fffff0",
    "ghostwhite": "#f8f8ff",
    "whitesmoke": "#f5f5f5",
    "floralwhite": "#fffaf0",
    "mintcream": "#f5fffa",
    "azure": "#f0ffff",
    "gray": "#808080",
    "grey": "#808080",
    "silver": "#c0c0c0",
    "red": "#ff0000",
    "green": "#008000",
    "blue": "#0000ff",
    "yellow": "#ffff00",
    "navy": "#000080",
    "transparent": "#00000000",
}
_SAME = 12  # of 255, by which each channel of two colors that look alike may differ
_CLEAR = 0.1  # the alpha below which text cannot be read


class Color(NamedTuple):
    """Red, green and blue from 0 to 255, and alpha from 0 to 1."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0

    @property
    def is_clear(self) -> bool:
        """True if what has the color cannot be seen."""
        return self.alpha < _CLEAR

    def is_like(self, other: Color) -> bool:
        """Return whether text of this color cannot be seen on the other."""
        pairs = zip(self[:3], other[:3], strict=True)
        return all(abs(one - two) * self.alpha <= _SAME for one, two in pairs)


WHITE = Color(255, 255, 255)


def read_color(text: str) -> Color | None:
    """Return the first color in the value of a property, in lower case; None without one that is known."""
    for word in re.findall(r"[a-z-]+\([^()]*\)|[#\w-]+", text):
        if found := _HEX.fullmatch(_NAMES.get(word, word)):
            return _of_digits(found[1])
        if function := _FUNCTION.fullmatch(word):
            return _of_function(function[1], function[2])
    return None


def _of_digits(digits: str) -> Color:
    if len(digits) < 6:
        digits = "".join(digit * 2 for digit in digits)
    values = [int(digits[index : index + 2], 16) for index in range(0, len(digits), 2)]
    return Color(values[0], values[1], values[2], values[3] / 255 if len(values) > 3 else 1.0)


def _of_function(name: str, inner: str) -> Color | None:
    numbers = [(float(number), unit) for number, unit in _NUMBER.findall(inner.replace("none", "0"))]
    if len(numbers) < 3:
        return None
    alpha = 1.0
    if len(numbers) > 3:
        alpha = numbers[3][0] / (100 if numbers[3][1] == "%" else 1)
    if name == "hsl":
        hue, saturation, light = numbers[0][0] / 360, numbers[1][0] / 100, numbers[2][0] / 100
        red, green, blue = colorsys.hls_to_rgb(hue % 1, min(light, 1), min(saturation, 1))
        return Color(red * 255, green * 255, blue * 255, alpha)
    red, green, blue = (number * (2.55 if unit == "%" else 1) for number, unit in numbers[:3])
    return Color(red, green, blue, alpha)
