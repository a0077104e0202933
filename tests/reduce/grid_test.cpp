// Sums on a grid against plain integer arithmetic: every bit, in whatever parts they are made.
#include "reduce/grid.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "reduce/half.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll {
namespace {

using Wide = __int128;
using Vectors = std::vector<std::vector<std::byte>>;

constexpr ElementType types[] = {ElementType::f16, ElementType::bf16, ElementType::f32,
                                 ElementType::f64};

struct TypeFacts {
    int precision, least_exponent, most_exponent, grid_bits;
};
TypeFacts facts_of(ElementType type) {
    switch (type) {
        case ElementType::f16:
            return {11, -14, 15, 46};
        case ElementType::bf16:
            return {8, -126, 127, 46};
        case ElementType::f64:
            return {53, -1022, 1023, 93};
        default:
            return {24, -126, 127, 46};
    }
}

double value_at(ElementType type, const std::byte* data, std::size_t i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, data + i * element_bytes(type), element_bytes(type));
    switch (type) {
        case ElementType::f16:
            return float_from_f16(static_cast<std::uint16_t>(bits));
        case ElementType::bf16:
            return float_from_bf16(static_cast<std::uint16_t>(bits));
        case ElementType::f64:
            return std::bit_cast<double>(bits);
        default:
            return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    }
}

/// Divides by 2 to the power of `shift`, to the nearest, ties to even.
Wide shifted_down(Wide value, int shift) {
    if (shift <= 0) return value << -shift;
    if (shift > 125) return 0;
    const Wide floor = value >> shift;
    const Wide rest = value - (floor << shift);
    const Wide half = Wide{1} << (shift - 1);
    return rest > half || (rest == half && (floor & 1) != 0) ? floor + 1 : floor;
}

/// Returns a finite number as a multiple of 2 to the power of `step`.
Wide on_grid(double value, int step) {
    int exponent = 0;
    const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
    return shifted_down(digits, step - (exponent - 53));
}

/// Rounds sum * 2^step to the type.
double rounded(Wide sum, int step, const TypeFacts& facts) {
    int length = 0;
    for (Wide rest = sum < 0 ? -sum : sum; rest != 0; rest >>= 1) ++length;
    const int last =
        std::max(length + step - facts.precision, facts.least_exponent - facts.precision + 1);
    const Wide digits = last > step ? shifted_down(sum, last - step) : sum;
    const double value = std::ldexp(static_cast<double>(digits), last > step ? last : step);
    const double beyond = std::ldexp(1.0, facts.most_exponent);
    return std::abs(value) >= 2 * beyond ? std::copysign(HUGE_VAL, value) : value;
}

/// Returns what the elements of a block should sum to.
std::vector<double> reference(ElementType type, const Vectors& inputs, std::size_t first,
                              std::size_t count) {
    const TypeFacts facts = facts_of(type);
    double largest = 0;
    for (const auto& input : inputs)
        for (std::size_t i = first; i < first + count; ++i) {
            const double value = std::abs(value_at(type, input.data(), i));
            if (std::isfinite(value)) largest = std::max(largest, value);
        }
    const int top = std::max(largest > 0 ? std::ilogb(largest) : -10000, facts.least_exponent);
    const int step = top - facts.grid_bits;
    std::vector<double> sums;
    for (std::size_t i = first; i < first + count; ++i) {
        Wide sum = 0;
        double special = 0;
        for (const auto& input : inputs) {
            const double value = value_at(type, input.data(), i);
            if (std::isfinite(value))
                sum += on_grid(value, step);
            else
                special += value;
        }
        const bool is_special = special != 0 || std::isnan(special);
        sums.push_back(is_special ? special : rounded(sum, step, facts));
    }
    return sums;
}

enum class Kind { plain, far_apart, cancelling, subnormal, huge, special, bits, last };

std::uint64_t bits_of(ElementType type, double value) {
    switch (type) {
        case ElementType::f16:
            return f16_from_float(static_cast<float>(value));
        case ElementType::bf16:
            return bf16_from_float(static_cast<float>(value));
        case ElementType::f64:
            return std::bit_cast<std::uint64_t>(value);
        default:
            return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
}

std::uint64_t made_up(ElementType type, Kind kind, std::mt19937_64& random) {
    const TypeFacts facts = facts_of(type);
    const double unit = std::normal_distribution<double>()(random);
    const auto exponent = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    switch (kind) {
        case Kind::far_apart:
            return bits_of(type, std::ldexp(unit, exponent(-60, 0)));
        case Kind::cancelling:
            return bits_of(type, exponent(0, 1) == 0 ? 1024 + unit : -1024 + unit);
        case Kind::subnormal:
            return bits_of(type, std::ldexp(unit, facts.least_exponent - exponent(0, 12)));
        case Kind::huge:
            return bits_of(type, std::ldexp(unit, facts.most_exponent - 2));
        case Kind::special:
            if (exponent(0, 60) == 0)
                return bits_of(type, exponent(0, 3) == 0 ? NAN : std::copysign(HUGE_VAL, unit));
            return bits_of(type, unit);
        case Kind::bits:
            return random();
        default:
            return bits_of(type, exponent(0, 9) == 0 ? std::copysign(0.0, unit) : unit);
    }
}

Vectors inputs_of(ElementType type, Kind kind, std::size_t contributions, std::size_t count,
                  std::mt19937_64& random) {
    Vectors inputs(contributions, std::vector<std::byte>(count * element_bytes(type)));
    for (auto& input : inputs)
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t bits = made_up(type, kind, random);
            std::memcpy(input.data() + i * element_bytes(type), &bits, element_bytes(type));
        }
    return inputs;
}

