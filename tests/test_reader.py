"""What the reader takes and refuses: YAML as plain text with line numbers, from anybody."""

import time
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memsheet import reader
from memsheet.reader import InputError, Mapping, Mistake, Place, Sequence, Text

CASES = yaml.safe_load((Path(__file__).parent / "cases" / "reader.yaml").read_text(encoding="utf-8"))


def mistakes(text: str) -> list[str]:
    """Line and message of every mistake."""
    with pytest.raises(InputError) as caught:
        reader.parse(text, "file")
    return [str(mistake).removeprefix("file:").strip() for mistake in caught.value.mistakes]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_file_is_refused_with_line_and_message(case):
    found = mistakes(case["text"])
    assert len(found) == len(case["mistakes"]), found
    for message, expected in zip(found, case["mistakes"], strict=True):
        assert expected in message


def test_values_stay_as_written():
    tree = reader.parse("a: no\nb: yes\nc: on\nd: 0x1F\ne: 1e3\nf: 2024-01-01\ng: ~\nh: null\ni: 010\nj: 12:30:00\nk:\n", "file")
    assert tree.plain() == {
        "a": "no", "b": "yes", "c": "on", "d": "0x1F", "e": "1e3", "f": "2024-01-01", "g": "~", "h": "null", "i": "010",
        "j": "12:30:00", "k": "",
    }  # fmt: skip


def test_keys_and_values_know_their_lines():
    tree = reader.parse("title: x\n\n# a comment\ninputs:\n  gpu: a10g\n  list: [a,\n    b]\n", "file")
    assert tree.keys == {"title": Place("file", 1), "inputs": Place("file", 4)}
    inputs = tree.items["inputs"]
    assert isinstance(inputs, Mapping) and inputs.keys["list"].line == 6
    parts = inputs.items["list"]
    assert isinstance(parts, Sequence) and [part.place.line for part in parts.items] == [6, 7]
    assert tree.find(("inputs", "list", 1)).line == 7
    assert tree.find(("inputs", "nothing of the kind")).line == 4
    assert tree.find(("nothing",)) == tree.place


def test_a_block_of_text_and_a_quoted_text_are_texts():
    tree = reader.parse("a: |\n  two\n  lines\nb: 'it''s: #1'\nc: \"tab\\t\"\n", "file")
    assert tree.plain() == {"a": "two\nlines\n", "b": "it's: #1", "c": "tab\t"}


def test_a_merge_key_is_a_word_like_any_other():
    assert reader.parse("<<: {a: b}\n", "file").plain() == {"<<": {"a": "b"}}


def test_a_layer_replaces_values_and_merges_blocks():
    lower = reader.parse("title: low\ninputs: {gpu: a10g, model: llama-7b}\nlist: [a, b]\n", "low")
    upper = reader.parse("inputs: {gpu: l4}\nlist: [c]\n", "high")
    both = lower.overlaid(upper)
    assert both.plain() == {"title": "low", "inputs": {"gpu": "l4", "model": "llama-7b"}, "list": ["c"]}
    assert both.find(("inputs", "gpu")) == Place("high", 1) and both.find(("inputs", "model")) == Place("low", 2)
    assert lower.plain()["list"] == ["a", "b"], "a layer below stays as it was"


# --- files ---


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        reader.read(path, "file")
    (mistake,) = caught.value.mistakes
    return str(mistake)


