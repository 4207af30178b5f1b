"""make portable: a cell that differs on one machine must show in what is printed and returned."""

import release_portable as portable
from nbformat.v4 import new_code_cell, new_notebook, new_output, writes

CELL = "import os; print(os.environ['MACHINE'])"


def test_a_cell_that_differs_makes_the_run_fail(tmp_path, monkeypatch, capsys):
    output = new_output("stream", text="own\n")
    cell = new_code_cell(CELL, outputs=[output], execution_count=1)
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "a.ipynb").write_text(writes(new_notebook(cells=[cell])))
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --nbval --nbval-current-env\n")
    monkeypatch.setattr(portable, "ROOT", tmp_path)
    monkeypatch.setattr(portable, "RECORDS", ("platform",))
    monkeypatch.setattr(portable, "machines", lambda: [("own", {"MACHINE": "own"})])
    assert portable.main(few=False)
    monkeypatch.setattr(portable, "machines", lambda: [("other", {"MACHINE": "other"})])
    assert not portable.main(few=False)
    assert "other:" in capsys.readouterr().out