void expect_reference(ElementType type, const Vectors& inputs, const std::vector<std::byte>& got,
                      const std::string& what) {
    const std::size_t count = got.size() / element_bytes(type);
    for (std::size_t first = 0; first < count; first += grid_block_elems) {
        const std::size_t elems = std::min(grid_block_elems, count - first);
        const std::vector<double> right = reference(type, inputs, first, elems);
        for (std::size_t i = 0; i < elems; ++i) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, got.data() + (first + i) * element_bytes(type), element_bytes(type));
            const double sum = value_at(type, got.data(), first + i);
            if (std::isnan(right[i]))
                ASSERT_EQ(bits,
                          bits_of(type, NAN) & ~(std::uint64_t{1} << (8 * element_bytes(type) - 1)))
                    << what;
            else
                ASSERT_EQ(bits, bits_of(type, right[i] == 0 ? 0.0 : right[i]))
                    << what << " element " << first + i << ": " << sum << " for " << right[i];
        }
    }
}

std::vector<std::byte> sum_at_once(const Reducer& reducer, const Vectors& inputs) {
    std::vector<const void*> sources;
    for (const auto& input : inputs) sources.push_back(input.data());
    std::vector<std::byte> out(inputs.front().size());
    reduce_many(reducer, sources, out.data(), out.size() / reducer.element_bytes, false);
    return out;
}

/// Makes the sum in integers, in parts of a random tree.
std::vector<std::byte> sum_in_parts(ElementType type, const Vectors& inputs,
                                    std::mt19937_64& random) {
    const std::size_t count = inputs.front().size() / element_bytes(type);
    std::vector<GridTop> tops(grid_blocks(count)), mine(tops.size());
    std::vector<std::uint8_t> specials(count), my_specials(count);
    for (const auto& input : inputs) {
        find_tops(type, input.data(), count, mine.data());
        find_specials(type, input.data(), count, my_specials.data());
        for (std::size_t b = 0; b < tops.size(); ++b) {
            tops[b].top = std::max(tops[b].top, mine[b].top);
            tops[b].has_specials = std::max(tops[b].has_specials, mine[b].has_specials);
        }
        for (std::size_t i = 0; i < count; ++i) specials[i] |= my_specials[i];
    }
    std::vector<std::vector<std::int64_t>> parts;
    for (const auto& input : inputs) {
        parts.emplace_back(count * grid_words(type));
        to_grid(type, input.data(), count, tops.data(), parts.back().data());
    }
    while (parts.size() > 1) {
        std::swap(parts[random() % parts.size()], parts.back());
        const auto last = std::move(parts.back());
        parts.pop_back();
        auto& to = parts[random() % parts.size()];
        for (std::size_t i = 0; i < to.size(); ++i) to[i] += last[i];
    }
    std::vector<std::byte> out(inputs.front().size());
    from_grid(type, parts.front().data(), count, tops.data(), out.data());
    put_specials(type, specials.data(), count, out.data());
    return out;
}

/// Makes one sum in all ways.
void expect_one_sum(ElementType type, const Vectors& inputs, std::mt19937_64& random,
                    const std::string& what) {
    const auto in_parts = sum_in_parts(type, inputs, random);
    expect_reference(type, inputs, in_parts, what + " in parts");
    for (const auto set : all_instruction_sets) {
        if (!cpu_has(set)) continue;
        ASSERT_EQ(sum_at_once(grid_reducer(type, set), inputs), in_parts)
            << what << " at once, " << name_of(set);
    }
}

