"""Run the cells of a notebook with this interpreter, in a process of its own: ``run_notebook.py FOLDER CELLS``.

Its sockets and event loops stay out of the tests, where every warning is an error.
"""

import json
import sys
from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient


def main(folder: Path, sources: list[str]) -> None:
    manager = AsyncKernelManager(kernel_name="python3")
    manager.kernel_spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(nbformat.v4.new_notebook(cells=cells), km=manager, timeout=60, resources=resources)
    nbformat.write(client.execute(), folder / "done.ipynb")


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
