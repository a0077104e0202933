// Every op and type of GPU reductions against the plain reference. The program runs it on what its
// reduce_machine() is: emulated warps or a device.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "reduce/reduce_machine.hpp"
#include "reduce/reference.hpp"

namespace gradcoll::test {
namespace {

using Bytes = std::vector<std::byte>;
using Use = TestArray::Use;

constexpr ReduceOp all_ops[] = {ReduceOp::sum,  ReduceOp::prod, ReduceOp::min,  ReduceOp::max,
                                ReduceOp::land, ReduceOp::lor,  ReduceOp::lxor, ReduceOp::band,
                                ReduceOp::bor,  ReduceOp::bxor};
constexpr ElementType all_types[] = {ElementType::f16, ElementType::bf16, ElementType::f32,
                                     ElementType::f64, ElementType::i8,   ElementType::u8,
                                     ElementType::i16, ElementType::u16,  ElementType::i32,
                                     ElementType::u32, ElementType::i64,  ElementType::u64};

class GpuReduce : public testing::TestWithParam<std::tuple<ReduceOp, ElementType>> {
  protected:
    void SetUp() override {
        machine_ = reduce_machine();
        if (machine_ == nullptr) GTEST_SKIP() << "no CUDA device";
        std::tie(op_, type_) = GetParam();
    }
    bool defined() const { return reference::is_defined(op_, type_); }
    ReduceLaunch call() const { return {op_, type_, nullptr}; }

    /// Returns random bits, which are often zero, one, the extremes, infinity or NaN.
    Bytes values(std::size_t count) {
        constexpr std::uint64_t tops[] = {0x0000, 0x8000, 0x7fff, 0xffff, 0x7f80, 0xff80, 0x7ff0,
                                          0x7c00, 0xfc00, 0x3f80, 0x7fc0, 0x7f81, 0x0080, 0x0400};
        const std::size_t size = element_bytes(type_);
        Bytes bytes(count * size);
        for (std::size_t i = 0; i < count; ++i) {
            std::uint64_t value = random_();
            const auto choice = random_() % 4;
            if (choice == 0) value = tops[random_() % std::size(tops)] << 48 >> (64 - 8 * size);
            if (choice == 1) value = random_() % 3;
            std::memcpy(bytes.data() + i * size, &value, size);
        }
        return bytes;
    }
    reference::Bytes plain(const Bytes& bytes) const {
        reference::Bytes out(bytes.size());
        if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
        return out;
    }
    /// Expects equal bits, but where two NaN met in a sum or product only NaN. One that is made of
    /// numbers is negative, as x86 has it; the reference adds as the CPU of this test does, and
    /// that of AArch64 is positive.
    void expect_reduced(const Bytes& got, const Bytes& a, const Bytes& b) const {
        const reference::Bytes first = plain(a), second = plain(b), result = plain(got);
        reference::Bytes want = reference::reduced(op_, type_, first, second);
        const std::size_t size = element_bytes(type_);
        for (std::size_t i = 0; i < got.size() / size; ++i) {
            const bool any_nan =
                op_ <= ReduceOp::prod && reference::both_nan(type_, first, second, i);
            const bool is_made = op_ <= ReduceOp::prod && reference::is_nan(type_, want, i) &&
                                 !reference::is_nan(type_, first, i) &&
                                 !reference::is_nan(type_, second, i);
            if (is_made) want[(i + 1) * size - 1] |= 0x80;
            const bool same =
                any_nan ? reference::is_nan(type_, result, i)
                        : std::memcmp(result.data() + i * size, want.data() + i * size, size) == 0;
            ASSERT_TRUE(same) << "element " << i << " of " << got.size() / size;
        }
    }

