"""The jars as they come in the wheel: all in one archive, since they have most of their classes in common.

A jar is unpacked when it is first asked for. It goes into the user's cache folder: what the package's own folder got
would stay behind when the package is removed, and be imported as an empty package. If the cache folder cannot be
written to, the jar goes into a folder of this user below the one for temporary files.
"""

from __future__ import annotations

import getpass
import hashlib
import io
import lzma
import os
import tarfile
import tempfile
import zipfile
from pathlib import Path

_DATE = (1980, 1, 1, 0, 0, 0)


def names(folder: Path) -> list[str]:
    """The file names of the jars in the archive of this folder. Without an archive there are none."""
    try:
        return (folder / "jars.txt").read_text().split()
    except FileNotFoundError:
        return []


def unpacked(folder: Path, name: str) -> Path:
    """The path of a jar of the archive, which is unpacked if it is not there yet.

    Processes may do this at the same time: each writes a file of its own, and the last one renames it.

    Raises:
        OSError: There is no folder to write to.
    """
    archive = folder / "jars.tar.xz"
    content = archive.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    cache, other = _cache(digest), _folder_of_user(digest)
    for place in (cache, other):
        if _is_of(place / name, digest):
            return place / name
    jar = _jar(content, name, digest)
    try:
        return _write(_private(cache), name, jar)
    except OSError:
        return _write(_private(other), name, jar)


def _cache(digest: str) -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path("~/.cache").expanduser()
    return Path(home) / "spark-zorder" / digest[:12]


def _folder_of_user(digest: str) -> Path:
    return Path(tempfile.gettempdir()) / f"spark_zorder-{getpass.getuser()}-{digest[:12]}"


def _private(folder: Path) -> Path:
    """Make a folder in which only this user can write. One that another user made is refused."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o022 or folder.is_symlink()):
        raise PermissionError(f"{folder} can be changed by other users: delete it, or set TMPDIR to another folder")
    return folder


def _is_of(jar: Path, digest: str) -> bool:
    """Whether a jar was unpacked from this archive, and by a user who may."""
    try:
        if not jar.exists():
            return False
        _private(jar.parent)
        with zipfile.ZipFile(jar) as file:
            return file.comment == digest.encode()
    except (OSError, zipfile.BadZipFile):
        return False


def _jar(archive: bytes, name: str, digest: str) -> bytes:
    jar = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(lzma.decompress(archive))) as members,
        zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as file,
    ):
        for member in members:
            if member.name.startswith(f"{name}/"):
                content = members.extractfile(member)
                assert content is not None
                entry = zipfile.ZipInfo(member.name[len(name) + 1 :], _DATE)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                file.writestr(entry, content.read())
        file.comment = digest.encode()
    return jar.getvalue()


def _write(folder: Path, name: str, jar: bytes) -> Path:
    handle, own = tempfile.mkstemp(prefix=name, suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(jar)
        Path(own).chmod(0o644)
        return Path(own).replace(folder / name)
    except OSError:
        Path(own).unlink(missing_ok=True)
        raise
