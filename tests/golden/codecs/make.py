#!/usr/bin/env python3
"""Writes the golden vectors of the lossy codecs next to itself; shares no code with the library.

The files pin wire format version 1: run this again only for a codec that is new. It was run once more when
groups with more than N values that are not finite got a mask of their own (compress/nm/README.md)."""
import pathlib

SIZES = {"fp16": 2, "bf16": 2, "fp32": 4, "fp64": 8}
INFINITY = {"fp16": 0x7C00, "bf16": 0x7F80, "fp32": 0x7F800000, "fp64": 0x7FF0000000000000}
ONE = {"fp16": 0x3C00, "bf16": 0x3F80, "fp32": 0x3F800000, "fp64": 0x3FF0000000000000}
SHAPES = {"1:4": (1, 4), "2:4": (2, 4), "1:8": (1, 8), "2:8": (2, 8), "4:8": (4, 8), "1:16": (1, 16)}
SMALL_COUNTS = [1, 2, 3, 4, 5, 31, 32, 33]
BLOCK_COUNTS = [511, 512, 513]


def numbers(seed):
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 16


def elements(kind, count):
    """Every third element any bits, the others chosen to tie or to be special."""
    bits = 8 * SIZES[kind]
    inf, one = INFINITY[kind], ONE[kind]
    special = [0, 1, one, one, one + 1, inf - 1, inf, inf + 1, (1 << (bits - 1)) - 1]
    source = numbers(count)
    out = []
    for i in range(count):
        draw = next(source)
        sign = (draw >> 40 & 1) << (bits - 1)
        if i % 3 == 0:
            out.append((draw * 0x9E3779B97F4A7C15) >> 8 & ((1 << bits) - 1))
        else:
            out.append(sign | special[draw % len(special)])
    return out


def to_bytes(kind, values):
    return b"".join(v.to_bytes(SIZES[kind], "little") for v in values)


def encode_nm(kind, values, keep, group):
    sign = 1 << (8 * SIZES[kind] - 1)
    out = b""
    for start in range(0, len(values), 512):
        block = values[start : start + 512]
        whole = len(block) // group * group
        mask, kept = 0, []
        for g in range(0, whole, group):
            order = sorted(range(g, g + group), key=lambda i: (-(block[i] & ~sign), i))
            if sum(block[i] & ~sign >= INFINITY[kind] for i in order) > keep:
                mask |= (2**group - 1) << g
            for i in sorted(order[:keep]):
                mask |= 1 << i
                kept.append(block[i])
        out += mask.to_bytes((whole + 31) // 32 * 4, "little")
        out += to_bytes(kind, kept + block[whole:])
    return out


def encode_bf16(values):
    out = b""
    for v in values:
        if v & 0x7FFFFFFF > 0x7F800000:
            rounded = v >> 16 | 0x40
        else:
            rounded = (v + 0x7FFF + (v >> 16 & 1)) >> 16
        out += rounded.to_bytes(2, "little")
    return out


def write(name, lines):
    path = pathlib.Path(__file__).with_name(name)
    path.write_text("# type, plain elements, encoding: bytes in hex\n" + "\n".join(lines) + "\n")


def main():
    for codec, (keep, group) in SHAPES.items():
        lines = []
        for kind in SIZES:
            for count in SMALL_COUNTS + (BLOCK_COUNTS if kind in ("fp16", "fp32") else []):
                values = elements(kind, count)
                encoding = encode_nm(kind, values, keep, group)
                lines.append(f"{kind} {to_bytes(kind, values).hex()} {encoding.hex()}")
        write(codec.replace(":", "_") + ".txt", lines)
    counts = SMALL_COUNTS + BLOCK_COUNTS
    lines = []
    for count in counts:
        values = elements("fp32", count)
        lines.append(f"fp32 {to_bytes('fp32', values).hex()} {encode_bf16(values).hex()}")
    write("bf16.txt", lines)


main()