def test_a_file_of_10_mb_is_refused_without_reading_it_all(tmp_path):
    path = tmp_path / "large.yaml"
    path.write_bytes(b"a: 1\n" * 2_000_000)
    start = time.perf_counter()
    assert refused(path) == "file: larger than 200 kB: this is no scenario"
    assert time.perf_counter() - start < 0.5


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("title: é\n".encode("latin-1"), "file: is not UTF-8 text: save it as UTF-8"),
        ("title: x\n".encode("utf-16"), "file: is not UTF-8 text: save it as UTF-8"),
        (b"\x89PNG\r\n\x1a\n", "file: is not UTF-8 text: save it as UTF-8"),
        (b"title: x\nname: a\0b\n", "file:2: holds control characters ('\\x00'): is this a text file?"),
        (b"title: x\n\n\x1b[2J: y\n", "file:3: holds control characters ('\\x1b'): is this a text file?"),
    ],
    ids=["latin-1", "utf-16", "a picture", "NUL", "escape"],
)
def test_a_file_that_is_no_text_is_refused(tmp_path, data, message):
    path = tmp_path / "file.yaml"
    path.write_bytes(data)
    assert refused(path) == message


def test_a_byte_order_mark_and_carriage_returns_do_no_harm(tmp_path):
    path = tmp_path / "windows.yaml"
    path.write_bytes("\ufefftitle: x\r\ninputs:\r\n  gpu: a10g\r\n".encode())
    assert reader.read(path).plain() == {"title": "x", "inputs": {"gpu": "a10g"}}


def test_what_cannot_be_read_is_named_with_the_reason(tmp_path):
    assert refused(tmp_path / "missing.yaml") == "file: cannot be read: No such file or directory"
    assert refused(tmp_path) == "file: cannot be read: Is a directory"


def test_the_name_of_a_file_is_its_path_unless_said_otherwise(tmp_path):
    path = tmp_path / "empty.yaml"
    path.touch()
    with pytest.raises(InputError, match=str(path)):
        reader.read(path)


# --- many mistakes ---


def test_mistakes_come_in_the_order_of_the_lines():
    unordered = [Mistake(Place("b", 1), "x"), Mistake(Place("a", 20), "y"), Mistake(Place("a", 3), "z"), Mistake(Place("a", 3), "a")]
    assert [str(mistake) for mistake in InputError(unordered).mistakes] == ["a:3: z", "a:3: a", "a:20: y", "b:1: x"]


def test_a_flood_of_mistakes_is_cut_off_and_says_so():
    found = mistakes("".join(f"a{number}: &x\n" for number in range(1000)))
    assert len(found) == reader.MOST_MISTAKES + 1
    assert found[-1] == f"{reader.MOST_MISTAKES + 1}: {1000 - reader.MOST_MISTAKES} more mistakes from here on"


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "{a: " * 50_000, "- " * 90_000, "? " * 90_000, "".join(" " * n + "a:\n" for n in range(600))],
    ids=["lists", "mappings", "dashes", "complex keys", "indentation"],
)  # fmt: skip
def test_nesting_without_end_is_refused_at_once(text):
    start = time.perf_counter()
    (mistake,) = mistakes(text)
    assert "nest" in mistake
    assert time.perf_counter() - start < 1


# --- whatever is written ---

PIECES = [
    "a", "b", ":", ": ", " ", "  ", "\n", "\n  ", "- ", "-", "[", "]", "{", "}", ", ", "&a ", "*a ", "!!int ", "!", "#", "'", '"', "|", ">",
    "%YAML 1.1\n", "---\n", "...\n", "? ", "\t", "\0", "\\", '"\\x07"', "é", "\ufeff", "\u2028", "<<", "~", "1e400", "@", "`", "=", "😀",
]  # fmt: skip


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=60))
@example("a: !<")
@example("%TAG ! tag:x\n---\na: !b c")
@example("a: \ud800")
def test_anything_gives_a_tree_of_texts_or_an_input_error(text):
    try:
        tree = reader.parse(text, "file")
    except InputError as error:
        assert error.mistakes and all(mistake.message for mistake in error.mistakes)
        return
    stack: list[object] = [tree]
    while stack:
        node = stack.pop()
        assert isinstance(node, Mapping | Sequence | Text)
        assert node.place.file == "file" and node.place.line >= 1
        stack += node.items.values() if isinstance(node, Mapping) else node.items if isinstance(node, Sequence) else ()
