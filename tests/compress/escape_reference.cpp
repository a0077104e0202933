#include "compress/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace gradcoll::test {
namespace {

constexpr std::size_t escape_block = 512;

bool is_any_width(CodecId codec) {
    return name_of(plain(codec)) == "int";
}

template <class Number>
void append_raw(Bytes& out, Number value) {
    out.resize(out.size() + sizeof value);
    std::memcpy(out.data() + out.size() - sizeof value, &value, sizeof value);
}

/// An EscapingBlock is a block to encode. `Float` is what the type is calculated in; each line is
/// one rounded operation.
template <class Float>
class EscapingBlock {
    static constexpr double rounding = sizeof(Float) == 8 ? 0x1p-53 : 0x1p-24;
    static constexpr double smallest = sizeof(Float) == 8 ? 0x1p-1022 : 0x1p-126;
    static constexpr double smallest_tolerance = sizeof(Float) == 8 ? 0x1p-1016 : 0x1p-120;
    static constexpr double largest = std::numeric_limits<Float>::max();

  public:
    EscapingBlock(int bits, const CodecParameters& told, ElementType type, Bytes plain)
        : bits_(bits),
          abs_(told.abs),
          rel_(told.rel >= smallest_tolerance ? told.rel : 0),
          type_(type),
          plain_(std::move(plain)) {
        for (std::size_t i = 0; i < elements_in(plain_, type); ++i)
            values_.push_back(static_cast<Float>(value_of(type, element(plain_, type, i))));
        if (abs_ >= smallest_tolerance)
            abs_limit_ = static_cast<Float>(std::min(abs_, largest) * (1 - 4 * rounding));
        rel_limit_ = static_cast<Float>(rel_ * (1 - 8 * rounding));
    }

    /// Encodes the block; with `is_widened` steps are as wide as the tolerance allows.
    Bytes encoding(bool is_widened = false) {
        Bytes as_it_is(sizeof(Float) + plain_.size(), std::byte{0xff});
        std::copy(plain_.begin(), plain_.end(), as_it_is.begin() + sizeof(Float));
        Bytes best = constant();
        if (!best.empty() && best.size() < as_it_is.size()) return best;
        if (bytes_by_reach() >= as_it_is.size()) return as_it_is;
        if (is_widened) widen();
        best = coded();
        return best.size() < as_it_is.size() ? best : as_it_is;
    }
    /// Returns how long the encoding is if just what is out of reach of the grid escapes; a plain
    /// one, if there is no grid.
    std::size_t bytes_by_reach() {
        if ((abs_limit_ == 0 && rel_limit_ == 0) || !choose()) return sizeof(Float) + plain_.size();
        return sizeof(Float) * 2 + codes_bytes() + (values_.size() - kept_) * element_bytes(type_);
    }

  private:
    std::size_t codes_bytes() const {
        return (values_.size() * static_cast<std::size_t>(bits_) + 7) / 8;
    }
    Float narrowed(Float value) const {
        return static_cast<Float>(value_of(type_, bits_of(type_, value)));
    }
    int last() const { return (1 << (bits_ - 1)) - 1; }

    /// Returns the encoding if all elements have the same bits, and are numbers.
    Bytes constant() const {
        Bytes out;
        for (std::size_t i = 0; i < values_.size(); ++i)
            if (!std::isfinite(values_[i]) ||
                element(plain_, type_, i) != element(plain_, type_, 0))
                return out;
        append_raw(out, Float{0});
        append_raw(out, values_[0]);
        return out;
    }

    struct Grid {
        Float scale, offset, inverse;
    };
    Grid grid_{};
    std::size_t kept_ = 0;

    bool choose() {
        std::vector<Float> finite;
        for (const Float value : values_)
            if (std::isfinite(value)) finite.push_back(value);
        if (finite.empty()) return false;
        const Float low = *std::min_element(finite.begin(), finite.end());
        const Float high = *std::max_element(finite.begin(), finite.end());
        rel_ == 0 ? choose_for_abs(low, high) : choose_for_rel(low, high);
        return grid_.scale > 0;
    }
    bool is_good() const { return kept_ >= values_.size() - values_.size() / 16; }

