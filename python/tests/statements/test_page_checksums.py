"""A rewrite reads pages by their checksums, so that it gives no damaged value a checksum that fits."""

from pathlib import Path

import pyarrow as pa
import pytest
from comparison import ERRORS, condition_of
from pyarrow import parquet
from pyspark.sql import SparkSession

from spark_zorder import ZOrderTable


@pytest.mark.parametrize("checksum", [True, False])
def test_a_page_with_another_checksum_ends_the_statement(spark: SparkSession, tmp_path: Path, checksum: bool) -> None:
    file = tmp_path / "0.parquet"
    table = pa.table({"a": [1_000_000 + i for i in range(1000)], "b": [str(i) for i in range(1000)]})
    parquet.write_table(table, file, use_dictionary=False, compression="none", write_page_checksum=checksum)
    content = file.read_bytes()
    at = content.index((1_000_500).to_bytes(8, "little"))
    file.write_bytes(content[:at] + b"\x00" + content[at + 1 :])
    t = ZOrderTable.for_path(spark, tmp_path)
    if checksum:
        with pytest.raises(ERRORS, match=str(file)) as error:
            t.optimize(["a"], num_files=2)
        assert condition_of(error.value) == "ZORDER_OPERATION_FAILED.UNCHANGED"
        assert [f.name for f in tmp_path.glob("*.parquet")] == ["0.parquet"]
    else:
        t.optimize(["a"], num_files=2)
