"""Index files with another footer."""

import zlib
from collections.abc import Callable


def with_footer(content: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Change the JSON before the footer of Parquet, and make its checksum right."""
    seal = len(content) - 8 - int.from_bytes(content[-8:-4], "little") - 16
    start = seal - int.from_bytes(content[seal : seal + 4], "big")
    footer = change(content[start:seal])
    ending = len(footer).to_bytes(4, "big") + zlib.crc32(footer).to_bytes(4, "big")
    return content[:start] + footer + ending + content[seal + 8 :]
