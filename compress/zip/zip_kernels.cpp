// compress/zip/zip_kernels.cpp - the kernels of one instruction set. The build compiles this once
// for each (gradcoll_kernels).
#include <cstring>

#include "compress/feedback/feedback.hpp"
#include "compress/kernels.hpp"
#include "compress/lanes/variable_rate.hpp"
#include "compress/zip/zip_block.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll::zip {
namespace {

/// Returns the bits of a group of which the first `count` elements are there.
constexpr std::uint64_t first_bits(std::size_t count) {
    return count >= group_elems ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

inline std::size_t ones(std::uint64_t bits) {
    return static_cast<std::size_t>(__builtin_popcountll(bits));
}

/// An Encoder writes one block.
template <class Isa, class Bits>
class Encoder {
    using AllWords = Words<Isa, Bits>;
    static constexpr std::size_t rest_bytes = AllWords::rest_bytes;

  public:
    /// Returns where the elements of the block are to be.
    Bits* elements() { return plain_.at; }

    /// Returns how many bytes the first elements took.
    std::size_t encode(std::size_t elems, std::byte* out) {
        const std::size_t groups = groups_of(elems);
        std::memset(plain_.at + elems, 0, (groups * group_elems - elems) * sizeof(Bits));
        const Bits any = plain_.survey(elems, high_, full_);
        const std::size_t full = mark_what_is_full(groups);
        if (full == 0) return write_head({.width = Head::zeros}, out);
        Head head;
        head.has_marks = (elems - full) * rest_bytes > groups * group_bytes;
        if (head.has_marks) leave_out_zeros(elems);
        const std::size_t count = head.has_marks ? full : elems;
        head.base = high_.largest(count);
        high_.count_down_from(head.base, count);
        head.rest_bytes = any == 0 ? 0 : static_cast<unsigned>(rest_bytes - zero_bytes_below(any));
        const std::size_t marks_bytes = head.has_marks ? groups * group_bytes : 0;
        const std::size_t codes_bytes = choose_width(head, count);
        const std::size_t plain_bytes = elems * sizeof(Bits);
        if (marks_bytes + codes_bytes + head.rest_bytes * count >= plain_bytes) {
            std::memcpy(out + write_head({.width = Head::plain}, out), plain_.at, plain_bytes);
            return head_bytes + plain_bytes;
        }
        std::byte* to = out + write_head(head, out);
        std::memcpy(to, marks_, marks_bytes);
        to = write_codes(head, count, to + marks_bytes);
        const AllWords& words = head.has_marks ? words_ : plain_;
        for (std::size_t byte = rest_bytes - head.rest_bytes; byte < rest_bytes; ++byte)
            to = words.write_rest(byte, count, to);
        return static_cast<std::size_t>(to - out);
    }

  private:
    using Part = typename Bytes<Isa>::Part;

    static std::size_t write_head(const Head& head, std::byte* out) {
        head.write(out);
        return head_bytes;
    }
    static std::size_t zero_bytes_below(Bits any) {
        return static_cast<std::size_t>(__builtin_ctzll(any)) / 8;
    }
    /// Returns how many elements are not zero.
    std::size_t mark_what_is_full(std::size_t groups) {
        std::size_t full = 0;
        for (std::size_t g = 0; g < groups; ++g) {
            marks_[g] = ByteMoves<Isa>::top_bits(full_.at + g * group_elems);
            full += ones(marks_[g]);
        }
        return full;
    }
    void leave_out_zeros(std::size_t elems) {
        std::size_t to = 0;
        for (std::size_t i = 0; i < elems; ++i) {
            words_.at[to] = plain_.at[i];
            high_.at[to] = high_.at[i];
            to += full_.at[i] & 1U;
        }
    }
    std::uint64_t escapes(unsigned least, std::size_t group) const {
        return high_.bits(
            group * group_elems, [least](Part part) __attribute__((always_inline)) {
                return part >= static_cast<std::uint8_t>(least);
            });
    }
    /// Sets the width that makes codes and escapes shortest, and returns how many bytes these take.
    std::size_t choose_width(Head& head, std::size_t count) const {
        const std::size_t groups = groups_of(count);
        head.width = 0;
        if (count_of_escapes(1, groups) == 0) return 0;
        std::size_t least = Head::most_width * groups * group_bytes;
        head.width = Head::most_width;
        for (unsigned width = 1; width < Head::most_width; ++width) {
            const std::size_t codes = width * groups * group_bytes;
            if (codes >= least) break;
            const std::size_t bytes = codes + count_of_escapes((1U << width) - 1, groups);
            if (bytes >= least) continue;
            least = bytes;
            head.width = width;
        }
        return least;
    }
    /// Returns how many high bytes are so far below the base. Behind the last one there are zeros.
    std::size_t count_of_escapes(unsigned least, std::size_t groups) const {
        std::size_t count = 0;
        for (std::size_t g = 0; g < groups; ++g) count += ones(escapes(least, g));
        return count;
    }
    std::byte* write_codes(const Head& head, std::size_t count, std::byte* out) const {
        const std::size_t groups = groups_of(count);
        const auto most = static_cast<std::uint8_t>(head.escape());
        for (std::size_t g = 0; g < groups; ++g)
            for (unsigned bit = 0; bit < head.width; ++bit, out += group_bytes) {
                const auto one = static_cast<std::uint8_t>(1U << bit);
                const std::uint64_t bits = high_.bits(
                    g * group_elems, [ most, one ](Part part) __attribute__((always_inline)) {
                        const Part code = part < most ? part : most - Part{};
                        return (code & one) != 0;
                    });
                std::memcpy(out, &bits, group_bytes);
            }
        if (!head.has_escapes()) return out;
        for (std::size_t g = 0; g < groups; ++g)
            for (std::uint64_t left = escapes(most, g); left != 0; left &= left - 1)
                *out++ = static_cast<std::byte>(
                    high_.at[g * group_elems + static_cast<std::size_t>(__builtin_ctzll(left))]);
        return out;
    }

    AllWords plain_;
    AllWords words_;   ///< without zeros, if these are left out
    Bytes<Isa> high_;  ///< high bytes, and then how far each is below the base
    Bytes<Isa> full_;
    std::uint64_t marks_[block_elems / group_elems];
};

/// A Decoder reads one block.
template <class Isa, class Bits>
class Decoder {
    using AllWords = Words<Isa, Bits>;
    static constexpr std::size_t rest_bytes = AllWords::rest_bytes;

  public:
    /// Returns the elements; null if the bytes are no encoding.
    const Bits* decode(Input& in, std::size_t elems) {
        Head head;
        if (in.left < head_bytes || !Head::read(in.at, sizeof(Bits), head)) return nullptr;
        in.take(head_bytes);
        if (head.width == Head::zeros) {
            std::memset(words_.at, 0, elems * sizeof(Bits));
            return words_.at;
        }
        if (head.width == Head::plain) {
            if (in.left < elems * sizeof(Bits)) return nullptr;
            std::memcpy(words_.at, in.take(elems * sizeof(Bits)), elems * sizeof(Bits));
            return words_.at;
        }
        std::size_t count = elems;
        if (head.has_marks && !take_marks(in, elems, count)) return nullptr;
        if (!take_codes(in, head, count) || in.left < head.rest_bytes * count) return nullptr;
        const std::size_t first = rest_bytes - head.rest_bytes;
        for (std::size_t byte = first; byte < rest_bytes; ++byte)
            std::memcpy(rest_[byte].at, in.take(count), count);
        words_.join(high_, rest_, first, count);
        return head.has_marks ? with_zeros(elems) : words_.at;
    }

  private:
    bool take_marks(Input& in, std::size_t elems, std::size_t& count) {
        const std::size_t groups = groups_of(elems);
        if (in.left < groups * group_bytes) return false;
        std::memcpy(marks_, in.take(groups * group_bytes), groups * group_bytes);
        count = 0;
        for (std::size_t g = 0; g < groups; ++g) count += ones(marks_[g]);
        return (marks_[groups - 1] & ~first_bits(elems - (groups - 1) * group_elems)) == 0;
    }
    bool take_codes(Input& in, const Head& head, std::size_t count) {
        const std::size_t groups = groups_of(count);
        if (in.left < groups * head.width * group_bytes) return false;
        std::uint64_t escapes[block_elems / group_elems];
        std::size_t escape_count = 0;
        for (std::size_t g = 0; g < groups; ++g) {
            std::uint64_t all = first_bits(count - g * group_elems);
            std::uint8_t* const codes = high_.at + g * group_elems;
            std::memset(codes, 0, group_elems);
            for (unsigned bit = 0; bit < head.width; ++bit) {
                std::uint64_t bits = 0;
                std::memcpy(&bits, in.take(group_bytes), group_bytes);
                ByteMoves<Isa>::add_where(bits, static_cast<std::uint8_t>(1U << bit), codes);
                all &= bits;
            }
            escapes[g] = head.has_escapes() ? all : 0;
            escape_count += ones(escapes[g]);
        }
        if (in.left < escape_count) return false;
        for (std::size_t g = 0; g < groups; ++g)
            for (std::uint64_t left = escapes[g]; left != 0; left &= left - 1)
                high_.at[g * group_elems + static_cast<std::size_t>(__builtin_ctzll(left))] =
                    static_cast<std::uint8_t>(*in.take(1));
        high_.count_down_from(head.base, count);
        return true;
    }
    /// Puts zeros where no mark is.
    const Bits* with_zeros(std::size_t elems) {
        std::size_t from = 0;
        for (std::size_t i = 0; i < elems; ++i) {
            const auto mark = static_cast<Bits>(marks_[i / group_elems] >> i % group_elems & 1U);
            spread_[i] = static_cast<Bits>(words_.at[from] & static_cast<Bits>(Bits{0} - mark));
            from += mark;
        }
        return spread_;
    }

    AllWords words_;
    Bytes<Isa> high_;
    Bytes<Isa> rest_[rest_bytes];
    std::uint64_t marks_[block_elems / group_elems];
    Bits spread_[block_elems];
};

/// A Coder tells lanes/variable_rate.hpp how blocks are encoded. Without tolerances there is
/// nothing to be told.
template <class Isa, class Format>
struct Coder {
    using Lanes = typename Isa::template Lanes<Format>;
    using Bits = typename Format::Bits;
    struct Told {};
    static constexpr std::size_t block_elems = zip::block_elems;

    static Told told_of(const CodecParameters&) { return {}; }

    template <bool with_residual>
    static std::size_t encode(const std::byte* in, std::byte* residual, std::size_t elems,
                              std::byte* out, const Told&) {
        Encoder<Isa, Bits> encoder;
        if constexpr (with_residual)
            encode_elements_with_residual<Lanes>(
                [in](auto lanes, std::size_t i) {
                    using L = decltype(lanes);
                    return L::widen(L::load(element_at<Bits>(in, i)));
                },
                residual, elems, reinterpret_cast<std::byte*>(encoder.elements()));
        else
            std::memcpy(encoder.elements(), in, elems * sizeof(Bits));
        return encoder.encode(elems, out);
    }
    template <class Step>
    static bool decode(Input& in, std::size_t elems, Step step) {
        Decoder<Isa, Bits> decoder;
        const Bits* const words = decoder.decode(in, elems);
        if (words == nullptr) return false;
        for_lanes<Lanes>(elems, [words, &step](auto lanes, std::size_t i) {
            step(lanes, i, decltype(lanes)::load(words + i));
        });
        return true;
    }
};

template <class Isa>
Kernels kernels_for(ElementType type) {
    return for_float_type(
        type, [](auto format) { return variable_rate_kernels<Coder<Isa, decltype(format)>>(); });
}

}  // namespace
}  // namespace gradcoll::zip

namespace gradcoll {

Kernels GRADCOLL_OF_SET(zip_kernels)(ElementType type) {
    return zip::kernels_for<GRADCOLL_ISA>(type);
}

}  // namespace gradcoll
