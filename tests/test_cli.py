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


@pytest.mark.parametrize("setting", ["adapter_on_key=0", "actor.adapter_on_up=0"])
def test_one_member_of_a_group_may_be_stated_alone(setting):
    assert run("estimate", "seed-1-development", "--set", setting).exit_code == DONE


def test_a_number_as_long_as_a_file_is_refused_at_once():
    result = run("estimate", "seed-1-development", "--set", f"batch_size={'1' * 50_000}-")
    assert result.exit_code == WRONG_INPUT and "needs a number" in result.stderr


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


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "an __init__.py that lists CHAPTERS is missing"),
        ({"__init__.py": ""}, "must list its chapters"),
        ({"__init__.py": "CHAPTERS = 3"}, "must list its chapters"),
        ({"__init__.py": "CHAPTERS = ('more',)"}, "ModuleNotFoundError"),
        ({"__init__.py": "CHAPTERS = ('more',)", "more.py": "x = (\n"}, "SyntaxError"),
        ({"__init__.py": "CHAPTERS = ('more',)", "more.py": "\n1 / 0\n"}, "more.py:2: ZeroDivisionError"),
    ],
)
def test_wrong_formulas_of_a_user_are_told_with_their_place(tmp_path, files, message):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for command in (["estimate", "table-1-inference-7b"], ["formulas"]):
        result = run(*command, "--formulas", str(tmp_path))
        assert result.exit_code == WRONG_INPUT and message in result.stderr
        assert "Traceback" not in result.output


def test_a_folder_that_cannot_be_made_is_told():
    result = run("build", "table-1-inference-7b", "--out", "x" * 300)
    assert result.exit_code == WRONG_INPUT and "name too long" in result.stderr


def test_a_configuration_that_is_not_covered_has_no_verdict_and_ends_every_command_alike():
    uncovered = ("--set", "tensor_parallel_size=2")
    data = json.loads(run("estimate", "h200-ppo-lora", "--json", *uncovered).stdout)
    assert data["verdict"] == data["cards"][0]["verdict"] == "not covered" and data["refused"]
    assert run("explain", "h200-ppo-lora", "peak", *uncovered).exit_code == NOT_COVERED
    assert run("diff", "h200-ppo-lora", "seed-1-development", *uncovered).exit_code == NOT_COVERED


def test_an_estimate_says_what_it_was_asked_with_and_what_has_no_effect():
    result = run("estimate", "--model", "llama-7b", "--gpu", "h100-80gb", "--set", "lora_rank=64")
    assert "Changed     model llama-7b; method full; lora_rank 64" in result.output
    assert "By default  precision bf16" in result.output
    assert "No effect   lora_rank" in result.output