    void choose_for_abs(Float low, Float high) {
        const Grid all = over(low, high);
        const double most = std::max(std::fabs(low), std::fabs(high));
        if (all.scale <= step_for(most + abs_)) {
            grid_ = all;
            kept_ = values_.size();
            return;
        }
        const Float half = static_cast<Float>(last()) * step_for(2 * last() * abs_);
        const bool has_zero = low <= 0 && high >= 0;
        around(has_zero ? 0 : low + half);
        if (is_good()) return;
        if (has_zero) around(low + half);
        around(high - half);
        around(median(false));
    }
    void widen() {
        if (element_bytes(type_) == 2 || kept_ < values_.size()) return;
        const double low = *std::min_element(values_.begin(), values_.end());
        const double high = *std::max_element(values_.begin(), values_.end());
        const double part = bits_ == 16 ? 0.875 : 0.96875;
        const double more = 2.0 * last() * (2 * abs_) * part - (high - low);
        const auto down = static_cast<Float>(low - more / 2);
        const auto up = static_cast<Float>(high + more / 2);
        if (!(more > 0) || !std::isfinite(down) || !std::isfinite(up)) return;
        const Grid all = over(down, up);
        const double most = std::max(std::fabs(down), std::fabs(up));
        if (all.scale <= step_for(most + abs_)) grid_ = all;
    }
    void choose_for_rel(Float low, Float high) {
        consider(over(low, high));
        if (is_good()) return;
        for (const int times : {8, 4, 2}) {
            const Float part = static_cast<Float>(times) / static_cast<Float>(last());
            const Float step = median(true) * part;
            if (step >= smallest) consider({step, 0, 1 / step});
        }
    }
    void around(Float centre) {
        const Float step = step_for(std::fabs(centre) + 2 * last() * abs_);
        if (step == 0) return;
        const Float inverse = 1 / step;
        const Float steps = std::nearbyint(centre * inverse);
        count({step, steps * step, inverse}, 0);
    }
    void consider(const Grid& grid) {
        const double least = static_cast<double>(grid.scale / 2) / rel_;
        count(grid, static_cast<Float>(std::min(least, largest)));
    }
    void count(const Grid& grid, Float least) {
        const Float reach = grid.scale * static_cast<Float>(last());
        const auto kept =
            static_cast<std::size_t>(std::count_if(values_.begin(), values_.end(), [&](Float v) {
                return std::fabs(v - grid.offset) <= reach && (v == 0 || std::fabs(v) >= least);
            }));
        if (kept <= kept_) return;
        grid_ = grid;
        kept_ = kept;
    }
    Float median(bool of_magnitudes) const {
        std::vector<Float> drawn;
        for (std::size_t s = 0; s < 9; ++s) {
            const Float value = values_[s * values_.size() / 9];
            drawn.push_back(!std::isfinite(value) ? 0 : of_magnitudes ? std::fabs(value) : value);
        }
        std::sort(drawn.begin(), drawn.end());
        return drawn[4];
    }

    /// Returns the grid that serves without a tolerance, but for codes from -last to last.
    Grid over(Float low, Float high) const {
        const auto first = static_cast<Float>(-last());
        if (low == high) {
            const auto scale = static_cast<Float>(smallest);
            return {scale, low + Float{0}, 1 / scale};
        }
        const Float half_range = high / 2 - low / 2;
        const Float scale =
            std::max(half_range / static_cast<Float>(last()), static_cast<Float>(smallest));
        const Float inverse = 1 / scale;
        const Float from_first = first * scale;
        if (low > 0 || high < 0) return {scale, low - from_first, inverse};
        const Float from_zero = (first - std::nearbyint(low * inverse)) * scale;
        return {scale, 0 - from_zero, inverse};
    }

    Float step_for(double most) const {
        double narrowing = 0;
        if (element_bytes(type_) == 2) {
            const int fraction = type_ == ElementType::f16 ? 10 : 7;
            const double least = type_ == ElementType::f16 ? 0x1p-25 : 0x1p-134;
            const double unit = std::ldexp(0.5, std::ilogb(most) - fraction);
            narrowing = std::min(std::max(unit, least), abs_ / 2);
        }
        const double left = abs_ - narrowing - 4 * rounding * most;
        const double step = 2 * left * (1 - 4 * rounding * (1 << bits_));
        const double most_steps = sizeof(Float) == 8 ? 0x1p30 : 0x1p20;
        if (!(step >= smallest) || most > step * most_steps) return 0;
        return static_cast<Float>(std::min(step, sizeof(Float) == 8 ? 0x1p1022 : 0x1p126));
    }

    bool allows(Float value, Float sent) const {
        const double least = type_ == ElementType::f16 ? 0x1p-14 : smallest;
        if (std::fabs(value) < least)
            return value == sent && std::signbit(value) == std::signbit(sent);
        if (!std::isfinite(value)) return false;
        const Float off = std::fabs(value - sent);
        if (rel_limit_ == 0) return off <= abs_limit_;
        const Float product = std::fabs(value) * rel_limit_;
        return off <= (product >= smallest ? product : 0);
    }

    Bytes coded() const {
        Bytes codes(codes_bytes()), escapes;
        for (std::size_t i = 0; i < values_.size(); ++i) {
            const Float steps = (values_[i] - grid_.offset) * grid_.inverse;
            const auto end = static_cast<Float>(last());
            Float code = std::isnan(steps) ? end : std::nearbyint(std::clamp(steps, -end, end));
            const Float product = code * grid_.scale;
            if (!allows(values_[i], narrowed(grid_.offset + product))) {
                code = -end - 1;
                append_element(escapes, type_, element(plain_, type_, i));
            }
            put(codes, i, static_cast<int>(code));
        }
        Bytes out;
        append_raw(out, escapes.empty() ? grid_.scale : -grid_.scale);
        append_raw(out, grid_.offset);
        out.insert(out.end(), codes.begin(), codes.end());
        out.insert(out.end(), escapes.begin(), escapes.end());
        return out;
    }
    void put(Bytes& codes, std::size_t i, int code) const {
        for (int bit = 0; bit < bits_; ++bit) {
            const std::size_t at =
                i * static_cast<std::size_t>(bits_) + static_cast<std::size_t>(bit);
            if ((code >> bit & 1) != 0) codes[at / 8] |= static_cast<std::byte>(1 << at % 8);
        }
    }

