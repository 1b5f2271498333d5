"""Schedules: who holds what when. Data with mistakes of its own."""

from pathlib import Path

import pytest
import yaml

from memsheet import scenario, schedule
from memsheet.house import folder
from memsheet.model import Instant
from memsheet.reader import InputError

CASES = yaml.safe_load((Path(__file__).parent / "cases" / "schedule.yaml").read_text(encoding="utf-8"))
GOOD = """
title: Two instants
source: a test
roles: {actor: trainer, rollout: engine}
instants:
  load_weights:
    actor: [weights]
    rollout: []
  update:
    label: "The update, at last"
    empties: [engine, trainer]
    actor: [weights, gradients]
phases:
  everything: [load_weights, update]
"""


def load(folder: Path, text: str) -> schedule.Schedule:
    path = folder / "test.yaml"
    path.write_text(text, encoding="utf-8")
    return schedule.load(path, scenario.declaration())


def test_a_schedule_says_who_holds_what_when(tmp_path):
    found = load(tmp_path, GOOD)
    assert (found.name, found.title, found.source) == ("test", "Two instants", "a test")
    assert found.roles == {"actor": "trainer", "rollout": "engine"}
    assert found.instants == (
        Instant("load_weights", "load weights", {"actor": ("weights",), "rollout": ()}),
        Instant("update", "The update, at last", {"actor": ("weights", "gradients")}, ("engine", "trainer")),
    )


def test_every_instant_is_a_phase_of_its_own_beside_the_declared_ones(tmp_path):
    assert load(tmp_path, GOOD).phases == {
        "load_weights": ("load_weights",), "update": ("update",), "everything": ("load_weights", "update"),
    }  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_mistake_is_named_with_its_line(tmp_path, case):
    with pytest.raises(InputError) as caught:
        load(tmp_path, case["text"])
    found = [str(mistake).removeprefix("test.yaml:") for mistake in caught.value.mistakes]
    assert len(found) == len(case["mistakes"]), found
    for message, expected in zip(found, case["mistakes"], strict=True):
        assert expected in message


@pytest.mark.parametrize("path", sorted((folder("scenarios") / "schedules").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_built_in_schedule_is_without_mistakes(path):
    found = schedule.load(path, scenario.declaration())
    assert found.source and found.roles
    held = {role for instant in found.instants for role, components in instant.holds.items() if components}
    assert held == found.roles.keys(), "a role that never holds anything would be a column of nothing"
