"""The float formats, for what writes golden vectors."""
import math
import struct

SIZES = {"fp16": 2, "bf16": 2, "fp32": 4, "fp64": 8}
INFINITY = {"fp16": 0x7C00, "bf16": 0x7F80, "fp32": 0x7F800000, "fp64": 0x7FF0000000000000}
ONE = {"fp16": 0x3C00, "bf16": 0x3F80, "fp32": 0x3F800000, "fp64": 0x3FF0000000000000}


def to_bytes(kind, values):
    return b"".join(v.to_bytes(SIZES[kind], "little") for v in values)


def value(kind, bits):
    if kind == "bf16":
        return value("fp32", bits << 16)
    return struct.unpack({"fp16": "<e", "fp32": "<f", "fp64": "<d"}[kind], bits.to_bytes(SIZES[kind], "little"))[0]


def rounded_to(kind):
    """What rounds a result of fp64 to what the type is calculated in. Of one operation on fp32 this is its result."""
    if kind == "fp64":
        return lambda number: number

    def to_fp32(number):
        try:
            return struct.unpack("<f", struct.pack("<f", number))[0]
        except OverflowError:
            return math.copysign(math.inf, number)

    return to_fp32


def nearest(kind, number):
    """The bits of the value of the type that is nearest; Inf if there is none."""
    if kind == "bf16":
        bits = int.from_bytes(struct.pack("<f", number), "little")
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    try:
        return int.from_bytes(struct.pack({"fp16": "<e", "fp32": "<f", "fp64": "<d"}[kind], number), "little")
    except OverflowError:
        return INFINITY[kind] | (1 << (8 * SIZES[kind] - 1) if number < 0 else 0)
