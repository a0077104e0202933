#!/usr/bin/env python3
"""Writes the golden vectors of the lossy codecs next to itself; shares no code with the library.

The files pin wire format version 1: run this again only for a codec that is new. It was run once more when
groups with more than N values that are not finite got a mask of their own (compress/nm/README.md)."""
import math
import pathlib
import struct

from escaping import encode_any_width, encode_escaping
from formats import INFINITY, ONE, SIZES, nearest, rounded_to, to_bytes, value

SHAPES = {"1:4": (1, 4), "2:4": (2, 4), "1:8": (1, 8), "2:8": (2, 8), "4:8": (4, 8), "1:16": (1, 16)}
SMALL_COUNTS = [1, 2, 3, 4, 5, 31, 32, 33]
BLOCK_COUNTS = [511, 512, 513]
CODE_BITS = {"int8": 8, "int4": 4, "int16": 16}
CHAINS = {"2:4+int8": (2, 8), "1:4+int8": (1, 8), "2:4+int4": (2, 4)}
TOLERANCES = [0.001, 0.25]
RELATIVE_TOLERANCE = 0.05
SEED = 7


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


def packed_masks(masks):
    """Three bits a group; the last four of sixteen words lie in the fourth bits of the others."""
    words = struct.unpack("<16I", masks)
    out = []
    for k in range(3):
        for word, last in zip(words[4 * k : 4 * k + 4], words[12:]):
            out.append(word & 0x77777777 | (last >> k & 0x11111111) << 3)
    return struct.pack("<12I", *out)


