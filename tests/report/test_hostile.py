"""Text of scenario files is anybody's, and the report reads nothing but its own templates."""

import io
import subprocess
import sys

import pypdf
import pytest
import weasyprint

from memsheet import report, scenario
from memsheet.language import load
from memsheet.report import page, pdf

HOSTILE = (
    "<script>alert(1)</script> {{7*7}} {% for a in b %} ${7*7} <img src=file:///etc/passwd> </title></style>"
    "<link rel=attachment href='file:///etc/passwd'> &lt; \u202eright to left"
)
FILE = """
title: |-
  {text}
description: |-
  {text}
extends: base/inference
assumptions:
  - |-
    {text}
inputs:
  gpu: a10g
  model: llama-7b
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "hostile.yaml"
    path.write_text(FILE.format(text=HOSTILE), encoding="utf-8")
    return scenario.load(str(path))


def test_hostile_text_is_shown_as_text(hostile, text_of):
    data = report.contents(hostile, "x", workbook=None)
    text = text_of(data)
    for piece in ("<script>alert(1)</script>", "{{7*7}}", "<img src=file:///etc/passwd>"):
        assert text.count(piece) >= 3, piece  # title, description, assumption
    assert "49" not in text.split("Decision")[0]
    reader = pypdf.PdfReader(io.BytesIO(data))
    assert not reader.attachments
    assert reader.metadata.title == HOSTILE
    assert not any("/Annots" in page for page in reader.pages)


def test_hostile_text_is_no_markup(hostile):
    html = page.html(hostile, load("en"), "<b>.xlsx")
    assert "<script>" not in html and "<img" not in html and "href='file" not in html and "<b>.xlsx" not in html


@pytest.mark.parametrize("text", ["x" * 200, "很长的标题" * 40, "a\u0301\u0301\u0301 \u202e b"], ids=["long", "Chinese", "odd"])
def test_long_and_strange_titles(text, tmp_path, text_of):
    path = tmp_path / "strange.yaml"
    path.write_text(f'title: "{text}"\nextends: base/inference\ninputs: {{gpu: a10g, model: llama-7b}}\n', encoding="utf-8")
    assert "Decision" in text_of(report.contents(scenario.load(str(path)), "x", workbook=None))


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "http://127.0.0.1/", "https://example.org/x.css", "ftp://example.org/", "templates:/en.yaml",
        "templates:/../pyproject.toml", "templates:/%2e%2e/pyproject.toml", "templates://etc/passwd", "../report.css", "en.yaml", "FILE:///etc/passwd",
    ],
)  # fmt: skip
def test_addresses_outside_are_refused(url):
    with pytest.raises(ValueError, match="nothing but its own templates"):
        pdf._fetcher(weasyprint).fetch(url)


def test_our_assets_and_data_are_given():
    fetcher = pdf._fetcher(weasyprint)
    assert b"@page" in fetcher.fetch("report.css").read()
    assert fetcher.fetch("data:text/plain,hello").read() == b"hello"


def test_nothing_outside_is_opened():
    """With the interpreter's own audit: a page full of addresses, and then a whole report."""
    code = """
import sys
from memsheet import report, scenario
from memsheet.report.pdf import render
urls = ["file:///etc/passwd", "http://127.0.0.1:9/x", "templates:/../../etc/passwd"]
page = "<html lang=en><title>x</title>" + "".join(
    f"<img alt=x src='{url}'><link rel=stylesheet href='{url}'><link rel=attachment href='{url}'><object data='{url}'></object>"
    f"<style>@import '{url}'; @font-face {{font-family: x; src: url('{url}')}} p {{background: url('{url}'); font-family: x}}</style><p>x"
    for url in urls)
seen = []
def audit(event, arguments):
    if event.startswith("socket.connect") or event == "open" and "passwd" in str(arguments[0]):
        seen.append((event, str(arguments)))
sys.addaudithook(audit)
assert b"root:" not in render(page, None)
report.contents(scenario.load("table-1-inference-7b"), "x", workbook=None)
print(seen)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
