import gzip

import pytest

from benchmarks.serve import Load, load_table, main

TEXTS = ["a b c", "d", "e f a b"]


def test_speed_is_told_beside_that_of_one_client():
    one = Load(wall=2.0, seconds=[0.1] * 20)
    many = Load(wall=2.0, seconds=[0.2] * 50, refused=3, errors=1)

    table = load_table({"1 client": one, "64 clients": many})

    assert "| 1 client | 10 | 1.00 | 100.0 ms | 100.0 ms | 0 | 0 |" in table
    assert "| 64 clients | 25 | 2.50 | 200.0 ms | 200.0 ms | 3 | 1 |" in table


@pytest.mark.slow
def test_it_runs(model_folder, tmp_path, capsys):
    with gzip.open(tmp_path / "test_2016_flickr.lc.norm.tok.en.gz", "wt") as file:
        file.writelines(f"{text}\n" for text in TEXTS)

    main(tmp_path, model_folder.path, seconds=0.3, rounds=1, requests=50)

    said = capsys.readouterr().out
    assert said.count("clients |") == 2
    assert "| 0 | 0 |" in said
    assert "Memory over 50 requests" in said
    assert "of its work" in said
