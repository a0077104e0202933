"""Quantization with a tolerance, for golden vectors."""
import math
import struct

from formats import INFINITY, SIZES, nearest, rounded_to, to_bytes, value


class EscapingBlock:
    """A block of values, those escaped that a code would bring back too far off."""

    def __init__(self, kind, block, bits, tolerance, relative):
        self.kind, self.block, self.bits, self.tolerance, self.relative = kind, block, bits, tolerance, relative
        self.r = rounded_to(kind)
        wide = kind == "fp64"
        self.number = "<d" if wide else "<f"
        self.u = 2.0**-53 if wide else 2.0**-24
        self.smallest = 2.0**-1022 if wide else 2.0**-126
        self.largest = value("fp64" if wide else "fp32", INFINITY["fp64" if wide else "fp32"] - 1)
        self.most_steps = 2.0**30 if wide else 2.0**20
        self.values = [value(kind, v) for v in block]
        self.last = 2 ** (bits - 1) - 1
        self.limit = self.r(tolerance * (1 - 4 * self.u))
        self.relative_limit = self.r(relative * (1 - 8 * self.u))
        self.grid, self.kept = (0.0, 0.0, 0.0), 0

    def encoding(self):
        plain = b"\xff" * struct.calcsize(self.number) + to_bytes(self.kind, self.block)
        finite = [v for v in self.values if math.isfinite(v)]
        if len(finite) == len(self.values) and len(set(self.block)) == 1:
            return min(plain, struct.pack(self.number, 0.0) + struct.pack(self.number, finite[0]), key=len)
        if not finite:
            return plain
        self.choose(min(finite), max(finite))
        if self.grid[0] == 0:
            return plain
        head = 2 * struct.calcsize(self.number) + (len(self.block) * self.bits + 7) // 8
        if head + (len(self.block) - self.kept) * SIZES[self.kind] >= len(plain):
            return plain
        coded = self.coded()
        return coded if len(coded) < len(plain) else plain

    def choose(self, low, high):
        if self.relative:
            self.consider(self.over(low, high))
            if self.is_good():
                return
            usual = self.median([abs(v) for v in self.sampled()])
            for times in (8, 4, 2):
                step = self.r(usual * self.r(times / self.last))
                if step >= self.smallest:
                    self.consider((step, 0.0, self.r(1 / step)))
            return
        everything = self.over(low, high)
        if everything[0] <= self.step_for(max(abs(low), abs(high)) + self.tolerance):
            self.grid, self.kept = everything, len(self.values)
            return
        half = self.r(self.last * self.step_for(2 * self.last * self.tolerance))
        has_zero = low <= 0 <= high
        self.around(0.0 if has_zero else self.r(low + half))
        if self.is_good():
            return
        if has_zero:
            self.around(self.r(low + half))
        self.around(self.r(high - half))
        self.around(self.median(self.sampled()))

    def is_good(self):
        return self.kept >= len(self.values) - len(self.values) // 16

    def sampled(self):
        drawn = [self.values[s * len(self.values) // 9] for s in range(9)]
        return [v if math.isfinite(v) else 0.0 for v in drawn]

    @staticmethod
    def median(nine):
        return sorted(nine)[4]

    def around(self, centre):
        step = self.step_for(abs(centre) + 2 * self.last * self.tolerance)
        if step == 0:
            return
        inverse = self.r(1 / step)
        self.count((step, self.r(round(self.r(centre * inverse)) * step), inverse), 0.0)

    def consider(self, grid):
        self.count(grid, self.r(min(grid[0] / 2 / self.relative, self.largest)))

    def count(self, grid, least):
        reach = self.r(grid[0] * self.last)
        kept = sum(abs(self.r(v - grid[1])) <= reach and (v == 0 or abs(v) >= least) for v in self.values)
        if kept > self.kept:
            self.grid, self.kept = grid, kept

    def over(self, low, high):
        r, last = self.r, self.last
        if low == high:
            return self.smallest, low + 0.0, r(1 / self.smallest)
        scale = max(r(r(high / 2 - low / 2) / last), self.smallest)
        inverse = r(1 / scale)
        if low > 0 or high < 0:
            return scale, r(low + r(last * scale)), inverse
        return scale, 0.0 - r((-last - round(r(low * inverse))) * scale), inverse

    def step_for(self, most):
        fraction, smallest = {"fp16": (10, 2.0**-25), "bf16": (7, 2.0**-134)}.get(self.kind, (None, None))
        narrowing = 0.0
        if fraction is not None:
            narrowing = min(max(2.0 ** (math.frexp(most)[1] - 2 - fraction), smallest), self.tolerance / 2)
        step = 2 * (self.tolerance - narrowing - 4 * self.u * most) * (1 - 4 * self.u * 2**self.bits)
        return 0.0 if step < self.smallest or most > step * self.most_steps else self.r(step)

    def allows(self, number_, sent):
        if abs(number_) < (2.0**-14 if self.kind == "fp16" else self.smallest):
            return number_ == sent and math.copysign(1, number_) == math.copysign(1, sent)
        if not math.isfinite(number_):
            return False
        off = abs(self.r(number_ - sent))
        if not self.relative:
            return off <= self.limit
        product = self.r(abs(number_) * self.relative_limit)
        return off <= (product if product >= self.smallest else 0.0)

    def coded(self):
        r = self.r
        scale, offset, inverse = self.grid
        codes, escapes = [], []
        for number_, bits in zip(self.values, self.block):
            steps = r(r(number_ - offset) * inverse)
            code = self.last if math.isnan(steps) else round(min(max(steps, -self.last), self.last))
            if not self.allows(number_, value(self.kind, nearest(self.kind, r(offset + r(code * scale))))):
                code = -self.last - 1
                escapes.append(bits)
            codes.append(code)
        packed = sum((code & (2**self.bits - 1)) << (self.bits * i) for i, code in enumerate(codes))
        head = struct.pack(self.number, -scale if escapes else scale) + struct.pack(self.number, offset)
        return head + packed.to_bytes((len(codes) * self.bits + 7) // 8, "little") + to_bytes(self.kind, escapes)


def encode_any_width(kind, values, tolerance):
    """Each block in the width that makes it shortest, of equals the narrowest, which stands in front unless it is plain."""
    out = b""
    for at in range(0, len(values), 512):
        widths = [bits for bits in (4, 8, 16) if bits < 8 * SIZES[kind]]
        encodings = [EscapingBlock(kind, values[at : at + 512], bits, tolerance, 0.0).encoding() for bits in widths]
        size, bits, encoding = min((len(encoding), bits, encoding) for bits, encoding in zip(widths, encodings))
        is_plain = encoding.startswith(b"\xff" * (8 if kind == "fp64" else 4))
        out += encoding if is_plain else bytes([bits]) + encoding
    return out


def encode_escaping(kind, values, bits, tolerance=0.0, relative=0.0):
    return b"".join(
        EscapingBlock(kind, values[at : at + 512], bits, tolerance, relative).encoding() for at in range(0, len(values), 512)
    )
