"""docs/accuracy.md is what tools/accuracy.py would write today."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
spec = importlib.util.spec_from_file_location("accuracy_tool", ROOT / "tools" / "accuracy.py")
accuracy = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = accuracy
spec.loader.exec_module(accuracy)


@pytest.fixture(scope="module")
def page():
    return accuracy.page()


def test_the_page_is_current(page):
    assert (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8") == page, "run tools/accuracy.py"


def test_every_group_and_statistic_has_its_line(page):
    for group in accuracy.GROUPS:
        assert len(re.findall(rf"^\| `{group}` \| [^|]+ \| \d+ \| \d+ \|", page, re.M)) == len(accuracy.STATISTICS)
    assert len(re.findall(r"^\| all \|  \| 64 \| 536 \|", page, re.M)) == len(accuracy.STATISTICS)


def test_a_line_has_median_percentile_and_worst():
    shares = [(number / 1000, f"run {number % 2}") for number in range(10)]
    assert accuracy.line("all", "", shares) == "| all |  | 2 | 10 | 0.45 % | 0.90 % | 0.90 % |"