    ReduceMachine* machine_ = nullptr;
    ReduceOp op_{};
    ElementType type_{};
    std::mt19937_64 random_{7};
};

TEST_P(GpuReduce, IsThereExactlyWhereTheOpIsDefined) {
    const Status status = machine_->launch(call(), {});
    EXPECT_EQ(status.code(), defined() ? Code::ok : Code::unsupported);
}

TEST_P(GpuReduce, EqualsTheReferenceAtAnyAlignmentOfAnElement) {
    if (!defined()) return;
    for (const std::size_t count : {1, 2, 31, 33, 255, 257, 511, 513, 2048, 4111})
        for (const std::size_t shift : {std::size_t{0}, element_bytes(type_)}) {
            const Bytes a = values(count), b = values(count);
            const TestArray first(machine_->memory(), a, Use::read, shift);
            const TestArray second(machine_->memory(), b, Use::read);
            const TestArray out(machine_->memory(), Bytes(a.size()), Use::written, shift);
            const ReduceJob job{first.data(), second.data(), out.data(), count};
            const Status status = machine_->launch(call(), {&job, 1});
            ASSERT_TRUE(status.ok()) << status.message();
            ASSERT_NO_FATAL_FAILURE(expect_reduced(out.content(), a, b));
            ASSERT_TRUE(out.canaries_intact());
        }
}

TEST_P(GpuReduce, OutMayBeEitherOperandInEveryJobOfALaunch) {
    if (!defined()) return;
    std::vector<std::unique_ptr<TestArray>> as, bs;
    std::vector<Bytes> a, b;
    std::vector<ReduceJob> jobs;
    for (std::size_t j = 0; j < 40; ++j) {
        const std::size_t count = j * 53 % 700;
        a.push_back(values(count));
        b.push_back(values(count));
        as.push_back(std::make_unique<TestArray>(machine_->memory(), a[j], Use::written));
        bs.push_back(std::make_unique<TestArray>(machine_->memory(), b[j], Use::written));
        std::byte* out = j % 2 == 0 ? as[j]->data() : bs[j]->data();
        jobs.push_back({as[j]->data(), bs[j]->data(), out, count});
    }
    const Status status = machine_->launch(call(), jobs);
    ASSERT_TRUE(status.ok()) << status.message();
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        const TestArray& out = j % 2 == 0 ? *as[j] : *bs[j];
        ASSERT_NO_FATAL_FAILURE(expect_reduced(out.content(), a[j], b[j]));
        ASSERT_TRUE(as[j]->canaries_intact() && bs[j]->canaries_intact());
    }
}

TEST_P(GpuReduce, BuffersMustBeThereAndAligned) {
    if (!defined()) return;
    const TestArray memory(machine_->memory(), Bytes(64), Use::written);
    const ReduceJob missing{memory.data(), nullptr, memory.data(), 1};
    EXPECT_EQ(machine_->launch(call(), {&missing, 1}).code(), Code::invalid_buffer);
    if (element_bytes(type_) == 1) return;
    const ReduceJob odd{memory.data(), memory.data() + 1, memory.data(), 1};
    EXPECT_EQ(machine_->launch(call(), {&odd, 1}).code(), Code::invalid_buffer);
}

/// The NaN is what x86 gives where it says which: the first operand's, quiet, else the second
/// one's.
TEST_P(GpuReduce, ASumOfNanKeepsThePayloadOfTheFirst) {
    if (op_ != ReduceOp::sum || type_ != ElementType::f32) return;
    const std::uint32_t a[] = {0x7f800001, 0x3f800000, 0xffc12345, 0x7f800000};
    const std::uint32_t b[] = {0xffc00002, 0xff800002, 0x3f800000, 0xff800000};
    const std::uint32_t want[] = {0x7fc00001, 0xffc00002, 0xffc12345, 0xffc00000};
    const auto bytes = [](const std::uint32_t(&bits)[4]) {
        const auto* first = reinterpret_cast<const std::byte*>(bits);
        return Bytes(first, first + sizeof bits);
    };
    const TestArray first(machine_->memory(), bytes(a), Use::read);
    const TestArray second(machine_->memory(), bytes(b), Use::read);
    const TestArray out(machine_->memory(), Bytes(sizeof a), Use::written);
    const ReduceJob job{first.data(), second.data(), out.data(), 4};
    ASSERT_TRUE(machine_->launch(call(), {&job, 1}).ok());
    EXPECT_EQ(out.content(), bytes(want));
}

std::string name_of_case(const testing::TestParamInfo<GpuReduce::ParamType>& info) {
    const auto [op, type] = info.param;
    return std::string(name_of(op)) + "_" + std::string(name_of(type));
}
INSTANTIATE_TEST_SUITE_P(All, GpuReduce,
                         testing::Combine(testing::ValuesIn(all_ops), testing::ValuesIn(all_types)),
                         name_of_case);

}  // namespace
}  // namespace gradcoll::test
