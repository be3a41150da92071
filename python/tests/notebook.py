"""The cells of a notebook, as docs/settings/notebooks.md has them, run by a kernel of its own.

    python notebook.py PAGE FOLDER

Writes `FOLDER/executed.ipynb`, and the pictures of its outputs beside it. `test_notebook.py` runs it.
"""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

TIMEOUT = 300


def main() -> None:
    """Run the page's cells in the folder."""
    page, folder = Path(sys.argv[1]), Path(sys.argv[2])
    cells = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell.rstrip()) for cell in cells])
    # Kernels that the user's home names are not asked: this environment has its own.
    client = NotebookClient(notebook, timeout=TIMEOUT, kernel_name="python3", resources={"metadata": {"path": folder}})
    try:
        client.execute()
    finally:
        nbformat.write(notebook, folder / "executed.ipynb")
    for number, cell in enumerate(notebook.cells):
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/png" in data:
                (folder / f"cell-{number}.png").write_bytes(base64.b64decode(data["image/png"]))


if __name__ == "__main__":
    main()
