// compress/grid/grid_kernels.cpp - the kernels of one instruction set: 64-bit whole numbers in as
// many bits as they need, without loss. The build compiles this once for each (gradcoll_kernels).
#include <cstring>

#include "compress/grid/grid_layout.hpp"
#include "compress/kernels.hpp"
#include "reduce/element_type.hpp"
#include "reduce/vector.hpp"

namespace gradcoll::grid {
namespace {

using Word = std::uint64_t;
constexpr unsigned word_bits = 64;
constexpr std::size_t row_bytes = row_elems * sizeof(Word);

template <class Isa>
constexpr std::size_t vector_bytes_of() {
    if constexpr (requires { Isa::vector_bytes; }) return Isa::vector_bytes;
    return 16;  // compilers lower it to whatever any CPU has
}

/// A Row is eight words side by side, in the vectors of an instruction set.
template <class Isa>
struct Row {
    static constexpr std::size_t lanes = vector_bytes_of<Isa>() / sizeof(Word);
    static constexpr std::size_t parts = row_elems / lanes;
    using Part = Vector<Word, lanes>;
    Part part[parts];

    [[gnu::always_inline]] static Row zero() { return {}; }
    [[gnu::always_inline]] static Row load(const std::byte* from) {
        Row row;
        for (std::size_t p = 0; p < parts; ++p)
            row.part[p] = load_vector<Part>(from + p * sizeof(Part));
        return row;
    }
    [[gnu::always_inline]] void store(std::byte* to) const {
        for (std::size_t p = 0; p < parts; ++p) store_vector(to + p * sizeof(Part), part[p]);
    }
    /// Sets each part to what `of` makes of it and of that of another row.
    template <class Of>
    [[gnu::always_inline]] void combine(const Row& other, const Of& of) {
        for (std::size_t p = 0; p < parts; ++p) part[p] = of(part[p], other.part[p]);
    }
    template <class Of>
    [[gnu::always_inline]] void change(const Of& of) {
        for (std::size_t p = 0; p < parts; ++p) part[p] = of(part[p]);
    }
    /// Returns the bits that any word has.
    [[gnu::always_inline]] Word any() const {
        Part all = part[0];
        for (std::size_t p = 1; p < parts; ++p) all |= part[p];
        Word bits = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane) bits |= all[lane];
        return bits;
    }
};

/// Rows are the words of a block; the last row may have fewer, and zeros behind them.
struct Rows {
    const std::byte* from;
    std::size_t elems;

    template <class Isa>
    [[gnu::always_inline]] Row<Isa> load(std::size_t row) const {
        const std::size_t first = row * row_elems;
        if (first + row_elems <= elems) return Row<Isa>::load(from + first * sizeof(Word));
        alignas(row_bytes) std::byte padded[row_bytes] = {};
        std::memcpy(padded, from + first * sizeof(Word), (elems - first) * sizeof(Word));
        return Row<Isa>::load(padded);
    }
};

/// A Group says how the words of a group are written: without their `shift` lowest bits, which are
/// zeros, as signed numbers of `width` bits.
struct Group {
    unsigned width = 0;
    unsigned shift = 0;

    /// `any` has the bits that some word has, `magnitudes` those in which some word differs from
    /// its sign.
    [[gnu::always_inline]] static Group of(Word any, Word magnitudes) {
        if (any == 0) return {};
        const unsigned zeros = static_cast<unsigned>(__builtin_ctzll(any));
        const unsigned bits =
            magnitudes == 0 ? 0 : word_bits - static_cast<unsigned>(__builtin_clzll(magnitudes));
        return {bits + 1 - zeros, zeros};
    }
    /// Reads a group that comes from a peer. Returns whether it is one.
    [[gnu::always_inline]] static bool read(const std::byte* head, Group& group) {
        group = {static_cast<unsigned>(head[0]), static_cast<unsigned>(head[1])};
        return group.width + group.shift <= word_bits && (group.width > 0 || group.shift == 0);
    }
    [[gnu::always_inline]] void write(std::byte* head) const {
        head[0] = static_cast<std::byte>(width);
        head[1] = static_cast<std::byte>(shift);
    }
    [[gnu::always_inline]] Word mask() const { return ~Word{0} >> (word_bits - width); }
    [[gnu::always_inline]] Word sign() const { return Word{1} << (width - 1); }
};

/// A ColumnWriter packs rows: a bit of each column after the other, in words of 64 bits.
template <class Isa>
class ColumnWriter {
    using Part = typename Row<Isa>::Part;

  public:
    explicit ColumnWriter(std::byte* to) : to_(to) {}

