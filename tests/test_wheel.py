"""The wheel, installed in a fresh environment, works from an empty folder."""

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NEEDED = (
    "formulas/model.py", "formulas/catalogues/gpus.yaml", "scenarios/seed-1-development.yaml",
    "scenarios/schedules/training.yaml", "templates/en.yaml", "measurements/h200/runs.jsonl",
)  # fmt: skip


def run(*command: str, cwd: Path | None = None) -> str:
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_the_wheel_works_from_an_empty_folder(tmp_path):
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "-w", str(tmp_path), str(ROOT))
    (wheel,) = tmp_path.glob("memsheet-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for needed in NEEDED:
        assert f"memsheet/{needed}" in names
    venv.create(tmp_path / "fresh", with_pip=True)
    python, empty = tmp_path / "fresh" / "bin" / "python", tmp_path / "empty"
    empty.mkdir()
    run(str(python), "-m", "pip", "install", "--quiet", f"{wheel}[report]")
    memsheet = str(tmp_path / "fresh" / "bin" / "memsheet")
    assert json.loads(run(memsheet, "estimate", "seed-1-development", "--json", cwd=empty))["cards"]
    run(memsheet, "build", "h200-ppo-lora", "--out", "here", cwd=empty)
    assert {path.name for path in (empty / "here").iterdir()} == {"h200-ppo-lora.xlsx", "h200-ppo-lora.pdf"}
