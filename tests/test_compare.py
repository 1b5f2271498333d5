"""Prediction beside measurement: what stands beside what, and what is said of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from memsheet import compare, measurements, scenario
from memsheet.measurements import Figure, Record

RECORDS = measurements.load()
PPO = scenario.load("h200-ppo-lora")
RUN_62 = next(record for record in RECORDS if record.name == "h200-runs-62")


def with_figures(*figures: Figure) -> list[Record]:
    return [replace(RUN_62, figures=figures)]


def test_the_scenario_of_run_62_stands_beside_run_62_only() -> None:
    pairs = compare.beside(PPO, RECORDS)
    assert {pair.record.name for pair in pairs} == {"h200-runs-62"}
    assert compare.left_out(PPO, RECORDS) == []
    for statistic in ("allocated", "reserved", "device"):
        phases = [pair.figure.phase for pair in pairs if pair.figure.statistic == statistic]
        # The run was one iteration, so the instants of later ones stand alone.
        assert phases == [instant.name for instant in PPO.schedule.instants if not instant.name.startswith("later_")]


def test_allocated_is_within_one_percent_in_every_phase() -> None:
    errors = {pair.figure.phase: pair.error for pair in compare.beside(PPO, RECORDS) if pair.figure.statistic == "allocated"}
    assert len(errors) == 10
    assert {phase: error for phase, error in errors.items() if error is None or abs(error) >= 0.01} == {}


@pytest.mark.parametrize("setting", sorted(set(RUN_62.settings) - {"schedule"}))
def test_one_setting_less_alike_and_it_stands_there_no_more(setting: str) -> None:
    """Each setting is compared: with a word that the scenario cannot have, the record is a near miss at best."""
    other = replace(RUN_62, settings=RUN_62.settings | {setting: "another"})
    assert compare.beside(PPO, [other]) == []


def test_a_scenario_changed_in_one_setting_loses_its_record(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("title: mine\nextends: h200-ppo-lora\n")
    assert compare.beside(scenario.load(str(path)), RECORDS)
    path.write_text("title: mine\nextends: h200-ppo-lora\nroles: {critic: {lora_rank: 32}}\n")
    changed = scenario.load(str(path))
    assert compare.beside(changed, RECORDS) == []
    misses = {miss.record.name: miss.differences for miss in compare.near_misses(changed, RECORDS)}
    assert misses["h200-runs-62"] == (compare.Difference("lora_rank", "64", "32 and 64"),)


def test_near_misses_name_what_differs() -> None:
    misses = {miss.record.name: miss.differences for miss in compare.near_misses(PPO, RECORDS)}
    assert misses["h200-runs-63"] == (compare.Difference("checkpointing", "none", "full"),)
    assert misses["h200-runs-64"] == (compare.Difference("micro_batch_size", "2", "8"),)
    assert "h200-runs-62" not in misses


def test_targets_of_lora_are_compared_as_a_set() -> None:
    targets = {"lora_targets": "v_proj, q_proj"}
    record = replace(RUN_62, settings=RUN_62.settings | targets)
    fewer = scenario.load("h200-ppo-lora", (("lora_targets", "q_proj,v_proj"),))
    assert compare.beside(fewer, [record]) and not compare.beside(fewer, [RUN_62])
    assert compare.near_misses(fewer, [RUN_62])[0].differences == (compare.Difference("lora_targets", "all-linear", "q_proj, v_proj"),)


def test_what_nothing_reads_is_taken_at_its_default() -> None:
    """Generation reads no attention setting: the formulas assume sdpa, so an eager record is another thing."""
    record = next(record for record in RECORDS if record.name == "h200-runs-38")
    here = measurements.scenario_of(record)
    assert compare.beside(here, [record])
    assert compare.beside(here, [replace(record, settings=record.settings | {"attention": "eager"})]) == []


def test_a_phase_of_several_instants_is_predicted_by_the_highest() -> None:
    update, run = compare.beside(PPO, with_figures(Figure("ppo_update", "allocated", 1), Figure("run", "allocated", 1)))
    allocated = {key.column.instant: PPO.values[key] for key in PPO.model.cells if key.row == "allocated"}
    updates = {"critic_update", "actor_update", "later_critic_update", "later_actor_update"}
    assert {key.column.instant for key in update.cells} == updates
    assert update.predicted == max(allocated[instant] for instant in updates)
    assert len(run.cells) == len(allocated) and run.predicted == max(allocated.values())


def test_every_stage_and_process_of_a_card_is_looked_at() -> None:
    large = scenario.load("seed-3-large")
    (pair,) = compare.beside(large, RECORDS)
    assert pair.figure.statistic == "device" and {key.column.stage for key in pair.cells} == {"first", "middle", "last"}
    one = replace(pair.record, figures=(Figure("run", "allocated", 1, process="engine"), Figure("run", "allocated", 1)))
    (of_engine,) = compare.beside(large, [one])
    assert {key.column.process for key in of_engine.cells} == {"engine"}
    (unnamed,) = compare.left_out(large, [one])
    assert unnamed.reason == "it names no process, and engine, trainer share the card"


@pytest.mark.parametrize(
    ("figure", "reason"),
    [
        (Figure("warm_up", "allocated", 1), "the schedule ppo_hugging_face has no phase 'warm_up'"),
        (Figure("load", "allocated", 1, process="engine"), "the schedule ppo_hugging_face has no process 'engine'"),
        (Figure("load", "device", 1, process="trainer"), "device is predicted for the whole card, not for one process"),
    ],
)
def test_a_figure_is_left_out_with_a_reason(figure: Figure, reason: str) -> None:
    records = with_figures(figure)
    assert compare.beside(PPO, records) == []
    assert [left.reason for left in compare.left_out(PPO, records)] == [reason]


def test_a_scenario_that_the_formulas_refuse_has_no_pairs() -> None:
    settings = (("micro_batch_size", "16"),)
    refused = scenario.load("h200-ppo-lora", settings)
    record = replace(RUN_62, settings=RUN_62.settings | dict(settings))
    assert compare.beside(refused, [record]) == []
    assert "do not cover" in compare.left_out(refused, [record])[0].reason


def test_an_at_least_figure_is_no_error() -> None:
    (predicted,) = compare.beside(PPO, with_figures(Figure("end", "allocated", 1)))
    size = int(predicted.predicted)
    below, above = compare.beside(PPO, with_figures(
        Figure("end", "allocated", size - 1, bound="at least"), Figure("end", "allocated", size + 10, bound="at least"),
    ))  # fmt: skip
    assert (below.error, below.holds, above.error, above.holds) == (None, True, None, False)
    assert compare.errors([below, above]) == {}


def test_errors_are_the_median_and_the_worst_of_each_statistic() -> None:
    (unit,) = compare.beside(PPO, with_figures(Figure("end", "allocated", 1)))
    size = unit.predicted
    sizes = [round(size / (1 + error)) for error in (0.01, -0.02, 0.05)]
    pairs = compare.beside(PPO, with_figures(*(Figure("end", "allocated", one) for one in sizes)))
    found = compare.errors(pairs)
    assert set(found) == {"allocated"} and found["allocated"].count == 3
    assert found["allocated"].median == pytest.approx(0.02, abs=1e-6) and found["allocated"].worst == pytest.approx(0.05, abs=1e-6)
    assert pairs[1].difference == size - sizes[1] < 0
