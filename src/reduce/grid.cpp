#include "reduce/grid.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <vector>

#include "instruction_sets.hpp"
#include "reduce/float_types.hpp"
#include "reduce/grid_kernels.hpp"

namespace gradcoll {
namespace {

/// The tables are in the order of InstructionSet.
constexpr const GridTable& (*grid_tables[])() = {GRADCOLL_OF_SETS(grid_table)};
constexpr std::size_t set_count = std::size(grid_tables);

/// GridKernels are those of one type and instruction set.
struct GridKernels {
    ElementType type;
    const GridTable& table;

    auto largest() const { return table.largest[static_cast<std::size_t>(type)]; }
    auto add() const { return table.add[static_cast<std::size_t>(type)]; }
    auto to_grid() const { return table.to_grid[static_cast<std::size_t>(type)]; }
    auto from_grid() const { return table.from_grid[static_cast<std::size_t>(type)]; }
};

/// A FloatFormat says how the bits of an element of a type are read.
struct FloatFormat {
    std::uint64_t infinity;  ///< the bits of Inf without a sign
    int fraction_bits;
    std::uint64_t nan;  ///< the bits of the quiet NaN without a sign and payload
    std::size_t bytes;

    std::uint64_t sign() const { return std::uint64_t{1} << (8 * bytes - 1); }
    /// Returns the top of a block whose largest magnitude has these bits.
    std::uint16_t top_of(std::uint64_t magnitude) const {
        return static_cast<std::uint16_t>(std::max<std::uint64_t>(1, magnitude >> fraction_bits));
    }
};

template <class Format>
constexpr FloatFormat format_as() {
    return {infinity_bits<Format>(), Format::fraction_bits, quiet_nan_bits<Format>(),
            sizeof(typename Format::Bits)};
}

constexpr FloatFormat format_of(ElementType type) {
    switch (type) {
        case ElementType::f16:
            return format_as<Fp16>();
        case ElementType::bf16:
            return format_as<Bf16>();
        case ElementType::f64:
            return format_as<Fp64>();
        default:
            return format_as<Fp32>();
    }
}

std::uint64_t load_bits(const FloatFormat& format, const void* data, std::size_t index) {
    std::uint64_t bits = 0;  // of a machine that stores the lowest byte first
    std::memcpy(&bits, static_cast<const std::byte*>(data) + index * format.bytes, format.bytes);
    return bits;
}
void store_bits(const FloatFormat& format, void* data, std::size_t index, std::uint64_t bits) {
    std::memcpy(static_cast<std::byte*>(data) + index * format.bytes, &bits, format.bytes);
}

constexpr std::uint8_t plus_infinity = 1, minus_infinity = 2, not_a_number = 4;

std::uint8_t special_of(const FloatFormat& format, std::uint64_t bits) {
    const std::uint64_t magnitude = bits & ~format.sign();
    if (magnitude < format.infinity) return 0;
    if (magnitude > format.infinity) return not_a_number;
    return (bits & format.sign()) != 0 ? minus_infinity : plus_infinity;
}

/// A FiniteBlock is a copy of a block without NaN and Inf, which are zeros in it.
class FiniteBlock {
  public:
    FiniteBlock(const FloatFormat& format, const void* block, std::size_t count) {
        std::memcpy(bytes_.data(), block, count * format.bytes);
        for (std::size_t i = 0; i < count; ++i)
            if (special_of(format, load_bits(format, bytes_.data(), i)) != 0)
                store_bits(format, bytes_.data(), i, 0);
    }
    const void* data() const { return bytes_.data(); }

  private:
    std::array<std::byte, grid_block_elems * sizeof(double)> bytes_;
};

/// Calls `of(offset, count)` for each block of a vector.
template <class Of>
void for_each_block(std::size_t count, Of&& of) {
    for (std::size_t first = 0; first < count; first += grid_block_elems)
        of(first, std::min(grid_block_elems, count - first));
}

const std::byte* at(const void* data, const FloatFormat& format, std::size_t index) {
    return static_cast<const std::byte*>(data) + index * format.bytes;
}
std::byte* at(void* data, const FloatFormat& format, std::size_t index) {
    return static_cast<std::byte*>(data) + index * format.bytes;
}

/// GridAdder adds blocks of all contributions.
class GridAdder {
  public:
    explicit GridAdder(const GridKernels& kernels)
        : kernels_(kernels), format_(format_of(kernels.type)) {}

    void add(const void* const* sources, std::size_t source_count, std::size_t first,
             std::size_t count, void* out) const {
        std::uint64_t largest = 0;
        for (std::size_t s = 0; s < source_count; ++s)
            largest = std::max(largest, kernels_.largest()(at(sources[s], format_, first), count));
        if (largest < format_.infinity && source_count <= most_sources_at_once)
            kernels_.add()(sources, source_count, first, count, format_.top_of(largest), out);
        else
            add_in_words(sources, source_count, first, count, out);
    }

