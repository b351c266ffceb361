"""Writes the Parquet files of `data_parquet.rs`, and the same rows as CSV."""

import decimal

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

n = 10
table = pa.table(
    {
        "a": pa.array([0.5 * i - 2 for i in range(n)], pa.float64()),
        "b": pa.array([0.25 * i for i in range(n)], pa.float32()),
        "i": pa.array([i * i - 30 for i in range(n)], pa.int64()),
        "u": pa.array([4294967295 - i for i in range(n)], pa.uint32()),
        "t": pa.array([i % 3 == 0 for i in range(n)], pa.bool_()),
        "c": pa.array([["red", "green", "blue"][i % 3] for i in range(n)]),
        "d": pa.array([decimal.Decimal(i) / 4 for i in range(n)], pa.decimal128(9, 2)),
        "y": pa.array([i + 0.125 for i in range(n)], pa.float64()),
    }
)
for codec in ["none", "snappy", "gzip", "zstd", "lz4"]:
    pq.write_table(table, f"{codec}.parquet", compression=codec, row_group_size=4, store_decimal_as_integer=True)
text = table.set_column(4, "t", table["t"].cast(pa.int8()))
pa.csv.write_csv(text, "parquet.csv")
missing = table.set_column(0, "a", pa.array([None if i in (1, 7) else 0.5 * i for i in range(n)], pa.float64()))
missing = missing.set_column(5, "c", pa.array([None if i == 2 else "xyz"[i % 3] for i in range(n)]))
pq.write_table(missing, "missing.parquet")
pq.write_table(pa.table({"l": [[1.0, 2.0]], "y": [1.0]}), "nested.parquet")