TEST(Grid, EveryWayGivesTheBitsOfIntegerArithmetic) {
    std::mt19937_64 random(20);
    for (const ElementType type : types)
        for (int kind = 0; kind < static_cast<int>(Kind::last); ++kind)
            for (const std::size_t contributions : {1U, 2U, 3U, 5U, 64U, 65U, 130U})
                for (const std::size_t count : {1U, 7U, 8U, 250U, 256U, 257U, 530U}) {
                    if (contributions > 5 && count > 257) continue;
                    expect_one_sum(
                        type,
                        inputs_of(type, static_cast<Kind>(kind), contributions, count, random),
                        random,
                        std::string(name_of(type)) + " kind " + std::to_string(kind) + " of " +
                            std::to_string(contributions));
                }
}

/// Makes sums of random lengths, types and kinds, at once and in parts. GC_TEST_CASES says how
/// many.
TEST(Grid, RandomSumsHaveTheSameBitsAtOnceAndInParts) {
    const char* const wanted = std::getenv("GC_TEST_CASES");
    const int cases = wanted != nullptr ? std::atoi(wanted) : 20'000;
    std::mt19937_64 random(23);
    for (int i = 0; i < cases; ++i) {
        const ElementType type = types[random() % std::size(types)];
        const auto kind = static_cast<Kind>(random() % static_cast<int>(Kind::last));
        const std::size_t contributions =
            random() % 50 == 0 ? 1 + random() % 100 : 1 + random() % 6;
        const std::size_t count = random() % 10 == 0 ? 1 + random() % 600 : 1 + random() % 30;
        const auto inputs = inputs_of(type, kind, contributions, count, random);
        ASSERT_EQ(sum_at_once(grid_reducer(type), inputs), sum_in_parts(type, inputs, random))
            << "case " << i;
    }
}

/// The example is that of docs/reproducible.md.
TEST(Grid, TheWorkedBlockOfThePage) {
    const float first[] = {1.5F, 0x1p-30F}, second[] = {-1.25F, 0x3p-47F};
    const GridTop top{127, 0};
    std::int64_t words[2], more[2];
    to_grid(ElementType::f32, first, 2, &top, words);
    to_grid(ElementType::f32, second, 2, &top, more);
    EXPECT_EQ(words[0], 105553116266496);
    EXPECT_EQ(words[1], 65536);
    EXPECT_EQ(more[0], -87960930222080);
    EXPECT_EQ(more[1], 2);
    for (int i = 0; i < 2; ++i) words[i] += more[i];
    EXPECT_EQ(words[0], 17592186044416);
    EXPECT_EQ(words[1], 65538);
    float sum[2];
    from_grid(ElementType::f32, words, 2, &top, sum);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(sum[0]), 0x3e800000U);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(sum[1]), 0x30800100U);
}

TEST(Grid, TheResultMayTakeThePlaceOfAnInput) {
    std::mt19937_64 random(21);
    for (const ElementType type : types) {
        auto inputs = inputs_of(type, Kind::plain, 3, 700, random);
        const auto right = sum_at_once(grid_reducer(type), inputs);
        const std::vector<const void*> sources = {inputs[0].data(), inputs[1].data(),
                                                  inputs[2].data()};
        reduce_many(grid_reducer(type), sources, inputs[1].data(), 700, true);
        EXPECT_EQ(inputs[1], right);
    }
}

/// If all contributions are within 2^22 of the block's largest, the sum is the correctly rounded
/// one; else it is off by at most n 2^(e-47) and one rounding.
TEST(Grid, TheErrorIsWhatThePagePromises) {
    std::mt19937_64 random(22);
    for (int round = 0; round < 200; ++round) {
        const std::size_t contributions = 1 + random() % 40;
        const auto inputs =
            inputs_of(ElementType::f32, round % 2 == 0 ? Kind::plain : Kind::far_apart,
                      contributions, grid_block_elems, random);
        const auto got = sum_at_once(grid_reducer(ElementType::f32), inputs);
        double largest = 0, least = HUGE_VAL;
        std::vector<long double> exact(grid_block_elems, 0);  // of 64 bits, which these sums need
        for (const auto& input : inputs)
            for (std::size_t i = 0; i < grid_block_elems; ++i) {
                const double value = value_at(ElementType::f32, input.data(), i);
                exact[i] += value;
                largest = std::max(largest, std::abs(value));
                if (value != 0) least = std::min(least, std::abs(value));
            }
        const int top = std::ilogb(largest);
        for (std::size_t i = 0; i < grid_block_elems; ++i) {
            const auto sum = static_cast<float>(value_at(ElementType::f32, got.data(), i));
            const auto correct = static_cast<float>(exact[i]);
            const double off = static_cast<double>(contributions) * std::ldexp(1.0, top - 47);
            if (std::ilogb(least) >= top - 22)
                ASSERT_EQ(sum, correct);
            else
                ASSERT_LE(std::abs(sum - static_cast<double>(exact[i])),
                          off + std::abs(correct) * 0x1p-24 + 0x1p-149);
        }
    }
}

}  // namespace
}  // namespace gradcoll
