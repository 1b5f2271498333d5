"""The generated pages of docs/ are what the code would write today."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("docs_tool", ROOT / "tools" / "docs.py")
docs_tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(docs_tool)


@pytest.mark.parametrize(("name", "text"), docs_tool.pages().items(), ids=list(docs_tool.pages()))
def test_a_generated_page_is_current(name, text):
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, "run tools/docs.py"
