"""The notebook beside docs/getting-started.md, run by nbclient: its outputs are tables and pictures."""

import json
import re
import shutil
from typing import Any

import pytest
from conftest import REPOSITORY, SUPPORT
from processes import printed

pytestmark = pytest.mark.test_all

PYTHON = REPOSITORY / "build" / "envs" / "notebook" / "bin" / "python"
"""`make build/stamps/installed-notebook` makes it."""

NOTEBOOK = REPOSITORY / "docs" / "getting-started.ipynb"

CLUSTERING, DRY_RUN, OPTIMIZE, PICTURE, SKIPPED, OFF, BACK, LEFT = range(2, 10)
"""The numbers of its cells of code."""

EXECUTED = REPOSITORY / "build" / "notebook"
"""The executed notebook and its pictures, for people to look at."""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("notebook")
    # Kernels and settings that the user's home has are not seen.
    own = {"JUPYTER_PATH": "", "IPYTHONDIR": f"{folder}/ipython", "HOME": str(folder), "PYSPARK_PYTHON": str(PYTHON)}
    printed([PYTHON, SUPPORT / "notebook.py", NOTEBOOK, folder], folder, **own)
    shutil.rmtree(EXECUTED, ignore_errors=True)
    EXECUTED.mkdir(parents=True)
    for made in [folder / "executed.ipynb", folder / "bars.json", *folder.glob("*.png")]:
        shutil.copy(made, EXECUTED)
    return [cell["outputs"] for cell in json.loads((folder / "executed.ipynb").read_text())["cells"]]


def shown(cell: list[dict[str, Any]], kind: str) -> str:
    [data] = [output["data"] for output in cell if output["output_type"] == "execute_result"]
    return "".join(data[kind])


def test_a_result_is_a_table_and_a_sentence(outputs: list[list[dict[str, Any]]]) -> None:
    assert shown(outputs[DRY_RUN], "text/html").startswith("<p>Would rewrite 64 → ")
    html = shown(outputs[OPTIMIZE], "text/html")
    assert re.match(r"<p>64 → \d+ files, ", html)
    assert "<td>customer</td><td>64.0</td><td>" in html
    assert shown(outputs[OPTIMIZE], "text/plain").startswith("64 → ")


def test_a_clustering_is_a_picture(outputs: list[list[dict[str, Any]]]) -> None:
    assert shown(outputs[PICTURE], "text/plain").startswith("<Picture size ")
    assert (EXECUTED / f"cell-{PICTURE}.png").read_bytes()[:4] == b"\x89PNG"
    assert (EXECUTED / f"cell-{PICTURE}.png").stat().st_size > 10_000


def test_a_frame_is_a_table(outputs: list[list[dict[str, Any]]]) -> None:
    assert re.search(r"<td>customer</td><td>64</td><td>6[34]\.", shown(outputs[CLUSTERING], "text/html"))
    total, kept = map(int, re.findall(r"<td>(\d+)</td>", shown(outputs[SKIPPED], "text/html")))
    assert kept * 8 < total


def test_the_last_cells_turn_it_off_go_back_and_leave(outputs: list[list[dict[str, Any]]]) -> None:
    total, kept = map(int, re.findall(r"<td>(\d+)</td>", shown(outputs[OFF], "text/html")))
    assert kept == total
    assert "64 files" in shown(outputs[BACK], "text/plain")
    assert shown(outputs[LEFT], "text/plain") == "False"


def test_a_cell_has_a_bar_while_its_statement_runs(outputs: list[list[dict[str, Any]]]) -> None:
    *bars, last = json.loads((EXECUTED / "bars.json").read_text())
    assert any(re.search(r'OPTIMIZE slow <progress value="0\.\d+" max="1"></progress> \d+ % writing', b) for b in bars)
    assert last == ""
    assert shown(outputs[-1], "text/plain") == "8"
    # What is left of the bar in the notebook is empty.
    left = ["".join(o["data"].get("text/html", "")) for o in outputs[-1] if o["output_type"] == "display_data"]
    assert left == [""]


def test_no_cell_prints_a_stack_of_java(outputs: list[list[dict[str, Any]]]) -> None:
    printed = "".join("".join(output.get("text", "")) for cell in outputs for output in cell)
    assert "\tat " not in printed