def encode_chain(kind, values, keep, bits):
    out = b""
    for start in range(0, len(values), 512):
        block = values[start : start + 512]
        chosen = encode_nm(kind, block, keep, 4)
        size = SIZES[kind]
        mask_bytes = (len(block) // 4 * 4 + 31) // 32 * 4
        masks, kept = chosen[:mask_bytes], chosen[mask_bytes:]
        out += packed_masks(masks) if len(block) == 512 else masks
        out += encode_quantized(kind, [int.from_bytes(kept[at : at + size], "little") for at in range(0, len(kept), size)], bits)
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


def moderate(kind, count):
    """Finite values of both signs around 1, of one sign from count 33 up; now and then 0."""
    one = ONE[kind]
    source = numbers(count)
    out = []
    for _ in range(count):
        draw = next(source)
        fraction = {"fp16": 10, "bf16": 7, "fp32": 23, "fp64": 52}[kind]
        bits = one - (draw % 4 << fraction) | draw >> 8 & ((1 << fraction) - 1) if draw % 16 else 0
        sign = 0 if count >= 33 else draw >> 44 & 1
        out.append(sign << (8 * SIZES[kind] - 1) | bits)
    return out


def encode_quantized_block(kind, block, bits, by_chance=False):
    r = rounded_to(kind)
    values = [value(kind, v) for v in block]
    finite = [v for v in values if math.isfinite(v)]
    special = len(finite) < len(values)
    first, last = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    nan, minus_inf, plus_inf = first, first + 1, last
    if special:
        first, last = first + 2, last - 1
    outermost = first, last
    if by_chance:
        first, last = first + 1, last - 1
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    scale, inverse, offset = 0.0, 0.0, low + 0.0
    if low < high:
        smallest = 2.0**-1022 if kind == "fp64" else 2.0**-126
        scale = max(r(r(high / 2 - low / 2) / ((last - first) / 2)), smallest)
        inverse = r(1 / scale)
        if low <= 0 <= high:
            offset = 0.0 - r((first - round(r(low * inverse))) * scale)
        else:
            offset = r(low - r(first * scale))
    codes = []
    for place, v in enumerate(values):
        if math.isnan(v):
            codes.append(nan)
        elif math.isinf(v):
            codes.append(plus_inf if v > 0 else minus_inf)
        else:
            steps = min(max(r(r(v - offset) * inverse), outermost[0]), outermost[1])
            rest = steps - round(steps)
            moves = by_chance and v != 0 and chance(kind, v, place) < abs(rest)
            codes.append(round(steps) + (int(math.copysign(1, rest)) if moves else 0))
    letter = "<dd" if kind == "fp64" else "<ff"
    packed = sum((code & (2**bits - 1)) << (bits * i) for i, code in enumerate(codes))
    return struct.pack(letter, -scale if special else scale, offset) + packed.to_bytes((len(codes) * bits + 7) // 8, "little")


def encode_quantized(kind, values, bits):
    return b"".join(encode_quantized_block(kind, values[at : at + 256], bits) for at in range(0, len(values), 256))


def curve(kind, count):
    """Close to its neighbours; all but the same from count 33 up."""
    size = 0.0004 if count == 33 else 3.0
    return [nearest(kind, 1.5 + size * math.sin(i / 40) + i % 3 * 1e-4) for i in range(count)]


def packed_lanes(codes, width):
    """Element i is the (i // 16)th of lane i % 16; a lane's words lie 16 words apart."""
    words = (-(-len(codes) // 16) * width + 31) // 32
    lanes = [0] * 16
    for i, code in enumerate(codes):
        lanes[i % 16] |= code << (i // 16 * width)
    return b"".join((lane >> 32 * word & 0xFFFFFFFF).to_bytes(4, "little") for word in range(words) for lane in lanes)


def step_for(kind, most, tolerance):
    """The largest one that keeps the tolerance whatever is rounded; 0.0 if there is none."""
    wide = kind == "fp64"
    u = 2.0**-53 if wide else 2.0**-24
    fraction, smallest = {"fp16": (10, 2.0**-25), "bf16": (7, 2.0**-134)}.get(kind, (None, None))
    narrowing = 0.0
    if fraction is not None:
        narrowing = min(max(2.0 ** (math.frexp(most + tolerance)[1] - 2 - fraction), smallest), tolerance / 2)
    step = 2 * (tolerance - narrowing - 4 * u * most) * (1 - 16 * u)
    if step < (2.0**-1022 if wide else 2.0**-126) or most > step * (2.0**30 if wide else 2.0**20):
        return 0.0
    return rounded_to(kind)(step)


def bits_of(span):
    return max(1, span.bit_length())


def encode_bounded_block(kind, block, tolerance):
    r = rounded_to(kind)
    wide = kind == "fp64"
    number = "<d" if wide else "<f"
    plain = struct.pack("<I", 0xFF) + to_bytes(kind, block)
    values = [value(kind, v) for v in block]

    def encoding(width, differences, start, step, least, codes):
        word = width | (0x40 if differences else 0)
        head = struct.pack("<Ii", word, start) if wide else struct.pack("<I", word | (start & 0xFFFFFF) << 8)
        tail = struct.pack("<i", least) if differences else b""
        return head + struct.pack(number, step) + tail + (packed_lanes(codes, width) if width else b"")

    constant = encoding(0, False, 0, 0.0, 0, [])
    if not all(map(math.isfinite, values)) or len(constant) >= len(plain):
        return plain
    limit = r(tolerance * (1 - 4 * (2.0**-53 if wide else 2.0**-24)))
    low, high = min(values), max(values)

    def holds(middle):
        return abs(r(low - middle)) <= limit and abs(r(high - middle)) <= limit

    def sent(number_):
        return value(kind, nearest(kind, number_))

    if low == high:
        return encoding(0, False, 0, low + 0.0, 0, [])
    if holds(0.0):
        return constant
    middle = sent(r(low + r(r(high - low) / 2)))
    if (low > 0 or high < 0) and holds(middle):
        return encoding(0, False, 0, middle, 0, [])
    step = step_for(kind, max(abs(low), abs(high)), tolerance)
    if step == 0:
        return plain
    inverse = r(1 / step)
    codes = [round(r(v * inverse)) for v in values]
    if any(abs(r(v - sent(r(code * step)))) > limit for v, code in zip(values, codes)):
        return plain
    lowest = min(codes)
    width = bits_of(max(codes) - lowest)
    normal = encoding(width, False, lowest, step, 0, [code - lowest for code in codes])
    if len(normal) >= len(plain):
        return plain
    before = 2 * codes[0] - codes[1]
    changes = [code - last for code, last in zip(codes, [before] + codes)]
    least = min(changes)
    short = bits_of(max(changes) - least)
    if width < 32 and bits_of(max(changes[:64]) - min(changes[:64])) < width:
        other = encoding(short, True, before, step, least, [change - least for change in changes])
        return min(normal, other, key=len)
    return normal


def encode_bounded(kind, values, tolerance):
    return b"".join(encode_bounded_block(kind, values[at : at + 512], tolerance) for at in range(0, len(values), 512))


def chance(kind, number, place):
    """From 0 to 1: of the seed, the bits of the value as it is calculated with, and its place in the block."""
    low = 2**32 - 1
    mixed = int.from_bytes(struct.pack("<d" if kind == "fp64" else "<f", number), "little")
    if kind == "fp64":
        mixed = (mixed ^ (mixed >> 32) * 0x9E3779B1) & low
    mixed ^= (place * 0x85EBCA6B + SEED * 0x9E3779B1) & low
    mixed = (mixed ^ mixed >> 16) * 0x7FEB352D & low
    mixed = (mixed ^ mixed >> 15) * 0x846CA68B & low
    mixed ^= mixed >> 16
    return mixed / 2**32 + 2.0**-33 if kind == "fp64" else (mixed >> 9) / 2**23 + 2.0**-24


def encode_dithered(kind, values, bits):
    """As encode_quantized, but over two codes fewer, and rounded to a neighbour of the nearest code by chance."""
    out = b""
    for at in range(0, len(values), 256):
        out += encode_quantized_block(kind, values[at : at + 256], bits, by_chance=True)
    return out


def with_outliers(kind, count):
    """Moderate values; every hundredth is far out, or -0, or not finite."""
    odd = [nearest(kind, 1000.0), nearest(kind, -0.0), INFINITY[kind], 1, nearest(kind, -3e4)]
    return [odd[i // 100 % 5] if i % 100 == 7 else v for i, v in enumerate(moderate(kind, count))]


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
    for codec, bits in CODE_BITS.items():
        lines = []
        for kind in SIZES if bits < 16 else ["fp32", "fp64"]:
            for make, counts in (elements, SMALL_COUNTS), (moderate, SMALL_COUNTS), (moderate, [255, 256, 257]):
                for count in counts:
                    values = make(kind, count)
                    lines.append(f"{kind} {to_bytes(kind, values).hex()} {encode_quantized(kind, values, bits).hex()}")
            values = elements(kind, 513)
            lines.append(f"{kind} {to_bytes(kind, values).hex()} {encode_quantized(kind, values, bits).hex()}")
        write(codec + ".txt", lines)
    for codec, (keep, bits) in CHAINS.items():
        lines = []
        for kind in SIZES:
            few = [3, 5, 33, 513]
            for make, counts in (elements, few), (moderate, few + BLOCK_COUNTS[:2] if kind in ("fp16", "fp32") else few):
                for count in counts:
                    values = make(kind, count)
                    lines.append(f"{kind} {to_bytes(kind, values).hex()} {encode_chain(kind, values, keep, bits).hex()}")
        write(codec.replace(":", "_").replace("+", "_") + ".txt", lines)
    for tolerance in TOLERANCES:
        lines = []
        for kind in SIZES:
            few, many = SMALL_COUNTS + [100], [512, 513]
            for make, counts in (elements, [3, 33, 513]), (moderate, few + many), (curve, few + many):
                for count in counts:
                    values = make(kind, count)
                    lines.append(f"{kind} {to_bytes(kind, values).hex()} {encode_bounded(kind, values, tolerance).hex()}")
        write(f"bound_abs_{tolerance}.txt", lines)
    for tolerance in TOLERANCES:
        lines = []
        for kind in SIZES:
            few = [1, 5, 33, 100]
            for make, counts in (elements, [3, 33, 513]), (moderate, few + [512]), (curve, few + [512]), (with_outliers, few + [513]):
                for count in counts:
                    values = make(kind, count)
                    lines.append(f"{kind} {to_bytes(kind, values).hex()} {encode_any_width(kind, values, tolerance).hex()}")
        write(f"int_abs_{tolerance}.txt", lines)
    for codec, bits in CODE_BITS.items():
        kinds = SIZES if bits < 16 else ["fp32", "fp64"]
        told = {f"abs_{tolerance}": {"tolerance": tolerance} for tolerance in TOLERANCES}
        told[f"rel_{RELATIVE_TOLERANCE}"] = {"relative": RELATIVE_TOLERANCE}
        for name, parameters in told.items():
            lines = []
            for kind in kinds:
                few = [1, 5, 33, 100]
                for make, counts in (elements, [3, 33, 513]), (moderate, few + [512]), (curve, few), (with_outliers, few + [513]):
                    for count in counts:
                        values = make(kind, count)
                        lines.append(f"{kind} {to_bytes(kind, values).hex()} {encode_escaping(kind, values, bits, **parameters).hex()}")
            write(f"{codec}_{name}.txt", lines)
        lines = []
        for kind in kinds:
            for make, counts in (elements, [3, 33, 300]), (moderate, [1, 5, 33, 100, 257]):
                for count in counts:
                    values = make(kind, count)
                    lines.append(f"{kind} {to_bytes(kind, values).hex()} {encode_dithered(kind, values, bits).hex()}")
        write(f"{codec}_seed_{SEED}.txt", lines)


main()
