"""Jars of others, which `tools/jars.txt` lists and `make` puts into `build/fetched`."""

import re
from pathlib import Path

import pytest

_REPOSITORY = Path(__file__).parents[3]
_LIST = (_REPOSITORY / "tools" / "jars.txt").read_text()


def fetched_jars(group: str) -> list[str]:
    """The files of a group of the list. The test fails when `make` did not fetch them."""
    if not are_there(group):
        pytest.fail(f"jars are missing: make build/stamps/fetched-{group}")
    return [str(file) for file in _files(group)]


def are_there(group: str) -> bool:
    files = _files(group)
    return bool(files) and all(file.exists() for file in files)


def _files(group: str) -> list[Path]:
    coordinates = re.findall(rf"^{re.escape(group)} +\S+?:(\S+):(\S+) ", _LIST, re.MULTILINE)
    return [_REPOSITORY / "build" / "fetched" / group / f"{name}-{version}.jar" for name, version in coordinates]


def is_group(group: str) -> bool:
    return re.search(rf"^{re.escape(group)} ", _LIST, re.MULTILINE) is not None


def spark_of(group: str) -> str:
    """The minor version of Spark that the jars of a group are for."""
    minors = {str(minor) for minor in re.findall(rf"^{group} .*[_-](\d+\.\d+)_\d+\.\d+:", _LIST, re.MULTILINE)}
    [minor] = minors
    return minor
