"""The measured records that memsheet brings, and folders of a user's own."""

import shutil
from pathlib import Path

import pytest

from memsheet import compare, measurements
from memsheet.house import folder
from memsheet.measurements import Record
from memsheet.reader import InputError
from memsheet.scenario import declaration
from memsheet.schedule import load as load_schedule

RECORDS = measurements.load()
RUNS = [record for record in RECORDS if record.name.startswith("h200-runs-")]
SEED = {record.name: record for record in RECORDS if record.name.startswith("seed-")}


def identity(record: Record) -> str:
    return record.name


def test_every_record_says_where_it_comes_from() -> None:
    assert len(RUNS) == 64 and len(SEED) == 10
    assert all(record.source and record.title and record.settings["schedule"] for record in RECORDS)
    assert all(record.versions["torch"] for record in RUNS)


@pytest.mark.parametrize("record", RECORDS, ids=identity)
def test_every_phase_is_one_of_the_schedule(record: Record) -> None:
    schedule = load_schedule(folder("scenarios") / "schedules" / f"{record.settings['schedule']}.yaml", declaration())
    assert {figure.phase for figure in record.figures} <= {*schedule.phases, measurements.WHOLE_RUN}


def test_the_seed_report_keeps_its_rounding() -> None:
    bounds = {name: {figure.bound for figure in record.figures} for name, record in SEED.items()}
    assert bounds["seed-table-1-inference-7b"] == {"about"} and bounds["seed-table-1-full-7b"] == {"at least"}
    assert bounds["seed-table-1-inference-70b"] == {"at least"} and bounds["seed-table-3"] == {""}
    assert not SEED["seed-table-1-full-70b"].figures


@pytest.mark.parametrize("record", RUNS, ids=identity)
def test_a_run_stands_beside_the_scenario_of_its_settings(record: Record) -> None:
    scenario = measurements.scenario_of(record)
    assert scenario.refusals() == []
    assert compare.left_out(scenario, [record]) == []
    pairs = compare.beside(scenario, [record])
    assert [pair.figure for pair in pairs] == list(record.figures)
    assert all(pair.holds for pair in pairs if pair.figure.bound == "at least" and pair.figure.statistic == "allocated")


def test_the_formulas_reach_the_runs() -> None:
    pairs = [pair for record in RUNS for pair in compare.beside(measurements.scenario_of(record), [record])]
    found = compare.errors(pairs)
    assert found["allocated"].count > 500
    assert found["allocated"].median < 0.001


def test_a_record_that_states_too_little_is_no_scenario() -> None:
    with pytest.raises(InputError, match="is missing"):
        measurements.scenario_of(SEED["seed-table-1-inference-7b"])


def test_a_folder_is_read_with_all_its_mistakes(tmp_path: Path) -> None:
    shutil.copy(folder("measurements") / "seed_report.yaml", tmp_path)
    (tmp_path / "notes.md").write_text("not a record")
    assert {record.name for record in measurements.load(tmp_path)} == set(SEED)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "bad.jsonl").write_text("{")
    (tmp_path / "bad.yaml").write_text("records: []")
    shutil.copy(tmp_path / "seed_report.yaml", tmp_path / "twice.yaml")
    with pytest.raises(InputError) as caught:
        measurements.load(tmp_path)
    assert {mistake.place.file for mistake in caught.value.mistakes} == {"deeper/bad.jsonl", "bad.yaml", "twice.yaml"}
