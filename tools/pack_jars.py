"""Pack the jars of all Sparks into one small archive for the wheel: pack_jars.py <folder> <jar>..

Most classes are the same in all jars. So a class that several jars have is stored once, and all are compressed
together. Writes `<folder>/jars.tar.xz`, in which `<jar>/<entry>` is an entry of a jar, and `<folder>/jars.txt` with the
names of the jars. `spark_zorder.jar_archive` unpacks a jar.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import sys
import tarfile
import zipfile
from pathlib import Path


def entries(jars: list[Path]) -> list[tuple[str, str, bytes]]:
    """Entry, jar and content. Alike contents are next to each other, which packs them well."""
    found = []
    for jar in jars:
        with zipfile.ZipFile(jar) as file:
            found += [(info.filename, jar.name, file.read(info)) for info in file.infolist() if not info.is_dir()]
    return sorted(found, key=lambda entry: entry[:2])


def pack(jars: list[Path]) -> bytes:
    """The archive. The same jars give the same bytes."""
    buffer = io.BytesIO()
    first: dict[bytes, str] = {}
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for entry, jar, content in entries(jars):
            member = tarfile.TarInfo(f"{jar}/{entry}")
            digest = hashlib.sha256(content).digest()
            if digest in first:
                member.type = tarfile.LNKTYPE
                member.linkname = first[digest]
                archive.addfile(member)
            else:
                first[digest] = member.name
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return lzma.compress(buffer.getvalue())


def main(folder: str, *jars: str) -> None:
    """Write the archive and its list."""
    paths = [Path(jar) for jar in jars]
    archive = pack(paths)
    target = Path(folder)
    (target / "jars.tar.xz").write_bytes(archive)
    (target / "jars.txt").write_text("".join(f"{path.name}\n" for path in paths))
    print(f"{len(paths)} jars of {sum(path.stat().st_size for path in paths):,} bytes in {len(archive):,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
