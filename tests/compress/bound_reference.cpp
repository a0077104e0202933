#include "compress/reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace gradcoll::test {
namespace {

constexpr std::size_t bound_block = 512, bound_lanes = 16;

template <class Number>
void append_number(Bytes& out, Number value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
}
template <class Number>
Number number_at(const Bytes& bytes, std::size_t at) {
    Number value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

std::size_t words_of_lane(std::size_t elems, int width) {
    const std::size_t rows = (elems + bound_lanes - 1) / bound_lanes;
    return (rows * static_cast<std::size_t>(width) + 31) / 32;
}

/// Returns the place of bit b of element i: element i is the (i / 16)th of lane i % 16.
std::size_t place_of_bit(std::size_t i, int b, int width) {
    const std::size_t in_lane =
        i / bound_lanes * static_cast<std::size_t>(width) + static_cast<std::size_t>(b);
    return (in_lane / 32 * bound_lanes + i % bound_lanes) * 32 + in_lane % 32;
}

void append_packed(Bytes& out, const std::vector<std::int64_t>& codes, int width) {
    const std::size_t first = out.size();
    out.resize(first + 4 * bound_lanes * words_of_lane(codes.size(), width));
    for (std::size_t i = 0; i < codes.size(); ++i)
        for (int b = 0; b < width; ++b) {
            const std::size_t bit = place_of_bit(i, b, width);
            if ((codes[i] >> b & 1) != 0)
                out[first + bit / 8] |= static_cast<std::byte>(1 << bit % 8);
        }
}
std::vector<std::int64_t> packed_at(const Bytes& in, std::size_t at, int width, std::size_t elems) {
    std::vector<std::int64_t> codes(elems);
    for (std::size_t i = 0; i < elems; ++i)
        for (int b = 0; b < width; ++b) {
            const std::size_t bit = place_of_bit(i, b, width);
            codes[i] |= std::int64_t{std::to_integer<int>(in[at + bit / 8]) >> bit % 8 & 1} << b;
        }
    return codes;
}

int bits_for(std::int64_t most) {
    return std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most))));
}

/// BoundBlock calculates in `Float`, which the type says; each line is one rounded operation.
template <class Float>
class BoundBlock {
    static constexpr bool is_fp64 = sizeof(Float) == 8;
    static constexpr double u = is_fp64 ? 0x1p-53 : 0x1p-24;

  public:
    BoundBlock(double abs, ElementType type, Bytes plain)
        : abs_(abs), type_(type), plain_(std::move(plain)) {
        for (std::size_t i = 0; i < elements_in(plain_, type); ++i)
            values_.push_back(static_cast<Float>(value_of(type, element(plain_, type, i))));
    }

    void append_to(Bytes& out) const {
        const auto [low, high] = std::minmax_element(values_.begin(), values_.end());
        const bool finite = std::all_of(values_.begin(), values_.end(),
                                        [](Float value) { return std::isfinite(value); });
        if (!finite || abs_ == 0 || !is_shorter(0)) return append_plain(out);
        if (*low == *high) return append_constant(out, *low == 0 ? 0 : *low);
        if (are_within(*low, *high, 0)) return append_constant(out, 0);
        const Float middle = sent(*low + (*high - *low) / 2);
        if ((*low > 0 || *high < 0) && are_within(*low, *high, middle))
            return append_constant(out, middle);
        append_codes(out, static_cast<Float>(step(*low, *high)));
    }

  private:
    Float sent(Float value) const {
        return static_cast<Float>(value_of(type_, bits_of(type_, value)));
    }
    Float limit() const {
        if (abs_ < (is_fp64 ? 0x1p-1016 : 0x1p-120)) return 0;
        const double largest = double{std::numeric_limits<Float>::max()};
        return static_cast<Float>(std::min(abs_, largest) * (1 - 4 * u));
    }
    bool are_within(Float low, Float high, Float middle) const {
        return std::fabs(low - middle) <= limit() && std::fabs(high - middle) <= limit();
    }

    /// Returns 0 if there is no step.
    double step(Float low, Float high) const {
        const double most = std::max(std::fabs(low), std::fabs(high));
        double narrowing = 0;
        if (element_bytes(type_) == 2) {
            const int fraction = type_ == ElementType::f16 ? 10 : 7;
            const double smallest = type_ == ElementType::f16 ? 0x1p-25 : 0x1p-134;
            narrowing = std::ldexp(1.0, std::ilogb(most + abs_) - fraction - 1);
            narrowing = std::min(std::max(narrowing, smallest), abs_ / 2);
        }
        const double step = 2 * (abs_ - narrowing - 4 * u * most) * (1 - 16 * u);
        if (!(step >= double{std::numeric_limits<Float>::min()})) return 0;
        if (most > step * (is_fp64 ? 0x1p30 : 0x1p20)) return 0;
        return std::min(step, is_fp64 ? 0x1p1022 : 0x1p126);
    }

    void append_plain(Bytes& out) const {
        append_number(out, std::uint32_t{0xff});
        out.insert(out.end(), plain_.begin(), plain_.end());
    }

    void append_constant(Bytes& out, Float value) const {
        append_header(out, 0, 0);
        append_number(out, value);
    }

    static void append_header(Bytes& out, int kind, std::int64_t start) {
        if (!is_fp64)
            return append_number(
                out, static_cast<std::uint32_t>(kind) | static_cast<std::uint32_t>(start) << 8);
        append_number(out, static_cast<std::uint32_t>(kind));
        append_number(out, static_cast<std::int32_t>(start));
    }