    [[gnu::always_inline]] void add(const Row<Isa>& row, unsigned width) {
        const unsigned fill = fill_;
        open_.combine(
            row, [fill](Part open, Part bits)
                     __attribute__((always_inline)) { return open | (bits << fill); });
        fill_ += width;
        if (fill_ < word_bits) return;
        open_.store(to_);
        to_ += row_bytes;
        fill_ -= word_bits;
        const unsigned used = width - fill_;
        open_ = row;
        if (used < word_bits)
            open_.change([used](Part bits) __attribute__((always_inline)) { return bits >> used; });
        else
            open_ = Row<Isa>::zero();
    }
    /// Writes what is left, column after column in whole bytes, and returns the end.
    std::byte* finish() {
        const std::size_t bytes = (fill_ + 7) / 8;
        alignas(row_bytes) std::byte last[row_bytes];
        open_.store(last);
        for (std::size_t column = 0; column < row_elems; ++column, to_ += bytes)
            std::memcpy(to_, last + column * sizeof(Word), bytes);
        return to_;
    }

  private:
    std::byte* to_;
    Row<Isa> open_ = Row<Isa>::zero();
    unsigned fill_ = 0;  ///< bits in each open word, below 64
};

/// A ColumnReader unpacks rows of `bits` bits a column, all of which are there.
template <class Isa>
class ColumnReader {
    using Part = typename Row<Isa>::Part;

  public:
    ColumnReader(const std::byte* from, std::size_t bits)
        : from_(from), whole_(bits / word_bits), last_bytes_((bits % word_bits + 7) / 8) {}

    /// Returns the next `width` bits, at least one, of each column; what is above them is
    /// unspecified.
    [[gnu::always_inline]] Row<Isa> take(unsigned width) {
        Row<Isa> bits = open_;
        if (width <= left_) {
            if (width < word_bits)
                open_.change([width](Part word)
                                 __attribute__((always_inline)) { return word >> width; });
            left_ -= width;
            return bits;
        }
        const Row<Isa> next = load();
        if (left_ == 0)
            bits = next;
        else
            bits.combine(
                next, [this](Part open, Part word)
                          __attribute__((always_inline)) { return open | (word << left_); });
        const unsigned used = width - left_;
        open_ = next;
        if (used < word_bits)
            open_.change([used](Part word) __attribute__((always_inline)) { return word >> used; });
        left_ = word_bits - used;
        return bits;
    }

  private:
    [[gnu::always_inline]] Row<Isa> load() {
        if (whole_ > 0) {
            --whole_;
            const Row<Isa> row = Row<Isa>::load(from_);
            from_ += row_bytes;
            return row;
        }
        alignas(row_bytes) std::byte last[row_bytes] = {};
        for (std::size_t column = 0; column < row_elems; ++column)
            std::memcpy(last + column * sizeof(Word), from_ + column * last_bytes_, last_bytes_);
        return Row<Isa>::load(last);
    }

    const std::byte* from_;
    std::size_t whole_;
    std::size_t last_bytes_;
    Row<Isa> open_ = Row<Isa>::zero();
    unsigned left_ = 0;  ///< bits of the open words that nobody has taken
};

template <class Isa>
class Coder {
    using Lanes = Row<Isa>;
    using Part = typename Lanes::Part;

  public:
    static std::byte* encode_block(const Rows& rows, std::byte* out) {
        const std::size_t row_count = rows_of(rows.elems);
        std::byte* head = out;
        ColumnWriter<Isa> columns(out + groups_of(rows.elems) * group_head_bytes);
        for (std::size_t row = 0; row < row_count; row += group_rows, head += group_head_bytes) {
            Lanes words[group_rows] = {rows.load<Isa>(row), Lanes::zero()};
            const bool has_two = row + 1 < row_count;
            if (has_two) words[1] = rows.load<Isa>(row + 1);
            const Group group = group_of(words);
            group.write(head);
            if (group.width == 0) continue;
            const Word mask = group.mask();
            const unsigned shift = group.shift;
            for (std::size_t i = 0; i < (has_two ? group_rows : 1); ++i) {
                words[i].change([ mask, shift ](Part word) __attribute__((always_inline)) {
                    return (word >> shift) & mask;
                });
                columns.add(words[i], group.width);
            }
        }
        return columns.finish();
    }

