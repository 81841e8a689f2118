"""Files as Arrow batches: their schema first, then the rows of some columns, a piece at a time.

In: paths and perhaps a format. Out: `Files`. Parquet, ORC and Arrow files have types; those of CSV and JSON are
inferred from all values (`inference.py`). CSV has a header; an empty field is NULL, a quoted empty one is empty text.
JSON has one object per line; a text column at the top level whose values are all dates or timestamps has that type.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cepheid.errors import CepheidError, quoted
from cepheid.files.formats import FORMATS, files_of, format_of, is_local
from cepheid.files.inference import TIMES, united, widened
from cepheid.schema import require_column

ROWS = 1 << 16  # of a batch
_BLOCK = 4 << 20  # bytes of JSON that are parsed at once
ONE_PER_LINE = "JSON has one object per line"


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one format. `schema` has the types that `batches` gives."""

    paths: tuple[str, ...]
    format: str
    schema: pa.Schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, file by file, of these columns."""
        match self.format:
            case "csv":
                return _csv_batches(files_of(self.paths), self.schema, columns)
            case "json":
                return _json_batches(files_of(self.paths), self.schema, columns)
            case _:
                return scanned(_dataset(self.paths, self.format), columns)


def open_path(path: str | os.PathLike[str], format: str | None = None) -> Files:
    """A file, a folder, or the files that a pattern such as `ticks/*.parquet` fits."""
    return open_files([os.fspath(path)], format)


def open_files(paths: Sequence[str], format: str | None = None) -> Files:
    """Files of one format, by their endings unless it is given."""
    format = format or format_of(paths[0])
    if format not in FORMATS:
        hint = f"there are {quoted(sorted(FORMATS))}"
        raise CepheidError("bad-argument", f"`{format}` is no format that is read here", hint=hint)
    try:
        return Files(tuple(paths), format, _schema(paths, format))
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise CepheidError("bad-argument", f"{error.filename}: {error.strerror}") from error
        message = f"{paths[0]} cannot be read as {format}: {error}"
        raise CepheidError("bad-data", message, hint=ONE_PER_LINE if format == "json" else None) from error


def scanned(dataset: Any, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of a pyarrow dataset, in the order of its files. A scanner reads ahead up to a gigabyte, so each file,
    in Parquet each row group, has its own: no more than that is in memory."""
    from pyarrow import dataset as ds

    wanted = {name: ds.field(name) for name in columns}  # a list of names may be read as paths into structs
    for fragment in dataset.get_fragments():
        is_parquet = isinstance(fragment, ds.ParquetFileFragment)
        # A Parquet file's buffers would be kept until its end.
        how = {"fragment_scan_options": ds.ParquetFragmentScanOptions(pre_buffer=False)} if is_parquet else {}
        for part in fragment.split_by_row_group() if is_parquet else [fragment]:
            yield from part.to_batches(schema=dataset.schema, columns=wanted, batch_size=ROWS, **how)


def _schema(paths: Sequence[str], format: str) -> pa.Schema:
    match format:
        case "csv":
            return _csv_schema(files_of(paths))
        case "json":
            return _json_schema(files_of(paths))
        case _:
            return _dataset(paths, format).schema


def _dataset(paths: Sequence[str], format: str) -> Any:
    from pyarrow import dataset as ds

    if not is_local(paths[0]):
        return ds.dataset(paths[0], format=format, partitioning="hive")
    files = files_of(paths)
    folder = len(paths) == 1 and os.path.isdir(paths[0])
    return ds.dataset(paths[0] if folder else files, format=format, partitioning="hive")


def csv_header(file: str) -> list[str]:
    """The names of the columns of a CSV file."""
    from pyarrow import csv

    with csv.open_csv(file) as reader:
        names: list[str] = reader.schema.names
    return names