    int bits_;
    double abs_, rel_;
    Float abs_limit_ = 0, rel_limit_ = 0;
    ElementType type_;
    Bytes plain_;
    std::vector<Float> values_;
};

/// Returns the block's encoding in the width whose grid promises the shortest, the narrowest of
/// those, with the width in front unless it is plain.
template <class Float>
Bytes encoding_in_any_width(const CodecParameters& told, ElementType type, const Bytes& plain) {
    std::size_t best_bytes = 0;
    int best_bits = 0;
    for (const int bits : {4, 8, 16}) {
        if (static_cast<std::size_t>(bits) >= 8 * element_bytes(type)) continue;
        const std::size_t bytes = EscapingBlock<Float>(bits, told, type, plain).bytes_by_reach();
        if (best_bits != 0 && bytes >= best_bytes) continue;
        best_bytes = bytes;
        best_bits = bits;
    }
    Bytes best = EscapingBlock<Float>(best_bits, told, type, plain).encoding(true);
    const auto is_set = [](std::byte each) { return each == std::byte{0xff}; };
    if (!std::all_of(best.begin(), best.begin() + sizeof(Float), is_set))
        best.insert(best.begin(), static_cast<std::byte>(best_bits));
    return best;
}

template <class Float>
Bytes encode_as(CodecId codec, ElementType type, const Bytes& plain) {
    Bytes out;
    const std::size_t block_bytes = escape_block * element_bytes(type);
    for (std::size_t at = 0; at < plain.size(); at += block_bytes) {
        const auto first = plain.begin() + static_cast<std::ptrdiff_t>(at);
        const std::size_t left = std::min(block_bytes, plain.size() - at);
        const Bytes elements(first, first + static_cast<std::ptrdiff_t>(left));
        const Bytes block = is_any_width(codec)
                                ? encoding_in_any_width<Float>(parameters_of(codec), type, elements)
                                : EscapingBlock<Float>(quantizer_bits(gradcoll::plain(codec)),
                                                       parameters_of(codec), type, elements)
                                      .encoding();
        out.insert(out.end(), block.begin(), block.end());
    }
    return out;
}

template <class Float>
Float take_number(const std::byte*& at) {
    Float value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

/// Decodes bytes that an encoder wrote.
template <class Float>
void decode_block_as(int bits, ElementType type, const std::byte*& at, std::size_t elems,
                     Bytes& out) {
    const std::size_t size = element_bytes(type);
    const Float scale = take_number<Float>(at);
    if (std::isnan(scale)) {
        out.insert(out.end(), at, at + elems * size);
        at += elems * size;
        return;
    }
    const Float offset = take_number<Float>(at);
    const std::byte* const codes = at;
    if (scale != 0) at += (elems * static_cast<std::size_t>(bits) + 7) / 8;
    for (std::size_t i = 0; i < elems; ++i) {
        int code = 0;
        for (int bit = 0; bit < bits && scale != 0; ++bit) {
            const std::size_t place =
                i * static_cast<std::size_t>(bits) + static_cast<std::size_t>(bit);
            code |= (std::to_integer<int>(codes[place / 8]) >> place % 8 & 1) << bit;
        }
        if (code >= 1 << (bits - 1)) code -= 1 << bits;
        if (std::signbit(scale) && code == -(1 << (bits - 1))) {
            out.insert(out.end(), at, at + size);
            at += size;
            continue;
        }
        const Float product = static_cast<Float>(code) * std::fabs(scale);
        append_element(out, type, bits_of(type, scale == 0 ? offset : offset + product));
    }
}

template <class Float>
Bytes decode_as(int bits, ElementType type, const Bytes& encoded, std::size_t count) {
    Bytes out;
    const std::byte* at = encoded.data();
    for (std::size_t first = 0; first < count; first += escape_block) {
        const bool has_width = bits == 0 && *at != std::byte{0xff};
        const int width = has_width ? std::to_integer<int>(*at++) : bits;
        decode_block_as<Float>(width, type, at, std::min(escape_block, count - first), out);
    }
    return out;
}

}  // namespace

bool is_escaping(CodecId codec) {
    const bool has_tolerance = parameters_of(codec).abs != 0 || parameters_of(codec).rel != 0;
    return is_any_width(codec) || (quantizer_bits(plain(codec)) != 0 && has_tolerance);
}

Bytes encode_escaping(CodecId codec, ElementType type, const Bytes& plain) {
    return type == ElementType::f64 ? encode_as<double>(codec, type, plain)
                                    : encode_as<float>(codec, type, plain);
}

Bytes decode_escaping(CodecId codec, ElementType type, const Bytes& encoded, std::size_t count) {
    const int bits = quantizer_bits(plain(codec));
    return type == ElementType::f64 ? decode_as<double>(bits, type, encoded, count)
                                    : decode_as<float>(bits, type, encoded, count);
}

}  // namespace gradcoll::test
