"""The table for late rows; the workers write its files (`late.py`).

In: the name of a table. Out: the folder of its files. A missing table is created, as Parquet. A catalog in memory, as
that of the command line, forgets its tables when the process ends, but not their files: if the folder exists, the
table is created over it, so that a restarted query goes on with the same files.
"""

from __future__ import annotations

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from cepheid.errors import CepheidError
from cepheid.schema import Schema
from cepheid.spark.session import first_line
from cepheid.spark.streams import column

THERE = "LOCATION_ALREADY_EXISTS"


def late_table(session: SparkSession, name: str, rows: DataFrame, schema: Schema) -> str:
    """The folder of a table's files; the table is created if it does not exist."""
    columns = rows.select(*(column(own).alias(own) for own in schema.names)).schema
    try:
        if not session.catalog.tableExists(name):
            _make(session, name, columns)
        _check_columns(name, session.table(name).schema, columns)
        session.catalog.refreshTable(name)  # which files it has was kept just now, and will change
        return _location(session, name)
    except PySparkException as error:
        message = f"late rows cannot be written to the table `{name}`: {first_line(str(error))}"
        hint = 'name another table, or a folder: late="out/late"'
        raise CepheidError("bad-argument", message, hint=hint) from error


def _make(session: SparkSession, name: str, columns: StructType) -> None:
    try:
        session.createDataFrame([], columns).write.format("parquet").saveAsTable(name)
    except PySparkException as error:
        if THERE not in str(error):
            raise
        folder = _default_folder(session, name)
        _check_columns(name, session.read.parquet(folder).schema, columns)
        session.catalog.createTable(name, path=folder, source="parquet", schema=columns)


def _default_folder(session: SparkSession, name: str) -> str:
    """Where Spark puts the files of a table that is made without a place."""
    *database, table = (part.strip("`") for part in name.split("."))
    found = session.catalog.getDatabase(".".join(database) or session.catalog.currentDatabase())
    return f"{found.locationUri.rstrip('/')}/{table.lower()}"


def _check_columns(name: str, found: StructType, columns: StructType) -> None:
    has, needs = ([(field.name, field.dataType) for field in types.fields] for types in (found, columns))
    if sorted(has, key=str) != sorted(needs, key=str):
        shown = ", ".join(f"{own} {dtype.simpleString()}" for own, dtype in has)
        message = f"the table `{name}` for late rows has other columns than the events: {shown}"
        raise CepheidError("bad-argument", message, hint="name a table that does not exist yet, or a folder")


def _location(session: SparkSession, name: str) -> str:
    described = session.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    properties = {row["col_name"]: row["data_type"] for row in described}
    kind, location = str(properties.get("Provider")), str(properties.get("Location", ""))
    if kind.lower() != "parquet" or not location:
        message = f"late rows can be written to a table of Parquet files; `{name}` is of {kind}"
        raise CepheidError("bad-argument", message, hint="name a table that does not exist yet, or a folder")
    return location if "://" in location else location.replace("file:/", "file:///")
