"""The types of the columns, each with its extreme values."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class Kind:
    """A type, with values that a writer or a reader may get wrong."""

    name: str
    type: pa.DataType
    values: tuple[Any, ...]


def _whole(arrow: pa.DataType, bits: int, signed: bool = True) -> Kind:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return Kind(str(arrow), arrow, tuple(dict.fromkeys((low, low + 1, 0, 1, 97, high - 1, high))))


def _decimal(digits: int, scale: int) -> Kind:
    # From tuples, since arithmetic rounds to 28 digits.
    numbers = tuple(Decimal((sign, (digit,) * n, -scale)) for sign in (0, 1) for digit, n in ((9, digits), (1, 1)))
    return Kind(f"dec{digits}_{scale}", pa.decimal128(digits, scale), (*numbers, Decimal((0, (0,), -scale))))


def _seconds(*moment: int) -> int:
    passed = datetime(*moment) - datetime(1970, 1, 1)  # type: ignore[arg-type]
    return passed.days * 86400 + passed.seconds


_SECONDS = (
    _seconds(1, 1, 1),
    _seconds(1582, 10, 4, 23, 59, 59),
    _seconds(1582, 10, 15),
    _seconds(1883, 11, 18, 12),
    -1,
    0,
    _seconds(2024, 3, 10, 10, 30),
    _seconds(9999, 12, 31, 23, 59, 59),
)
"""The first and the last second, the change of calendars, the first time zones, and the seconds around 1970."""


def _moments(name: str, arrow: pa.DataType, unit: int) -> Kind:
    return Kind(name, arrow, tuple(s * unit + fraction for s in _SECONDS for fraction in (0, 1, unit - 1)))


_FLOATS = (-0.0, 0.0, float("nan"), float("inf"), -float("inf"), 0.1, -1.5)

KINDS = (
    Kind("bool", pa.bool_(), (True, False)),
    _whole(pa.int8(), 8),
    _whole(pa.int16(), 16),
    _whole(pa.int32(), 32),
    _whole(pa.int64(), 64),
    _whole(pa.uint8(), 8, False),
    _whole(pa.uint16(), 16, False),
    _whole(pa.uint32(), 32, False),
    Kind("float", pa.float32(), (*_FLOATS, 2.0**-149, 3.4028234663852886e38)),
    Kind("double", pa.float64(), (*_FLOATS, 5e-324, 1.7976931348623157e308)),
    _decimal(9, 2),
    _decimal(18, 3),
    _decimal(38, 0),
    _decimal(38, 38),
    Kind("date", pa.date32(), tuple(date.fromordinal(s // 86400 + 719163) for s in _SECONDS)),
    _moments("ts_ms", pa.timestamp("ms"), 1000),
    _moments("ts_us", pa.timestamp("us"), 1_000_000),
    _moments("utc_ms", pa.timestamp("ms", tz="UTC"), 1000),
    _moments("utc_us", pa.timestamp("us", tz="UTC"), 1_000_000),
    Kind("time_us", pa.time64("us"), (0, 1, 43_200_000_001, 86_399_999_999)),
    Kind("string", pa.string(), ("", " ", "a", "Zoë", "日本語", "😀", "\x00", "x" * 300, "ﬀ\uffff")),
    Kind("binary", pa.binary(), (b"", b"\x00", b"\xff" * 40, "ü".encode("latin-1"), b"\x80\x00")),
    Kind("fixed3", pa.binary(3), (b"\x00\x00\x00", b"abc", b"\xff\xff\xff")),
)


def near(kind: Kind) -> Kind:
    """A type with the moments that pyarrow can write into ORC and read again.

    Moments that do not fit into 64 bits of nanoseconds are not among them, and neither are fractions of seconds before
    1970: it writes negative ones, and Spark cannot read these.
    """
    if not pa.types.is_timestamp(kind.type):
        return kind
    unit = {"ms": 1000, "us": 1_000_000}[kind.type.unit]
    return Kind(
        kind.name,
        kind.type,
        tuple(v for v in kind.values if abs(v) < 2**63 // 10**9 * unit and (v >= 0 or v % unit == 0)),
    )
