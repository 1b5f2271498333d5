"""Batches: a scenario that fails stops no other and leaves nothing behind; several at once give the same files."""

from pathlib import Path

import openpyxl
import pytest

from memsheet import batch, report, workbook
from memsheet.batch import Job, Outcome

SMALL = "title: Small\nextends: base/training\ninputs: {gpu: a10g, model: qwen2.5-0.5b, method: lora}\n"


def job(scenario: str | Path, out: Path, pdf: bool = False) -> Job:
    return Job(str(scenario), (), out, pdf, "en")


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())} if folder.exists() else {}


@pytest.fixture
def write(tmp_path):
    """Writes a scenario file and gives its path."""

    def write(name: str, text: str = SMALL) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_job_writes_a_workbook_and_tells_the_verdict(write, tmp_path):
    done = batch.run(job(write("small.yaml"), tmp_path / "out" / "deep"))
    assert done.problems == () and done.verdict == "fits"
    assert done.files == (tmp_path / "out" / "deep" / "small.xlsx",)
    assert openpyxl.load_workbook(done.files[0], data_only=True)["Summary"]["A1"].value == "Small"


def test_one_that_fails_stops_no_other_and_leaves_nothing(write, tmp_path):
    out = tmp_path / "out"
    bad = write("bad.yaml", SMALL.replace("gpu: a10g", "gpu: a10, batch_size: -1"))
    uncovered = write("uncovered.yaml", SMALL.replace("method: lora", "method: lora, tensor_parallel_size: 2"))
    jobs = [job(bad, out), job(write("good.yaml"), out), job("no-such-scenario", out), job(uncovered, out)]
    outcomes = {Path(outcome.job.scenario).stem: outcome for outcome in batch.run_all(jobs, 1)}
    assert set(files(out)) == {"good.xlsx"}
    assert outcomes["good"].problems == ()
    told = {name: "\n".join(outcome.problems) for name, outcome in outcomes.items()}
    assert f"{bad}:3: batch_size must be 1 to 1000000, not '-1'" in told["bad"]
    assert f"{bad}:3: 'a10' is not a word of gpu" in told["bad"]
    assert "no such scenario file or built-in scenario" in told["no-such-scenario"]
    assert "LoRA and P-Tuning are covered without tensor or pipeline parallelism only" in told["uncovered"]
    assert all(outcomes[name].files == () for name in ("bad", "no-such-scenario", "uncovered"))


def test_a_fault_of_ours_is_told_without_a_traceback_and_leaves_nothing(write, tmp_path, monkeypatch):
    def fails(loaded, language):
        raise RuntimeError("something that nobody thought of")

    monkeypatch.setattr(workbook, "contents", fails)
    done = batch.run(job(write("small.yaml"), tmp_path / "out"))
    assert done.problems == ("RuntimeError: something that nobody thought of",)
    assert done.files == () and files(tmp_path / "out") == {}


def test_a_report_that_fails_leaves_the_workbook_whole_and_no_report(write, tmp_path, monkeypatch):
    def fails(loaded, path, **options):
        raise report.ReportUnavailable("no Pango")

    monkeypatch.setattr(report, "write", fails)
    done = batch.run(job(write("small.yaml"), tmp_path / "out", pdf=True))
    assert set(files(tmp_path / "out")) == {"small.xlsx"}
    assert done.files == (tmp_path / "out" / "small.xlsx",) and done.problems == ("ReportUnavailable: no Pango",)


def test_a_disk_that_fails_midway_leaves_no_part_of_a_file(write, tmp_path, monkeypatch):
    def fails(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fails)
    done = batch.run(job(write("small.yaml"), tmp_path / "out"))
    assert done.problems == ("OSError: [Errno 28] No space left on device",)
    assert files(tmp_path / "out") == {}


def test_a_folder_that_is_a_file_is_a_problem_and_no_traceback(write, tmp_path):
    (tmp_path / "out").write_text("in the way")
    (problem,) = batch.run(job(write("small.yaml"), tmp_path / "out")).problems
    assert "File exists" in problem and (tmp_path / "out").read_text() == "in the way"


def test_two_at_once_give_the_same_bytes_as_one_after_the_other(write, tmp_path):
    names = ["h200-ppo-lora", "table-1-inference-7b", write("small.yaml"), "no-such-scenario"]
    one = list(batch.run_all([job(name, tmp_path / "one") for name in names], 1))
    two = list(batch.run_all([job(name, tmp_path / "two") for name in names], 2))
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert set(files(tmp_path / "one")) == {"h200-ppo-lora.xlsx", "small.xlsx", "table-1-inference-7b.xlsx"}
    assert told(one) == told(two)


def told(outcomes: list[Outcome]) -> set[tuple[object, ...]]:
    return {(outcome.job.scenario, outcome.verdict, outcome.problems, *(path.name for path in outcome.files)) for outcome in outcomes}


def test_the_bytes_do_not_depend_on_what_was_built_before(write, tmp_path):
    alone, after = tmp_path / "alone", tmp_path / "after"
    list(batch.run_all([job(name, alone) for name in ("seed-3-large", "h200-ppo-lora")], 1))
    list(batch.run_all([job(name, after) for name in ("h200-ppo-lora", "seed-3-large")], 1))
    assert files(alone) == files(after)


def test_two_scenarios_of_one_name_do_not_overwrite_each_other(write, tmp_path):
    first, second = write("a/same.yaml"), write("b/same.yaml", SMALL.replace("a10g", "l4"))
    refused, done = batch.run_all([job(first, tmp_path / "out"), job(second, tmp_path / "out")], 2)
    assert refused.job.scenario == str(second)
    assert refused.problems == (f"same.xlsx is made from {first} already: rename one of the two files",)
    assert done.job.scenario == str(first) and done.problems == ()


@pytest.mark.parametrize("name", ["a b.yaml", "=1+1.yaml", "été.yaml", ".hidden.yaml", "-rf.yaml"])
def test_a_name_with_anything_in_it_gives_a_harmless_file_name(write, tmp_path, name):
    done = batch.run(job(write(name), tmp_path / "out"))
    assert done.problems == ()
    (file,) = files(tmp_path / "out")
    assert file.endswith(".xlsx") and not set(file) & set(" =/\\")


@pytest.mark.parametrize("text", ['=HYPERLINK("http://example.org","click")', "+1", "@SUM(A1)", "#N/A", "<b>&amp;</b>"])
def test_a_text_that_begins_like_a_formula_stays_a_text(write, tmp_path, text):
    scenario = write("text.yaml", SMALL.replace("Small", f"'{text}'") + f"description: '{text}'\nassumptions: ['{text}']\n")
    done = batch.run(job(scenario, tmp_path / "out"))
    assert done.problems == ()
    book = openpyxl.load_workbook(done.files[0])
    found = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value == text]
    assert len(found) == 3, "the title, the description and the assumption"
    assert all(cell.data_type == "s" for cell in found)
