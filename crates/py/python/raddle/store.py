"""Stores of results."""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from raddle import _raddle

if TYPE_CHECKING:
    import pandas
    import polars


class Store:
    """A folder with results, made by `sweep` or by the command line (`--store`)."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.fspath(folder)
        # A folder that is no store is refused at once.
        self._records: list[str] | None = _raddle.store_records(self.folder)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Every record, as `raddle lab show` has it."""
        for text in _raddle.store_records(self.folder):
            yield json.loads(text)

    def __len__(self) -> int:
        return len(_raddle.store_records(self.folder))

    def to_pandas(self) -> pandas.DataFrame:
        """The table that `raddle lab export` writes: a row for each kernel of each result."""
        import pandas

        return pandas.read_csv(self._csv())

    def to_polars(self) -> polars.DataFrame:
        """The same table as a frame of polars."""
        import polars

        return polars.read_csv(self._csv(), infer_schema_length=None)

    def _csv(self) -> io.BytesIO:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.csv")
            self.export(path)
            with open(path, "rb") as file:
                return io.BytesIO(file.read())

    def export(self, path: str | os.PathLike[str]) -> int:
        """Writes the table to a file that ends in .csv, .json or .parquet; gives the number of results."""
        return _raddle.export_store(self.folder, os.fspath(path))

    def __repr__(self) -> str:
        return f"<raddle.Store {self.folder}: {len(self)} results>"
