"""The importer of measure.py's runs: it keeps every figure, and says where a file is wrong."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsheet.house import folder
from memsheet.importers import runs
from memsheet.importers.record import Record
from memsheet.reader import InputError

H200 = folder("measurements") / "h200" / "runs.jsonl"
LINES = H200.read_text(encoding="utf-8").splitlines()
RAW = [json.loads(line) for line in LINES]
RECORDS = runs.read(H200, "h200/runs.jsonl")


def figures(number: int) -> dict[tuple[str, str], int]:
    return {(figure.phase, figure.statistic): figure.bytes for figure in RECORDS[number - 1].figures}


def read_text(tmp_path: Path, text: str | bytes) -> list[Record]:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return runs.read(path, "runs.jsonl")


def mistakes(tmp_path: Path, *lines: str | bytes) -> list[str]:
    text = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    with pytest.raises(InputError) as caught:
        read_text(tmp_path, text)
    return [str(mistake) for mistake in caught.value.mistakes]


def changed(number: int, **values: object) -> str:
    return json.dumps(RAW[number] | values)


def test_no_run_and_no_phase_is_lost() -> None:
    assert [record.name for record in RECORDS] == [f"h200-runs-{number}" for number in range(1, len(RAW))]
    for raw, record in zip(RAW[1:], RECORDS, strict=True):
        assert len(record.figures) == 3 * len(raw["phases"])


@pytest.mark.parametrize("number", range(1, len(RAW)))
def test_figures_are_the_statistics_that_they_are_called(number: int) -> None:
    found = list(figures(number).values())
    for place, phase in enumerate(RAW[number]["phases"]):
        reserved = phase["reserved"] if phase["phase"] == "end" else phase["max_reserved"]
        assert found[3 * place : 3 * place + 3] == [phase["max_allocated"], reserved, phase["device_used"]]


def test_phases_have_the_names_of_our_schedules() -> None:
    assert ("forward_1", "allocated") in figures(1) and ("decode", "reserved") in figures(38)
    assert figures(62)["actor_update", "allocated"] == RAW[62]["phases"][8]["max_allocated"]


def test_the_phase_that_failed_is_a_lower_bound() -> None:
    failed = RECORDS[54 - 1]
    assert failed.status == "out of memory" and "out of memory" in failed.note and "allowed 22 GiB" in failed.note
    assert {figure.phase for figure in failed.figures if figure.bound == "at least"} == {"forward_2"}
    assert not any(figure.bound for record in RECORDS if record.status == "ok" for figure in record.figures)


def test_a_configuration_is_said_in_our_words() -> None:
    assert RECORDS[62 - 1].settings.items() >= {
        "schedule": "ppo_hugging_face", "model": "llama-7b", "gpu": "h200-141gb", "method": "lora", "lora_rank": "64",
        "batch_size": "8", "micro_batch_size": "8", "sequence_length": "1024", "response_length": "512",
        "checkpointing": "full", "log_prob_precision": "fp32", "critic.output_head": "value",
    }.items()  # fmt: skip
    assert RECORDS[49 - 1].settings.items() >= {"sharding": "zero_3", "data_parallel_size": "32", "adapter_precision": "bf16"}.items()
    assert RECORDS[44 - 1].settings["precision"] == "mixed" and RECORDS[19 - 1].settings["precision"] == "amp"
    assert RECORDS[38 - 1].settings.items() >= {"schedule": "inference", "sequence_length": "1088", "method": "frozen"}.items()


def test_lora_targets_and_a_shortened_model_are_kept(tmp_path: Path) -> None:
    config = RAW[25]["config"] | {"targets": ["q_proj", "v_proj"], "layers": 4}
    (record,) = read_text(tmp_path, LINES[0] + "\n" + changed(25, config=config))
    assert record.settings["lora_targets"] == "q_proj, v_proj" and record.settings["number_of_layers"] == "4"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"kind": "sft",', "not valid JSON"),
        ("", "not valid JSON"),
        (b"\xff\xfe", "UTF-8"),
        (LINES[1].encode("utf-16"), "UTF-8"),
        ("[1, 2]", "runs.jsonl:2"),
        ("[" * 100_000, "nested too deeply"),
        ('{"kind": "sft", "kind": "sft"}', "gives a key twice"),
        ('{"kind": "sweep"}', "sft"),
        (changed(1, baseline_allocated=float("nan")), "NaN is no measured value"),
        (changed(1, baseline_allocated=1e999), "Infinity is no measured value"),
        (LINES[1].replace('"bs": 1,', '"bs": 1, "cap_gib": 1e999,'), "config.cap_gib: Input should be a finite number"),
        (changed(1, baseline_allocated=-1), "baseline_allocated"),
        (changed(1, baseline_allocated=True), "baseline_allocated: Input should be a valid integer"),
        (changed(1, baseline_allocated="0"), "baseline_allocated: Input should be a valid integer"),
        (LINES[1].replace('"baseline_allocated": 0', '"baseline_allocated": ' + "9" * 5000), "runs.jsonl:2"),
        (changed(1, temperature=1), "temperature: Extra inputs are not permitted"),
        (changed(1, status="fine"), "status"),
        (changed(1, config=RAW[1]["config"] | {"dtype": "int4"}), "config.dtype"),
        (changed(1, config=RAW[1]["config"] | {"method": "lora"}), "lora needs a rank"),
        (changed(1, phases=[RAW[1]["phases"][0] | {"max_allocated": 0}]), "phases.0.max_allocated"),
        (changed(1, phases=[RAW[1]["phases"][0] | {"phase": "load\x1b[2J"}]), "phases.0.phase"),
        (changed(0, gpu="\x1b[31mred"), "gpu"),
        (changed(1, kind="\x1b[31mred"), "kind"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_named(tmp_path: Path, line: str | bytes, message: str) -> None:
    found = mistakes(tmp_path, LINES[0], line, LINES[2])
    assert found[0].startswith("runs.jsonl:2: ") and message in "\n".join(found)
    assert all(mistake.isprintable() for mistake in found)


def test_all_mistakes_are_reported_up_to_a_limit_that_is_said(tmp_path: Path) -> None:
    assert [found.partition(": ")[0] for found in mistakes(tmp_path, LINES[0], "{", LINES[1], "{")] == ["runs.jsonl:2", "runs.jsonl:4"]
    many = mistakes(tmp_path, *["{"] * 1000)
    assert len(many) == runs.MOST_MISTAKES + 1 and "too many mistakes" in many[-1]


def test_a_run_needs_its_environment(tmp_path: Path) -> None:
    assert "the first line must be the environment" in mistakes(tmp_path, LINES[1], LINES[2])[0]


def test_a_later_environment_holds_for_the_runs_below_it(tmp_path: Path) -> None:
    other = changed(0, gpu="NVIDIA B200", alloc_conf="expandable_segments:True")
    first, second = read_text(tmp_path, "\n".join([LINES[0], LINES[1], other, LINES[2]]))
    assert (first.settings["gpu"], second.settings["gpu"]) == ("h200-141gb", "NVIDIA B200")
    assert "expandable_segments" in second.note and "expandable_segments" not in first.note


def test_a_file_that_is_too_large_or_missing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "LARGEST_FILE", 2_000_000)
    assert "larger than 2 MB" in mistakes(tmp_path, LINES[0], " " * 2_000_000)[0]
    with pytest.raises(InputError, match="cannot be read"):
        runs.read(tmp_path / "nowhere.jsonl", "nowhere.jsonl")


def test_an_error_text_is_shortened_and_cleaned(tmp_path: Path) -> None:
    (record,) = read_text(tmp_path, LINES[0] + "\n" + changed(54, error="\x1b[2J" + "x" * 10_000) + "\n")
    assert record.note.isprintable() and len(record.note) < 600


PLACES = [
    ("status",), ("config",), ("config", "bs"), ("config", "model"), ("phases",), ("phases", 0), ("phases", 0, "max_reserved"), ("error",),
]  # fmt: skip
JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3)
                    | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=6)  # fmt: skip


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(PLACES), value=JSON)
def test_nothing_but_input_errors_comes_out_of_a_hostile_line(tmp_path: Path, place: tuple[str | int, ...], value: object) -> None:
    run = json.loads(LINES[1])
    node = run
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] = value
    try:
        (record,) = read_text(tmp_path, LINES[0] + "\n" + json.dumps(run))
    except InputError as error:
        assert all(mistake.place.line == 2 for mistake in error.mistakes)
    else:
        assert all(figure.bytes > 0 for figure in record.figures)
