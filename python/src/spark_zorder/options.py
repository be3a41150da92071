"""The options of `OPTIMIZE` and `RESTORE`.

ReferencePagesSuite writes the options from the table in the Scala sources: do not edit them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypedDict


class OptimizeOption(NamedTuple):
    """An option of `OPTIMIZE`, in words for readers.

    Examples:
        >>> from spark_zorder import OPTIMIZE_OPTIONS
        >>> next(option.range for option in OPTIMIZE_OPTIONS if option.key == "num-files")
        '1 to 1,000,000'
    """

    key: str
    type: str
    default: str
    range: str
    description: str
    example: str


OPTIMIZE_OPTIONS: tuple[OptimizeOption, ...] = (
    OptimizeOption(
        key="target-file-size-bytes",
        type="size",
        default="by the size of the table: about 64 files, and at least 8 of a partition, of 8 to 256 MiB",
        range="1 byte or more",
        description=(
            "The size that new files should have. Later statements with the same layout and any "
            "`WHERE` keep it, until one sets another layout, size or number."
        ),
        example="128MB",
    ),
    OptimizeOption(
        key="num-files",
        type="whole number",
        default="by the target size",
        range="1 to 1,000,000",
        description=(
            "The number of files that the statement should write in all, at least one for each "
            "partition. It overrides the target size. With aligned cuts the number may differ by a "
            "quarter. Later statements with the same layout and `WHERE` keep it."
        ),
        example="64",
    ),
    OptimizeOption(
        key="min-file-size-bytes",
        type="size",
        default="0.75 of the target size",
        range="0 bytes or more",
        description=(
            "Only for packing, that is, without a layout: smaller files are packed together. It must "
            "be less than `max-file-size-bytes`."
        ),
        example="64MB",
    ),
    OptimizeOption(
        key="max-file-size-bytes",
        type="size",
        default="1.8 times the target size",
        range="1 byte or more",
        description="Only for packing: larger files are split.",
        example="1GB",
    ),
    OptimizeOption(
        key="min-input-files",
        type="whole number",
        default="2",
        range="1 or more",
        description=(
            "Only for packing: a group of fewer files is left as it is. A file that is too large is "
            "split even if it is alone."
        ),
        example="5",
    ),
    OptimizeOption(
        key="rewrite-all",
        type="boolean",
        default="`false`",
        range="`true` or `false`",
        description=(
            "Whether to rewrite all files, also those that have the layout and the size already. "
            "`FULL` in the statement does the same."
        ),
        example="true",
    ),
    OptimizeOption(
        key="mapping",
        type="word",
        default="`range`, or that of the last layout if the statement names no layout",
        range="`range` or `bytes`",
        description=(
            "How values get their positions on the curve. `range` goes by how the values are "
            "distributed. `bytes` takes the bits of the values in turns, which is the classic Z-order."
        ),
        example="bytes",
    ),
    OptimizeOption(
        key="var-length-contribution",
        type="whole number",
        default="8, or that of the last layout if the statement names no layout",
        range="1 to 256",
        description=(
            "Only with `'mapping' = 'bytes'`: how many bytes of a string or binary value count. Longer "
            "values are cut, shorter ones are filled up with zeros."
        ),
        example="16",
    ),
    OptimizeOption(
        key="max-output-size",
        type="whole number",
        default="no limit, or that of the last layout if the statement names no layout",
        range="1 or more",
        description=(
            "Only with `'mapping' = 'bytes'`: how many bytes of the combined key count. Rows that "
            "differ only in later bytes are in no particular order."
        ),
        example="32",
    ),
    OptimizeOption(
        key="cuts",
        type="word",
        default="`aligned`, or that of the last layout if the statement names no layout",
        range="`aligned` or `equal`",
        description=(
            "Where files end. `aligned` ends them at borders of the curve's cells, so queries read "
            "fewer files. The files then have about 0.5 to 1.5 times the target size. `equal` makes "
            "files of equal size."
        ),
        example="equal",
    ),
    OptimizeOption(
        key="hot-ranges",
        type="boolean",
        default="`false`",
        range="`true` or `false`",
        description="Only with `ZORDER BY AUTO`: whether values that queries often ask for go to smaller files.",
        example="true",
    ),
    OptimizeOption(
        key="sample-rows",
        type="whole number",
        default="at least 100 rows for each new file",
        range="1 to 100,000,000",
        description="How many rows to sample in all. A larger sample makes files more equal in size, and takes longer.",
        example="1000000",
    ),
    OptimizeOption(
        key="compression",
        type="word",
        default="the codec of most rewritten files",
        range=(
            "parquet: `none`, `uncompressed`, `snappy`, `gzip`, `lzo`, `brotli`, `lz4`, `lz4_raw`, "
            "`zstd`; orc: `none`, `uncompressed`, `snappy`, `zlib`, `lzo`, `zstd`, `lz4`, `brotli`"
        ),
        description=(
            "The compression codec of the new files. Some codecs need a library that Spark does not bring along."
        ),
        example="zstd",
    ),
    OptimizeOption(
        key="row-group-size-bytes",
        type="size",
        default="as the table's options or Spark's settings say",
        range="1 KiB or more, less than 2 GiB",
        description="The size of a row group (Parquet) or of a stripe (ORC) in the new files.",
        example="64MB",
    ),
    OptimizeOption(
        key="bloom-filter-columns",
        type="column names",
        default="the columns that have one in the rewritten files",
        range="column names separated by commas, `auto` or `none`",
        description=(
            "The columns that get Bloom filters in the new files. `auto` chooses those key columns "
            "whose values have fewer rows than there are files that may contain them."
        ),
        example="user_id, address.city",
    ),
    OptimizeOption(
        key="membership-columns",
        type="column names",
        default="the columns whose values the index keeps already, and those that `JOIN` compares",
        range="column names separated by commas, or `none`",
        description=(
            "The columns whose values the index keeps for each new file. `CREATE SKIPPING INDEX` with "
            "`VALUES` does the same for files as they are. A query for a value then skips files that "
            "do not have it, also within their bounds."
        ),
        example="user_id, session_id",
    ),
    OptimizeOption(
        key="allow-nanosecond-loss",
        type="boolean",
        default="`false`",
        range="`true` or `false`",
        description=(
            "Whether timestamps may lose their digits below the microsecond, which Spark cannot keep. "
            "Without it, a statement that would lose such digits fails."
        ),
        example="true",
    ),
    OptimizeOption(
        key="max-concurrent-file-group-rewrites",
        type="whole number",
        default="5",
        range="1 to 1,000",
        description="How many file groups are rewritten at the same time. Each group is a Spark job.",
        example="2",
    ),
    OptimizeOption(
        key="max-file-group-size-bytes",
        type="size",
        default="100 GiB, and no partition is split",
        range="1 byte or more",
        description=(
            "The size of a file group. If you set it, larger partitions are split into groups, each "
            "laid out by itself, so a query may read a file of each group."
        ),
        example="20GB",
    ),
    OptimizeOption(
        key="partial-progress.enabled",
        type="boolean",
        default="`false`",
        range="`true` or `false`",
        description=(
            "Whether finished file groups are committed before the others are done. Each commit is a "
            "version of the table. If a later group fails, what was committed stays."
        ),
        example="true",
    ),
    OptimizeOption(
        key="partial-progress.max-commits",
        type="whole number",
        default="10",
        range="1 or more",
        description="Only with partial progress: the largest number of commits of the statement.",
        example="4",
    ),
    OptimizeOption(
        key="retain-hours",
        type="whole number",
        default="168",
        range="0 to 876,000",
        description=(
            "How many hours `VACUUM` keeps the files that this statement replaces. As long as they are "
            "there, `RESTORE` can bring them back."
        ),
        example="24",
    ),
    OptimizeOption(
        key="commit.mode",
        type="word",
        default="as for the table before, else `in-place`",
        range="`in-place` or `new-location`",
        description=(
            "How the new files come into the table. `in-place` exchanges the files in the table's "
            "folders. `new-location` writes a new folder and changes the location in the catalog, so "
            "that no reader of the table sees old and new files together."
        ),
        example="new-location",
    ),
)

OptimizeOptions = TypedDict(
    "OptimizeOptions",
    {
        "target-file-size-bytes": int | str,
        "num-files": int,
        "min-file-size-bytes": int | str,
        "max-file-size-bytes": int | str,
        "min-input-files": int,
        "rewrite-all": bool,
        "mapping": Literal["range", "bytes"],
        "var-length-contribution": int,
        "max-output-size": int,
        "cuts": Literal["aligned", "equal"],
        "hot-ranges": bool,
        "sample-rows": int,
        "compression": str,
        "row-group-size-bytes": int | str,
        "bloom-filter-columns": str,
        "membership-columns": str,
        "allow-nanosecond-loss": bool,
        "max-concurrent-file-group-rewrites": int,
        "max-file-group-size-bytes": int | str,
        "partial-progress.enabled": bool,
        "partial-progress.max-commits": int,
        "retain-hours": int,
        "commit.mode": Literal["in-place", "new-location"],
    },
    total=False,
)
"""The options by their keys, with the types of their values."""

RestoreOptions = TypedDict(
    "RestoreOptions",
    {"lost-files": Literal["restore"]},
    total=False,
)
"""The option of `RESTORE`."""
