"""How numbers read."""

import pytest

from memsheet import figures, units


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (13476831232, units.byte, "12.55 GiB"),
        (2**30, units.byte, "1.00 GiB"),
        (67108864, units.byte, "64.00 MiB"),
        (2**20 - 1, units.byte, "1 048 575 B"),
        (2, units.byte, "2 B"),
        (0, units.byte, "0 B"),
        (-5 * 2**30, units.byte, "−5.00 GiB"),
        (2**40, units.byte, "1 024.00 GiB"),
        (6738415616, units.parameters, "6 738 415 616"),
        (32.0, units.layers, "32"),
        (1.66, units.count, "1.66"),
        (8 / 3, units.count, "2.667"),
        (0.85004, units.share, "85 %"),
        (0.066, units.share, "6.6 %"),
        (-0.127, units.share, "−12.7 %"),
        (0.1, units.count, "0.1"),
        (-3, units.count, "−3"),
    ],
)
def test_figure(value, unit, text):
    assert figures.figure(value, unit).replace(figures.SPACE, " ") == text


def test_gib_is_a_bare_number_without_a_sign_on_nothing():
    assert figures.gib(13476831232) == "12.55"
    assert figures.gib(-1) == "0.00"
    assert figures.gib(2**30, 0) == "1"