  private:
    /// Adds any number of contributions with any elements, by way of integers.
    [[gnu::noinline]] void add_in_words(const void* const* sources, std::size_t source_count,
                                        std::size_t first, std::size_t count, void* out) const {
        GridTop top;
        std::array<std::uint8_t, grid_block_elems> specials{}, mine{};
        for (std::size_t s = 0; s < source_count; ++s) {
            const std::byte* const block = at(sources[s], format_, first);
            GridTop its;
            find_tops(kernels_.type, block, count, &its);
            top.top = std::max(top.top, its.top);
            find_specials(kernels_.type, block, count, mine.data());
            for (std::size_t i = 0; i < count; ++i) specials[i] |= mine[i];
        }
        std::array<std::int64_t, 2 * grid_block_elems> sum{}, words{};
        for (std::size_t s = 0; s < source_count; ++s) {
            const FiniteBlock finite(format_, at(sources[s], format_, first), count);
            kernels_.to_grid()(finite.data(), count, top.top, words.data());
            for (std::size_t i = 0; i < grid_words(kernels_.type) * count; ++i) sum[i] += words[i];
        }
        std::byte* const to = at(out, format_, first);
        kernels_.from_grid()(sum.data(), count, top.top, to);
        put_specials(kernels_.type, specials.data(), count, to);
    }

    const GridKernels& kernels_;
    FloatFormat format_;
};

/// Adds all contributions (ReduceManyFunction); `context` are the GridKernels.
void add_many(const void* context, const void* const* sources, std::size_t source_count, void* out,
              std::size_t count, bool /*streaming*/) {
    const GridAdder adder(*static_cast<const GridKernels*>(context));
    for_each_block(count, [&](std::size_t first, std::size_t elems) {
        adder.add(sources, source_count, first, elems, out);
    });
}

void add_two(const void* context, const void* a, const void* b, void* out, std::size_t count) {
    const void* const sources[] = {a, b};
    add_many(context, sources, 2, out, count, false);
}

const GridKernels& kernels_of(ElementType type, InstructionSet set) {
    static const std::vector<GridKernels> all = [] {
        std::vector<GridKernels> made;
        for (std::size_t t = 0; t < element_type_count; ++t)
            for (const auto& table : grid_tables)
                made.push_back({static_cast<ElementType>(t), table()});
        return made;
    }();
    return all[static_cast<std::size_t>(type) * set_count + static_cast<std::size_t>(set)];
}

const GridKernels& kernels_for(ElementType type) {
    return kernels_of(type, best_instruction_set());
}

}  // namespace

Reducer grid_reducer(ElementType type, InstructionSet set) {
    return {.function = add_two,
            .context = &kernels_of(type, set),
            .element_bytes = element_bytes(type),
            .many = add_many,
            .together_elems = grid_block_elems};
}

Reducer grid_reducer(ElementType type) {
    return grid_reducer(type, best_instruction_set());
}

void find_tops(ElementType type, const void* in, std::size_t count, GridTop* tops) {
    const GridKernels& kernels = kernels_for(type);
    const FloatFormat format = format_of(type);
    for_each_block(count, [&](std::size_t first, std::size_t elems) {
        const std::byte* const block = at(in, format, first);
        std::uint64_t largest = kernels.largest()(block, elems);
        const bool has_specials = largest >= format.infinity;
        if (has_specials)
            largest = kernels.largest()(FiniteBlock(format, block, elems).data(), elems);
        tops[first / grid_block_elems] = {format.top_of(largest),
                                          has_specials ? std::uint16_t{1} : std::uint16_t{0}};
    });
}

void to_grid(ElementType type, const void* in, std::size_t count, const GridTop* tops,
             std::int64_t* words) {
    const GridKernels& kernels = kernels_for(type);
    const FloatFormat format = format_of(type);
    for_each_block(count, [&](std::size_t first, std::size_t elems) {
        const GridTop& top = tops[first / grid_block_elems];
        const std::byte* const block = at(in, format, first);
        std::int64_t* const to = words + first * grid_words(type);
        if (top.has_specials == 0)
            kernels.to_grid()(block, elems, top.top, to);
        else
            kernels.to_grid()(FiniteBlock(format, block, elems).data(), elems, top.top, to);
    });
}

void from_grid(ElementType type, const std::int64_t* words, std::size_t count, const GridTop* tops,
               void* out) {
    const GridKernels& kernels = kernels_for(type);
    const FloatFormat format = format_of(type);
    for_each_block(count, [&](std::size_t first, std::size_t elems) {
        kernels.from_grid()(words + first * grid_words(type), elems,
                            tops[first / grid_block_elems].top, at(out, format, first));
    });
}

void find_specials(ElementType type, const void* in, std::size_t count, std::uint8_t* specials) {
    const FloatFormat format = format_of(type);
    for (std::size_t i = 0; i < count; ++i)
        specials[i] = special_of(format, load_bits(format, in, i));
}

void put_specials(ElementType type, const std::uint8_t* specials, std::size_t count, void* out) {
    const FloatFormat format = format_of(type);
    for (std::size_t i = 0; i < count; ++i) {
        if (specials[i] == 0) continue;
        std::uint64_t bits = format.nan;
        if (specials[i] == plus_infinity) bits = format.infinity;
        if (specials[i] == minus_infinity) bits = format.infinity | format.sign();
        store_bits(format, out, i, bits);
    }
}

}  // namespace gradcoll