    void append_codes(Bytes& out, Float step) const {
        if (step == 0) return append_plain(out);
        const Float inverse = 1 / step;
        std::vector<std::int64_t> codes;
        for (const Float value : values_) {
            const Float steps = value * inverse;
            codes.push_back(static_cast<std::int64_t>(std::nearbyint(steps)));
            const Float product = static_cast<Float>(codes.back()) * step;
            if (!(std::fabs(value - sent(product)) <= limit())) return append_plain(out);
        }
        const auto [low, high] = std::minmax_element(codes.begin(), codes.end());
        const int width = bits_for(*high - *low);
        if (!is_shorter(width)) return append_plain(out);
        if (append_differences(out, codes, width, step)) return;
        append_header(out, width, *low);
        append_number(out, step);
        const std::int64_t lowest = *low;
        for (std::int64_t& code : codes) code -= lowest;
        append_packed(out, codes, width);
    }

    /// Returns false if differences would not be shorter.
    bool append_differences(Bytes& out, const std::vector<std::int64_t>& codes, int width,
                            Float step) const {
        if (width == 32) return false;
        const std::int64_t before = 2 * codes[0] - codes[1];
        std::vector<std::int64_t> differences{codes[0] - before};
        for (std::size_t i = 1; i < codes.size(); ++i)
            differences.push_back(codes[i] - codes[i - 1]);
        const auto begin = differences.begin();
        const auto some =
            begin + static_cast<std::ptrdiff_t>(std::min<std::size_t>(64, codes.size()));
        const auto [low, high] = std::minmax_element(begin, some);
        if (bits_for(*high - *low) >= width) return false;
        const auto [least, most] = std::minmax_element(begin, differences.end());
        const int short_width = bits_for(*most - *least);
        if (bytes(short_width, true) >= bytes(width, false)) return false;
        append_header(out, short_width | 0x40, before);
        append_number(out, step);
        append_number(out, static_cast<std::int32_t>(*least));
        const std::int64_t first = *least;
        for (std::int64_t& difference : differences) difference -= first;
        append_packed(out, differences, short_width);
        return true;
    }

    bool is_shorter(int width) const { return bytes(width, false) < 4 + plain_.size(); }
    std::size_t bytes(int width, bool differences) const {
        return 2 * sizeof(Float) + (differences ? 4 : 0) +
               4 * bound_lanes * words_of_lane(values_.size(), width);
    }

    double abs_;
    ElementType type_;
    Bytes plain_;
    std::vector<Float> values_;
};

/// Decodes the bytes from `at` on; afterwards that is the next block.
template <class Float>
Bytes decode_bound_block(ElementType type, const Bytes& in, std::size_t& at, std::size_t elems) {
    const auto word = number_at<std::uint32_t>(in, at);
    Bytes out;
    if (word == 0xff) {
        const auto first = in.begin() + static_cast<std::ptrdiff_t>(at + 4);
        out.assign(first, first + static_cast<std::ptrdiff_t>(elems * element_bytes(type)));
        at += 4 + out.size();
        return out;
    }
    const int width = static_cast<int>(word & 0x3f);
    const bool differences = (word & 0x40) != 0;
    std::int64_t code = sizeof(Float) == 8 ? number_at<std::int32_t>(in, at + 4)
                                           : static_cast<std::int32_t>(word) >> 8;
    const auto step = number_at<Float>(in, at + sizeof(Float));
    at += 2 * sizeof(Float);
    std::int64_t least = 0;
    if (differences) {
        least = number_at<std::int32_t>(in, at);
        at += 4;
    }
    for (const std::int64_t packed : packed_at(in, at, width, elems)) {
        const std::int64_t own = static_cast<std::int32_t>(code + packed + least);
        if (differences) code = own;
        const Float value = width == 0 ? step : static_cast<Float>(own) * step;
        append_element(out, type, bits_of(type, value));
    }
    at += 4 * bound_lanes * words_of_lane(elems, width);
    return out;
}

}  // namespace

bool is_bound(CodecId codec) {
    return plain(codec) == CodecId::bound;
}

Bytes encode_bound(double abs, ElementType type, const Bytes& plain) {
    Bytes out;
    const std::size_t block = bound_block * element_bytes(type);
    for (std::size_t first = 0; first < plain.size(); first += block) {
        const auto begin = plain.begin() + static_cast<std::ptrdiff_t>(first);
        const std::size_t size = std::min(block, plain.size() - first);
        const Bytes elements(begin, begin + static_cast<std::ptrdiff_t>(size));
        if (type == ElementType::f64)
            BoundBlock<double>(abs, type, elements).append_to(out);
        else
            BoundBlock<float>(abs, type, elements).append_to(out);
    }
    return out;
}

Bytes decode_bound(ElementType type, const Bytes& encoded, std::size_t count) {
    Bytes out;
    std::size_t at = 0;
    for (std::size_t first = 0; first < count; first += bound_block) {
        const std::size_t elems = std::min(bound_block, count - first);
        const Bytes block = type == ElementType::f64
                                ? decode_bound_block<double>(type, encoded, at, elems)
                                : decode_bound_block<float>(type, encoded, at, elems);
        out.insert(out.end(), block.begin(), block.end());
    }
    return out;
}

}  // namespace gradcoll::test
