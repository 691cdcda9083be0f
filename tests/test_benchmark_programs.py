import sys
from string import Template

import pytest

from benchmarks import train_programs
from benchmarks.programs import EOLE, HEEDFUL, JOEYNMT, OPENNMT, PROGRAMS, Program
from benchmarks.train_programs import (
    Installed,
    ProgramError,
    Turn,
    install,
    programs_table,
    read_reports,
    reason,
    train,
)


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (HEEDFUL, "step 20 of 100,000: loss 8.1, perplexity 9, 7,312 tokens/s, rate 1e-4"),
        (JOEYNMT, "Epoch   1, Step:        5, Batch Acc: 0.01, Tokens per Sec:     7312, Lr: 0.1"),
        (OPENNMT, "Step 5/100000; acc: 0.1; bsz: 3000/2900/200; 6800/7312 tok/s;     12 sec;"),
        (EOLE, "Step 5/100000; acc: 0.1; aux: 0.000; bsz: 3000/2900/200; 6800/7312 tok/s;  9 sec;"),
    ],
)  # fmt: skip
def test_the_speed_on_target_pieces_is_read_from_each_log(program, line):
    found = program.report.search(line)

    assert found
    assert found[1].replace(",", "") == "7312"


def test_reports_count_from_the_end_of_the_warm_up_for_so_many_seconds(monkeypatch):
    seconds = iter([100.0, 105.0, 111.0, 116.0, 131.0])
    monkeypatch.setattr(train_programs.time, "monotonic", lambda: next(seconds))
    lines = ["loading", *(f"step {n}, 1,00{n} tokens/s" for n in range(7))]

    log, rates = read_reports(iter(lines), HEEDFUL.report, seconds=20)

    assert rates == [1002.0, 1003.0, 1004.0]
    assert log.startswith("loading")


def test_the_reason_is_the_last_line_that_names_an_error():
    assert reason("start\nValueError: no\n\nbye\n") == "ValueError: no"
    assert reason("start\nkilled\n") == "killed"
    assert reason("") == "it said nothing"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_config_is_complete_with_the_names_of_the_corpus(program):
    names = {"source": "a.gz", "target": "b.gz", "pieces": "/pieces"}

    assert "$" not in program.config.substitute(names)


@pytest.mark.slow
def test_a_program_that_does_not_train_is_a_reason_and_not_a_crash(tmp_path):
    program = Program(
        name="broken",
        config_name="none",
        config=Template(""),
        arguments=("-c", "raise ImportError('no module named spam')"),
        report=HEEDFUL.report,
    )

    python = install(program, tmp_path)

    assert str(python) == sys.executable
    with pytest.raises(ProgramError, match="ImportError: no module named spam"):
        train(Installed(program=program, python=python, folder=tmp_path), seconds=1, threads=1)


def test_the_table_compares_turn_by_turn_and_names_who_did_not_run():
    ours = [Turn(pieces_per_second=speed, peak_bytes=10**9) for speed in (300.0, 200.0, 400.0)]
    theirs = [Turn(pieces_per_second=100.0, peak_bytes=2 * 10**9)] * 3

    table = programs_table({"heedful": ours, "peer": theirs}, {"other": "no compiler"})

    assert table.splitlines()[2:] == [
        "| heedful | 300 |  | 1.00 GB |",
        "| peer | 100 | 3.00 (2.00 to 4.00) | 2.00 GB |",
        "| other | does not run: no compiler | | |",
    ]
