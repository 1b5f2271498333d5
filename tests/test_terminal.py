"""Values and tables on a terminal."""

import io
import subprocess
import sys

import pytest

from memsheet import declare, terminal
from memsheet.units import byte, count, share, tokens


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, byte, "0 B"),
        (2, byte, "2 B"),
        (16388, byte, "16,388 B"),
        (2**20, byte, "1.00 MiB"),
        (1.5 * 2**20, byte, "1.50 MiB"),
        (12.551 * 2**30, byte, "12.55 GiB"),
        (-(2**30), byte, "-1.00 GiB"),
        (2000 * 2**30, byte, "2,000.00 GiB"),
        (6_738_415_616, count, "6,738,415,616"),
        (4096.0, tokens, "4,096"),
        (1.66, count, "1.66"),
        (0.125, count, "0.125"),
        (0.1, share, "10 %"),
        (0.8500452609588757, share, "85 %"),
        (0.123, share, "12.3 %"),
        (-0.143, share, "-14.3 %"),
    ],
)
def test_figures_have_units_and_plain_digits(value, unit, text):
    assert terminal.figure(value, unit) == text
    assert text.isascii()


def test_a_change_has_its_sign():
    assert terminal.change(2**30, byte) == "+1.00 GiB"
    assert terminal.change(-3, count) == "-3"
    assert terminal.change(0, byte) == "0 B"


def test_an_option_is_its_word():
    method = declare.quantity_of(declare.given("Method", choices=("full", "lora")))
    assert terminal.value_text(method, 1) == "lora"
    assert terminal.value_text(declare.quantity_of(declare.given("Size", byte)), 2**30) == "1.00 GiB"
    assert terminal.value_text(method, "Actor update") == "Actor update"


def test_a_table_is_aligned():
    rows = [["weights", "12.55 GiB"], ["kv", "1 B"]]
    assert terminal.table(rows, ["component", "size"], "lr").splitlines() == [
        "component       size",
        "---------  ---------",
        "weights    12.55 GiB",
        "kv               1 B",
    ]


def test_a_table_without_headers_or_rows():
    assert terminal.table([["a", "b"]]) == "a  b"
    assert terminal.table([]) == ""
    assert terminal.table([], ["a", "bc"]) == "a  bc\n-  --"


def test_wide_characters_take_two_columns():
    assert terminal.width("显存") == 4 and terminal.width("é") == terminal.width("é") == 1
    lines = terminal.table([["显存", "1"], ["abcd", "2"]]).splitlines()
    assert lines == ["显存  1", "abcd  2"]


@pytest.mark.parametrize("text", ["\x1b[2Jgone", "a\nb", "bell\a", "\u202e reversed", "\x9b31m"])
def test_control_characters_do_not_reach_the_terminal(text):
    shown = terminal.printable(text)
    assert shown.isprintable() and len(shown) == len(text)
    assert terminal.table([[text]]).isprintable()


def test_text_is_left_as_it_is():
    text = "LLaMA-7B, 显存 × 2 ≤ 3 é"
    assert terminal.printable(text) == text


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_only_on_a_terminal_that_wants_it(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.wants_colour(Screen()) and not terminal.wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "")
    assert terminal.wants_colour(Screen()), "an empty NO_COLOR asks for nothing"
    monkeypatch.setenv("NO_COLOR", "1")
    assert not terminal.wants_colour(Screen())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not terminal.wants_colour(Screen())


def test_paint():
    assert terminal.paint("peak", "bold", colour=True) == "\x1b[1mpeak\x1b[0m"
    assert terminal.paint("peak", "bold", colour=False) == "peak"


def test_importing_it_does_not_wait_for_sympy():
    code = "import sys; import memsheet.terminal; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
