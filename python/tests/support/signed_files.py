"""Parquet files that name another writer."""

from pathlib import Path

from pyarrow import parquet


def signed_by(file: Path, writer: str, *, bounds: tuple[bytes, bytes] | None = None) -> None:
    """Change the writer that the footer of pyarrow's file names, and the bytes of a bound, to others of that length."""
    content = file.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    changed = content[footer:]
    own = parquet.read_metadata(file).created_by.encode()
    assert own in changed
    changed = changed.replace(own, writer.encode().ljust(len(own)))
    if bounds:
        assert bounds[0] in changed
        assert len(bounds[0]) == len(bounds[1])
        changed = changed.replace(*bounds)
    file.write_bytes(content[:footer] + changed)
