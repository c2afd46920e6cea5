"""CSV, TSV, JSON lines and Parquet as tables; all but Parquet also compressed (.gz, .xz, .bz2, .zip)."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from attnvat.corpora.archive import readable
from attnvat.corpora.bad_rows import BadRows
from attnvat.corpora.table import Row, Table
from attnvat.errors import UserError
from attnvat.storage import COMPRESSIONS, open_binary

NOT_UTF8 = "not UTF-8"
RAGGED = "ragged"
LONGEST_FIELD = 10_000_000
QUOTED = re.compile(r'"((?:[^"]|"")*)"', re.DOTALL)
Record = tuple[int, list[str]]
"""The line a record starts on, and its fields."""


def file_format(path: Path) -> str:
    """The file's ending without that of its compression: `csv` for `reviews.CSV.gz`."""
    name = path.name.lower()
    for compression in COMPRESSIONS:
        name = name.removesuffix(compression)
    return name.rpartition(".")[2] if "." in name else ""


def open_table(path: Path) -> Table:
    """The file as a table, by the ending of its name."""
    with readable(path):
        if path.stat().st_size == 0:
            raise UserError(f"{path}: empty file")
    if file_format(path) in ("jsonl", "ndjson"):
        return _json_table(path)
    if file_format(path) == "parquet":
        return _parquet_table(path)
    if file_format(path) in ("csv", "tsv", "tab"):
        return _delimited_table(path)
    raise UserError(f"{path}: cannot tell its format; name it .csv, .tsv, .jsonl or .parquet, or give a folder")


def utf8(text: str) -> bool:
    """Whether text decoded with `surrogateescape` was UTF-8 throughout."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _delimited_table(path: Path) -> Table:
    delimiter = _delimiter(path)
    records = _records(path, delimiter, BadRows(skip=True))
    first = list(islice(records, 2))
    if not first:
        raise UserError(f"{path}: no row in it")
    header = [field.strip() for field in first[0][1]]
    has_header = _is_header(header)
    if has_header and len(set(header)) < len(header):
        raise UserError(f"{path}: line {first[0][0]}: two columns have the same name; rename one")
    if has_header and len(first) == 1:
        raise UserError(f"{path}: a header but no rows")
    columns = tuple(header) if has_header else tuple(str(place + 1) for place in range(len(header)))

    def read(bad: BadRows) -> Iterator[Row]:
        for line, fields in islice(_records(path, delimiter, bad), int(has_header), None):
            if len(fields) != len(columns):
                quote = "a text holding the separator must be in quotes"
                detail = f"{len(fields)} fields where the first row has {len(columns)}; {quote}"
                bad.add(f"{path}: line {line}", RAGGED, detail)
            elif not utf8("".join(fields)):
                bad.add(f"{path}: line {line}", NOT_UTF8, "save the file as UTF-8")
            else:
                yield Row(f"line {line}", dict(zip(columns, fields, strict=True)))

    return Table(str(path), columns, read)


def _records(path: Path, delimiter: str, bad: BadRows) -> Iterator[Record]:
    """The records with any field, each with the line it starts on; a quoted text may go over several lines."""
    csv.field_size_limit(LONGEST_FIELD)
    with readable(path), open_binary(path) as binary:
        lines = io.TextIOWrapper(binary, encoding="utf-8-sig", errors="surrogateescape", newline="")
        if delimiter == "\t":
            # Tab-separated files seldom quote: a quotation mark that opens a text must not swallow its lines.
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, [_unquoted(field) for field in line.rstrip("\r\n").split("\t")]
            return
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        while True:
            start = reader.line_num + 1
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                hint = "a quotation mark is not closed or not doubled"
                bad.add(f"{path}: line {start}", RAGGED, f"{error}; {hint}, up to line {reader.line_num}")
                continue
            if any(map(str.strip, fields)):
                yield start, fields


def _unquoted(field: str) -> str:
    found = QUOTED.fullmatch(field)
    return found[1].replace('""', '"') if found else field


def _delimiter(path: Path) -> str:
    """What separates the fields: a tab in .tsv; in .csv the mark its first line has most of."""
    with readable(path), open_binary(path) as handle:
        start = handle.readline(1_000_000)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UserError(f"{path}: is UTF-16; save it as UTF-8")
    if file_format(path) in ("tsv", "tab"):
        return "\t"
    outside_quotes = QUOTED.sub("", start.decode("utf-8", "surrogateescape"))
    return max(",;\t|", key=outside_quotes.count)


def _is_header(fields: list[str]) -> bool:
    """Whether the first row names columns: names are short, not numbers and not missing."""
    return all(field and len(field.split()) <= 3 and not _number(field) for field in fields)


def _number(field: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.\d+)?", field) is not None


def _json_table(path: Path) -> Table:
    def read(bad: BadRows) -> Iterator[Row]:
        with readable(path), open_binary(path) as handle:
            for number, line in enumerate(handle, 1):
                where = f"{path}: line {number}"
                if not line.strip():
                    continue
                try:
                    value = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
                except UnicodeDecodeError:
                    bad.add(where, NOT_UTF8, "save the file as UTF-8")
                    continue
                except (ValueError, RecursionError) as error:
                    bad.add(where, "not JSON", str(error))
                    continue
                if isinstance(value, dict):
                    yield Row(f"line {number}", value)
                else:
                    bad.add(where, "not a JSON object", 'each line must be one, as {"text": "…", "label": "…"}')

    heads = list(islice(read(BadRows(skip=True)), 200))
    if not heads:
        raise UserError(f"{path}: no line in it is a JSON object; each must be one")
    columns = tuple(dict.fromkeys(chain.from_iterable(row.values for row in heads)))
    return Table(str(path), columns, read)


def _parquet_table(path: Path) -> Table:
    def read(_: BadRows) -> Iterator[Row]:
        number = 0
        try:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches():
                    for values in batch.to_pylist():
                        number += 1
                        yield Row(f"row {number}", values)
        except (pa.ArrowException, OSError) as error:
            raise _damaged(path, error) from error

    try:
        with pq.ParquetFile(path) as file:
            return Table(str(path), tuple(file.schema_arrow.names), read)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> UserError:
    return UserError(f"{path}: not a Parquet file, or damaged ({str(error).splitlines()[0]}); write it again")
