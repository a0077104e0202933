// Many vectors at once have the bits of the chain of binary calls.
#include "reduce/reducer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <tuple>
#include <vector>

namespace gradcoll {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr ReduceOp all_ops[] = {ReduceOp::sum,  ReduceOp::prod, ReduceOp::min,  ReduceOp::max,
                                ReduceOp::land, ReduceOp::lor,  ReduceOp::lxor, ReduceOp::band,
                                ReduceOp::bor,  ReduceOp::bxor};
constexpr ElementType all_types[] = {ElementType::f16, ElementType::bf16, ElementType::f32,
                                     ElementType::f64, ElementType::i8,   ElementType::u8,
                                     ElementType::i16, ElementType::u16,  ElementType::i32,
                                     ElementType::u32, ElementType::i64,  ElementType::u64};
constexpr std::size_t line = 64;

/// A Buffer has values of `type` somewhere in a page, and a guard on either side.
class Buffer {
  public:
    Buffer(std::size_t size, std::size_t shift) : storage_(size + 4 * line, 0xa5), size_(size) {
        const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
        first_ = line + (line - address % line) % line + shift;
    }
    unsigned char* data() { return storage_.data() + first_; }
    Bytes content() const {
        const auto first = storage_.begin() + static_cast<std::ptrdiff_t>(first_);
        return {first, first + static_cast<std::ptrdiff_t>(size_)};
    }
    bool guards_intact() const {
        for (std::size_t i = 0; i < storage_.size(); ++i)
            if ((i < first_ || i >= first_ + size_) && storage_[i] != 0xa5) return false;
        return true;
    }

  private:
    Bytes storage_;
    std::size_t size_, first_ = 0;
};

/// Returns random bits; for sums and products no NaN: which payload two of them give is not
/// promised even for one call of a kernel.
Bytes random_values(std::mt19937_64& random, ReduceOp op, ElementType type, std::size_t count) {
    Bytes bytes(count * element_bytes(type));
    for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
    if (is_floating(type) &&
        op <= ReduceOp::prod)  // the highest bit of the exponent clear: neither Inf nor NaN
        for (std::size_t i = 0; i < count; ++i) {
            unsigned char* top = bytes.data() + (i + 1) * element_bytes(type) - 1;
            *top = static_cast<unsigned char>(*top & 0xbf);
        }
    return bytes;
}

Bytes chain(const Reducer& reducer, const std::vector<Bytes>& sources, std::size_t count) {
    Bytes out = sources[0];
    for (std::size_t s = 1; s < sources.size(); ++s)
        reducer(out.data(), sources[s].data(), out.data(), count);
    return out;
}

class Many : public testing::TestWithParam<std::tuple<ReduceOp, ElementType, InstructionSet>> {
  protected:
    void SetUp() override {
        const auto [op, type, set] = GetParam();
        if (!cpu_has(set)) GTEST_SKIP() << "this CPU has no " << name_of(set);
        op_ = op;
        type_ = type;
        reducer_ = reducer_for(op, type, set);
        if (!reducer_) GTEST_SKIP() << "not defined";
    }
    std::vector<Bytes> values(std::size_t sources, std::size_t count) {
        std::vector<Bytes> all;
        for (std::size_t s = 0; s < sources; ++s)
            all.push_back(random_values(random_, op_, type_, count));
        return all;
    }
    /// `aliased` is the number of the source that `out` is, or of no source if it is as large as
    /// their number.
    void expect_chain(std::size_t sources, std::size_t count, std::size_t aliased,
                      std::size_t shift, bool streaming) {
        const std::vector<Bytes> in = values(sources, count);
        Buffer out(count * element_bytes(type_), shift);
        std::vector<const void*> pointers;
        for (const Bytes& source : in) pointers.push_back(source.data());
        if (aliased < sources && count > 0) {
            std::memcpy(out.data(), in[aliased].data(), in[aliased].size());
            pointers[aliased] = out.data();
        }
        reduce_many(reducer_, pointers, out.data(), count, streaming);
        ASSERT_TRUE(out.guards_intact());
        ASSERT_EQ(out.content(), chain(reducer_, in, count))
            << sources << " sources, " << count << " elements, out is source " << aliased
            << ", at byte " << shift << " of a line" << (streaming ? ", streaming" : "");
    }

    ReduceOp op_{};
    ElementType type_{};
    Reducer reducer_;
    std::mt19937_64 random_{5};
};

TEST_P(Many, EqualsTheChainOfBinaryCallsForCountsAroundLinesAndBlocks) {
    const std::size_t block = reduce_block_bytes / element_bytes(type_);
    for (const std::size_t sources : {1U, 2U, 3U, 4U, 5U, 9U})
        for (const std::size_t count :
             {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{65}, block - 1, block,
              block + 1, 3 * block + 5})
            for (const bool streaming : {false, true})
                expect_chain(sources, count, sources, 0, streaming);
}

TEST_P(Many, OutMayBeAnyOfTheSources) {
    const std::size_t count = 2 * reduce_block_bytes / element_bytes(type_) + 3;
    for (const std::size_t sources : {1U, 2U, 3U, 4U, 6U})
        for (std::size_t aliased = 0; aliased < sources; ++aliased)
            for (const bool streaming : {false, true})
                expect_chain(sources, count, aliased, 16, streaming);
}

TEST_P(Many, OutNeedsNoAlignment) {
    const std::size_t count = reduce_block_bytes / element_bytes(type_) + 75;
    for (const std::size_t sources : {2U, 3U, 4U})
        for (const std::size_t shift : {1U, 2U, 4U, 8U, 24U, 63U})
            for (const bool streaming : {false, true})
                expect_chain(sources, count, sources, shift, streaming);
}

TEST_P(Many, TheSameSourceMayBeThereTwice) {
    const std::size_t count = 1000;
    const std::vector<Bytes> in = values(2, count);
    Bytes out(in[0].size());
    const void* const pointers[] = {in[0].data(), in[1].data(), in[0].data()};
    reduce_many(reducer_, pointers, out.data(), count, false);
    EXPECT_EQ(out, chain(reducer_, {in[0], in[1], in[0]}, count));
}

std::string name_of_case(const testing::TestParamInfo<Many::ParamType>& info) {
    const auto [op, type, set] = info.param;
    return std::string(name_of(op)) + "_" + std::string(name_of(type)) + "_" +
           std::string(name_of(set));
}

INSTANTIATE_TEST_SUITE_P(Reducer, Many,
                         testing::Combine(testing::ValuesIn(all_ops), testing::ValuesIn(all_types),
                                          testing::ValuesIn(all_instruction_sets.sets)),
                         name_of_case);

TEST(ManySources, OrderIsFromTheFirstSourceToTheLast) {
    const float large = 1e30F, one = 1, minus_large = -1e30F;
    const void* const forward[] = {&large, &minus_large, &one};
    const void* const late[] = {&one, &large, &minus_large};
    float out = 0;
    const Reducer sum = reducer_for(ReduceOp::sum, ElementType::f32);
    reduce_many(sum, forward, &out, 1, false);
    EXPECT_EQ(out, 1.0F);
    reduce_many(sum, late, &out, 1, false);
    EXPECT_EQ(out, 0.0F);
}

}  // namespace
}  // namespace gradcoll