def _csv_open(file: str, types: dict[str, pa.DataType], columns: Sequence[str]) -> Any:
    from pyarrow import csv

    return csv.open_csv(
        file,
        convert_options=csv.ConvertOptions(
            column_types=types,
            include_columns=list(columns),
            null_values=[""],
            true_values=["true", "True", "TRUE"],
            false_values=["false", "False", "FALSE"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _csv_schema(files: list[str]) -> pa.Schema:
    names = csv_header(files[0])
    if len(set(names)) < len(names):  # `schema_of` says which
        return pa.schema([(name, pa.string()) for name in names])
    types = dict.fromkeys(names, pa.null())
    for file in files:
        _check_header(file, names, files[0])
        with _csv_open(file, dict.fromkeys(names, pa.string()), names) as reader:
            for batch in reader:
                for name in names:
                    types[name] = widened(types[name], batch[name])
    return pa.schema([(name, _or_text(dtype)) for name, dtype in types.items()])


def _check_header(file: str, names: list[str], first: str) -> None:
    if (found := csv_header(file)) != names:
        message = f"{file} has the columns {', '.join(found)}, but {first} has {', '.join(names)}"
        raise CepheidError("bad-data", message, hint="files that are read together have the same header")


def _csv_batches(files: list[str], schema: pa.Schema, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    for file in files:
        with _csv_open(file, {name: schema.field(name).type for name in columns}, columns) as reader:
            yield from reader


def _or_text(dtype: pa.DataType) -> pa.DataType:
    """The type of a column; text where there was no value."""
    return pa.string() if pa.types.is_null(dtype) else dtype


def _json_schema(files: list[str]) -> pa.Schema:
    types: dict[str, pa.DataType] = {}
    texts: dict[str, pa.DataType] = {}
    for file in files:
        for table in _json_tables(file, texts):
            for name, column in zip(table.column_names, table.columns, strict=True):
                known = types.get(name, pa.null())
                if pa.types.is_string(column.type):
                    dtype = widened(pa.null(), column.combine_chunks(), times_only=True)
                else:
                    dtype = _without_times(column.type)
                types[name] = _united_json(name, known, dtype)
    if not types:
        raise CepheidError("bad-data", f"{files[0]} holds no objects", hint=ONE_PER_LINE)
    return pa.schema([(name, _filled(dtype)) for name, dtype in types.items()])


def _united_json(name: str, one: pa.DataType, other: pa.DataType) -> pa.DataType:
    if not pa.types.is_nested(one) and not pa.types.is_nested(other):
        dtype = united(one, other)
        if dtype == pa.string() and not (_is_text(one) and _is_text(other)):
            raise CepheidError("bad-data", f"column `{name}` holds values of type {one} and of type {other}")
        return dtype
    try:
        schemas = [pa.schema([(name, dtype)]) for dtype in (one, other)]
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowException as error:
        message = f"column `{name}` holds values of type {one} and of type {other}"
        raise CepheidError("bad-data", message) from error


def _is_text(dtype: pa.DataType) -> bool:
    """Whether values of this type are text in JSON; also if there are none."""
    return bool(pa.types.is_null(dtype) or pa.types.is_string(text_of_time(dtype)))


def _without_times(dtype: pa.DataType) -> pa.DataType:
    """The type with text for times inside of nested values."""
    if pa.types.is_timestamp(dtype):
        return pa.string()
    return _nested(dtype, _without_times)


def _filled(dtype: pa.DataType) -> pa.DataType:
    return _nested(_or_text(dtype), _filled)


def _nested(dtype: pa.DataType, change: Any) -> pa.DataType:
    if pa.types.is_struct(dtype):
        return pa.struct([pa.field(field.name, change(field.type)) for field in dtype])
    if pa.types.is_list(dtype):
        return pa.list_(change(dtype.value_type))
    return dtype


def _json_tables(file: str, texts: dict[str, pa.DataType]) -> Iterator[pa.Table]:
    """The objects of a file, a piece at a time. A column whose text pyarrow reads as times is added to `texts` and read
    again as text."""
    from pyarrow import json

    for block in _lines(file):
        while True:
            options = json.ParseOptions(
                explicit_schema=pa.schema(list(texts.items())), unexpected_field_behavior="infer"
            )
            table = _json_table(block, options)
            found = {
                field.name: _without_times(field.type)
                for field in table.schema
                if _without_times(field.type) != field.type
            }
            if not found:
                break
            texts.update(found)
        names = [
            name for name in table.column_names if name not in texts or table[name].null_count < len(table)
        ]
        yield table.select(names)


def _json_table(block: bytes, options: Any) -> pa.Table:
    from pyarrow import json

    return json.read_json(pa.BufferReader(block), json.ReadOptions(block_size=len(block) + 1), options)


def _lines(file: str) -> Iterator[bytes]:
    """The file in pieces that end with a line."""
    with pa.input_stream(file, compression="detect") as stream:
        rest = b""
        while block := stream.read(_BLOCK):
            whole, newline, tail = block.rpartition(b"\n")
            if not newline:
                rest += tail
                continue
            if (rest + whole).strip():
                yield rest + whole + newline
            rest = tail
        if rest.strip():
            yield rest


def _json_batches(files: list[str], schema: pa.Schema, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    from pyarrow import json

    wanted = pa.schema([schema.field(name) for name in columns])
    read = pa.schema([(field.name, text_of_time(field.type)) for field in wanted])
    options = json.ParseOptions(explicit_schema=read, unexpected_field_behavior="ignore")
    for file in files:
        for block in _lines(file):
            table = _json_table(block, options)
            yield from table.select(list(columns)).cast(wanted).to_batches()


def text_of_time(dtype: pa.DataType) -> pa.DataType:
    """The type of such a column in JSON."""
    return pa.string() if dtype in TIMES or pa.types.is_timestamp(dtype) else dtype


def time_as_text(files: Files, time: str) -> pa.DataType:
    """The type of the texts of a time column: a date or a timestamp if all of them are, else text."""
    require_column(files.schema.names, time, "time")
    dtype = pa.null()
    for batch in files.batches([time]):
        dtype = widened(dtype, batch[time].cast(pa.string()), times_only=True)
        if pa.types.is_string(dtype):
            break
    return _or_text(dtype)
