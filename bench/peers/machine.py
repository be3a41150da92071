"""Says where something was measured."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from typing import TYPE_CHECKING

from peers.sessions import fetched

if TYPE_CHECKING:
    from pathlib import Path


def machine(jar: Path, *groups: str) -> dict[str, str]:
    """The machine, and the versions of Spark, of the jars in these groups of `tools/jars.txt`, and of ours."""
    jars = [found.stem for group in groups for found in fetched(group)]
    return {
        "machine": f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Java {_java()}",
        "versions": ", ".join([f"Spark {version('pyspark')}", *jars, jar.name]),
    }


def _java() -> str:
    told = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    return told.split('"')[1] if '"' in told else "?"
