"""The command line as a user meets it: answers, exit codes, and no traceback whatever is typed."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from memsheet import cli

DONE, FAILED, WRONG_INPUT, NOT_COVERED = 0, 1, 2, 3


def run(*arguments: str):
    return CliRunner().invoke(cli.main, arguments)


def test_an_estimate_without_a_file_names_verdict_peak_and_card():
    result = run("estimate", "--model", "llama-7b", "--method", "lora", "--gpu", "a10g", "--set", "checkpointing=full")
    assert result.exit_code == DONE, result.output
    assert "Verdict" in result.output and "a10g" in result.output and "22.06 GiB" in result.output


def test_the_json_estimate_holds_what_the_terminal_shows():
    data = json.loads(run("estimate", "h200-ppo-lora", "--json").output)
    (card,) = data["cards"]
    assert data["verdict"] == card["verdict"] == "fits"
    update = next(row for row in card["timeline"] if row["instant"] == "actor_update")
    assert sum(sum(parts.values()) for parts in update["components"].values()) == pytest.approx(update["allocated"]["trainer"])
    assert {pair["statistic"] for pair in data["measured"]} == {"allocated", "reserved", "device"}


def test_a_smaller_card_changes_the_verdict():
    assert json.loads(run("estimate", "table-1-full-7b", "--gpu", "a10g", "--json").output)["verdict"] == "does not fit"


def test_what_the_formulas_do_not_cover_is_refused_with_what_to_do():
    result = run("estimate", "h200-ppo-lora", "--set", "tensor_parallel_size=2")
    assert result.exit_code == NOT_COVERED
    assert "set both sizes to 1" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["estimate", "no-such-scenario"], "no such scenario"),
        (["estimate", "seed-1-developmnt"], "Did you mean seed-1-development?"),
        (["estimate", "h200-ppo-lora", "--gpu", "a100"], "is not a word of gpu"),
        (["estimate", "h200-ppo-lora", "--set", "lora_rnk=8"], "Did you mean lora_rank?"),
        (["estimate", "h200-ppo-lora", "--set", "batch_size=-1"], "batch_size must be 1"),
        (["estimate", "h200-ppo-lora", "--set", "batch_size=nan"], "needs a number"),
        (["estimate", "h200-ppo-lora", "--set", "peak=1"], "worked out by a formula"),
        (["estimate", "h200-ppo-lora", "--set", "batch_size"], "is not KEY=VALUE"),
        (["estimate"], "name a SCENARIO"),
        (["explain", "h200-ppo-lora", "wieghts"], "weights"),
    ],
)
def test_wrong_input_says_what_is_wrong(arguments, message):
    result = run(*arguments)
    assert result.exit_code == WRONG_INPUT, result.output
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_build_writes_workbooks_and_goes_on_after_a_failure(tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text("title: Bad\nextends: base/training\ninputs: {model: llama-7b, gpu: a10g, batch_size: none}\n")
    result = run("build", str(bad), "table-1-inference-7b", "--no-pdf", "--out", str(tmp_path / "out"), "--jobs", "1")
    assert result.exit_code == FAILED
    assert "bad.yaml" in result.stderr and "batch_size" in result.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["table-1-inference-7b.xlsx"]


def test_explain_follows_the_peak_down():
    result = run("explain", "h200-ppo-lora", "peak")
    assert result.exit_code == DONE
    assert "Actor update" in result.output or "actor_update" in result.output


def test_diff_names_what_changed():
    result = run("diff", "seed-1-development", "h200-ppo-lora")
    assert result.exit_code == DONE
    assert "h200-141gb" in result.output and "a10g" in result.output


def test_formulas_lists_every_quantity():
    rows = json.loads(run("formulas", "--json").output)
    assert {"weights", "gpu", "peak"} <= {row["name"] for row in rows}
    assert all(row["label"] and (row["source"] or row["kind"] == "input") for row in rows)


def test_help_is_quick_because_it_imports_nothing_heavy():
    code = "import sys; from memsheet import cli; cli.main(['--help'], standalone_mode=False); print(sorted(sys.modules))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'click'" in output
    assert not any(f"'{heavy}'" in output for heavy in ("sympy", "weasyprint", "openpyxl", "pydantic", "yaml", "jinja2"))