    /// Calls step(row, words) for all rows of a block. Returns where it ends; null if it is none.
    template <class Step>
    static const std::byte* decode_block(const std::byte* in, const std::byte* end,
                                         std::size_t elems, const Step& step) {
        const std::size_t row_count = rows_of(elems);
        const std::size_t heads_bytes = groups_of(elems) * group_head_bytes;
        if (static_cast<std::size_t>(end - in) < heads_bytes) return nullptr;
        std::size_t bits = 0;
        Group group;
        for (std::size_t row = 0; row < row_count; row += group_rows) {
            if (!Group::read(in + row / group_rows * group_head_bytes, group)) return nullptr;
            bits += group.width * (row + 1 < row_count ? group_rows : 1);
        }
        const std::size_t bytes =
            row_elems * (bits / word_bits * sizeof(Word) + (bits % word_bits + 7) / 8);
        const std::byte* const from = in + heads_bytes;
        if (static_cast<std::size_t>(end - from) < bytes) return nullptr;
        ColumnReader<Isa> columns(from, bits);
        for (std::size_t row = 0; row < row_count; ++row) {
            if (row % group_rows == 0)
                (void)Group::read(in + row / group_rows * group_head_bytes, group);
            if (group.width == 0) {
                step(row, Lanes::zero());
                continue;
            }
            Lanes words = columns.take(group.width);
            const Word mask = group.mask(), sign = group.sign();
            const unsigned shift = group.shift;
            words.change([ mask, sign, shift ](Part word) __attribute__((always_inline)) {
                return (((word & mask) ^ sign) - sign) << shift;
            });
            step(row, words);
        }
        return from + bytes;
    }

  private:
    [[gnu::always_inline]] static Group group_of(const Lanes (&words)[group_rows]) {
        Lanes any = words[0], magnitudes = words[0];
        any.combine(
            words[1], [](Part a, Part b) __attribute__((always_inline)) { return a | b; });
        magnitudes.combine(
            words[1], [](Part a, Part b) __attribute__((always_inline)) {
                return without_sign(a) | without_sign(b);
            });
        return Group::of(any.any(), magnitudes.any());
    }
    [[gnu::always_inline]] static Part without_sign(Part word) {
        using Signed = Vector<std::int64_t, Lanes::lanes>;
        return word ^ __builtin_bit_cast(Part, __builtin_bit_cast(Signed, word) < 0);
    }
};

template <class Isa>
std::size_t encode(const CodecParameters&, const void* in, std::size_t count, std::byte* out) {
    const auto* const from = static_cast<const std::byte*>(in);
    std::byte* to = out;
    for (std::size_t first = 0; first < count; first += block_elems) {
        const std::size_t elems = count - first < block_elems ? count - first : block_elems;
        to = Coder<Isa>::encode_block({from + first * sizeof(Word), elems}, to);
    }
    return static_cast<std::size_t>(to - out);
}

template <class Isa>
std::size_t encode_with_residual(const CodecParameters& parameters, const void* in, void*,
                                 std::size_t count, std::byte* out) {
    return encode<Isa>(parameters, in, count, out);
}

/// Decodes words, and adds them to those of `base` if `adds`.
template <class Isa, bool adds>
bool decode_all(const std::byte* in, std::size_t in_bytes, std::size_t count, const void* base,
                void* out) {
    using Part = typename Row<Isa>::Part;
    const std::byte* const end = in + in_bytes;
    for (std::size_t first = 0; first < count; first += block_elems) {
        const std::size_t elems = count - first < block_elems ? count - first : block_elems;
        const Rows before{static_cast<const std::byte*>(base) + (adds ? first * sizeof(Word) : 0),
                          elems};
        std::byte* const to = static_cast<std::byte*>(out) + first * sizeof(Word);
        const auto put = [&](std::size_t row, Row<Isa> words) __attribute__((always_inline)) {
            if constexpr (adds)
                words.combine(
                    before.load<Isa>(row),
                    [](Part a, Part b) __attribute__((always_inline)) { return a + b; });
            const std::size_t at = row * row_elems;
            if (at + row_elems <= elems) return words.store(to + at * sizeof(Word));
            alignas(row_bytes) std::byte padded[row_bytes];
            words.store(padded);
            std::memcpy(to + at * sizeof(Word), padded, (elems - at) * sizeof(Word));
        };
        in = Coder<Isa>::decode_block(in, end, elems, put);
        if (in == nullptr) return false;
    }
    return in == end;
}

template <class Isa>
bool decode(const std::byte* in, std::size_t in_bytes, std::size_t count, void* out) {
    return decode_all<Isa, false>(in, in_bytes, count, out, out);
}
template <class Isa>
bool decode_sum(const std::byte* in, std::size_t in_bytes, std::size_t count, const void* base,
                void* out) {
    return decode_all<Isa, true>(in, in_bytes, count, base, out);
}

}  // namespace
}  // namespace gradcoll::grid

namespace gradcoll {

Kernels GRADCOLL_OF_SET(grid_codec_kernels)(ElementType type) {
    using Isa = GRADCOLL_ISA;
    if (type != ElementType::i64) return {};
    return {grid::encode<Isa>, grid::encode_with_residual<Isa>, grid::decode<Isa>,
            grid::decode_sum<Isa>};
}

}  // namespace gradcoll
