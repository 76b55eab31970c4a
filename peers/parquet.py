"""Writes Parquet files without a library: numbers in columns that none is missing from, not compressed, a page per group of rows."""

import struct

INT32, FLOAT = 1, 4
DATA_PAGE = PLAIN = REQUIRED = UNCOMPRESSED = 0
RLE = 3


def write(path, columns, rows_per_group):
    """`columns` are arrays of one length, by their names: `array("f", …)` or `array("i", …)`."""
    rows = len(next(iter(columns.values())))
    kinds = {name: FLOAT if column.typecode == "f" else INT32 for name, column in columns.items()}
    with open(path, "wb") as file:
        file.write(b"PAR1")
        groups = []
        for first in range(0, rows, rows_per_group):
            chunks, start = [], file.tell()
            for name, column in columns.items():
                part = column[first:first + rows_per_group]
                page, at = part.tobytes(), file.tell()
                file.write(thrift({1: DATA_PAGE, 2: len(page), 3: len(page), 5: {1: len(part), 2: PLAIN, 3: RLE, 4: RLE}}))
                file.write(page)
                size = file.tell() - at
                chunks.append({2: Long(at), 3: {1: kinds[name], 2: [PLAIN], 3: [name], 4: UNCOMPRESSED, 5: Long(len(part)),
                                                6: Long(size), 7: Long(size), 9: Long(at)}})
            groups.append({1: chunks, 2: Long(file.tell() - start), 3: Long(len(part))})
        schema = [{4: "rows", 5: len(columns)}, *({1: kind, 3: REQUIRED, 4: name} for name, kind in kinds.items())]
        footer = thrift({1: 1, 2: schema, 3: Long(rows), 4: groups})
        file.write(footer + struct.pack("<I", len(footer)) + b"PAR1")


class Long(int):
    """An integer of 64 bits."""


def thrift(value):
    """A value in Thrift's compact protocol; a struct is a dictionary from the numbers of its fields, in order."""
    if isinstance(value, dict):
        out, before = b"", 0
        for number, field in value.items():
            out += bytes([(number - before) << 4 | kind(field)]) + thrift(field)
            before = number
        return out + b"\0"
    if isinstance(value, list):
        head = bytes([len(value) << 4 | kind(value[0])]) if len(value) < 15 else bytes([0xF0 | kind(value[0])]) + varint(len(value))
        return head + b"".join(map(thrift, value))
    if isinstance(value, str):
        return varint(len(value)) + value.encode()
    return varint(2 * value if value >= 0 else -2 * value - 1)


def kind(value):
    return {Long: 6, int: 5, str: 8, list: 9, dict: 12}[type(value)]


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])
