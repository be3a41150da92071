"""`notebook.py NOTEBOOK FOLDER` runs docs/getting-started.ipynb by a kernel of its own.

Writes `FOLDER/executed.ipynb`, and the pictures of its outputs beside it. A last cell, which the notebook lacks,
takes a few seconds: `FOLDER/bars.json` has the progress bars that it showed.
"""

import base64
import json
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

TIMEOUT = 300

SLOW = """
spark.range(3_000_000).selectExpr("id", "rand(1) AS a", "rand(2) AS b").repartition(8).write.saveAsTable("slow")
ZOrderTable(spark, "slow").optimize(zorder_by=["a", "b"], num_files=8).files_added
"""


class Watching(NotebookClient):  # type: ignore[misc]
    """Keeps each state of the last cell's displays, of which a notebook only has the last one."""

    bars: list[str]

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
        if cell_index == len(self.nb.cells) - 1 and msg["msg_type"] in ("display_data", "update_display_data"):
            self.bars.append(msg["content"]["data"].get("text/html", ""))
        return super().process_message(msg, cell, cell_index)


def main() -> None:
    """Run the notebook's cells in the folder."""
    path, folder = Path(sys.argv[1]), Path(sys.argv[2])
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    notebook.cells.append(nbformat.v4.new_code_cell(SLOW))
    # Kernels that the user's home names are not asked: this environment has its own.
    client = Watching(notebook, timeout=TIMEOUT, kernel_name="python3", resources={"metadata": {"path": folder}})
    client.bars = []
    try:
        client.execute()
    finally:
        nbformat.write(notebook, folder / "executed.ipynb")
        (folder / "bars.json").write_text(json.dumps(client.bars))
    for number, cell in enumerate(notebook.cells):
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/png" in data:
                (folder / f"cell-{number}.png").write_bytes(base64.b64decode(data["image/png"]))


if __name__ == "__main__":
    main()
