"""The wheel, installed in a fresh environment, works from an empty folder."""

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_the_wheel_works_from_an_empty_folder(tmp_path):
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "-w", str(tmp_path), str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("memsheet-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for needed in ("formulas/model.py", "formulas/catalogues/gpus.yaml", "scenarios/seed-1-development.yaml", "scenarios/schedules/training.yaml",
                   "templates/en.yaml", "measurements/h200/runs.jsonl"):  # fmt: skip
        assert f"memsheet/{needed}" in names
    venv.create(tmp_path / "fresh", with_pip=True)
    python, empty = tmp_path / "fresh" / "bin" / "python", tmp_path / "empty"
    empty.mkdir()
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", f"{wheel}[report]"], check=True)
    command = tmp_path / "fresh" / "bin" / "memsheet"
    estimate = subprocess.run([str(command), "estimate", "seed-1-development", "--json"], cwd=empty, capture_output=True, text=True, check=True)
    assert json.loads(estimate.stdout)["cards"]
    subprocess.run([str(command), "build", "h200-ppo-lora", "--out", "here"], cwd=empty, check=True)
    assert {path.name for path in (empty / "here").iterdir()} == {"h200-ppo-lora.xlsx", "h200-ppo-lora.pdf"}
