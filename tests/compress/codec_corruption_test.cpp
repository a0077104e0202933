// Bytes from a peer may be anything: a decoder refuses what is no encoding and stays inside its
// buffers. GC_TEST_BOUND_FACTOR=1000 decodes 315,000 of them with every decoder.
#include <algorithm>
#include <random>

#include "compress/bound_cases.hpp"
#include "compress/codec_cases.hpp"
#include "compress/reference.hpp"

namespace gradcoll::test {
namespace {

class CodecCorruption : public testing::TestWithParam<CodecCase> {
  protected:
    void SetUp() override {
        codec_ = *codec_for(GetParam().codec, GetParam().type, GetParam().isa);
    }
    /// Returns what decode says of bytes in buffers of exactly the right size.
    bool decodes(const Bytes& encoded, std::size_t count) const {
        const auto in = std::make_unique<std::byte[]>(encoded.size());
        std::copy(encoded.begin(), encoded.end(), in.get());
        GuardedBuffer out(count * element_bytes(codec_.type)),
            sum(count * element_bytes(codec_.type));
        const bool decoded = codec_.decode(in.get(), encoded.size(), count, out.data());
        const bool summed =
            codec_.decode_sum(in.get(), encoded.size(), count, sum.data(), sum.data());
        EXPECT_EQ(decoded, summed);
        EXPECT_TRUE(out.canaries_intact() && sum.canaries_intact());
        return decoded;
    }
    Bytes encoding(std::size_t count, Data data = Data::normal) const {
        const Bytes plain = make_data(data, codec_.type, count);
        Bytes out(bound_bytes(codec_.id, element_bytes(codec_.type), count));
        out.resize(codec_.encode(plain.data(), count, out.data()));
        return out;
    }
    Codec codec_;
};

TEST_P(CodecCorruption, EveryFlippedMaskBitIsRefused) {
    if (!group_of(codec_.id) || chain_of(codec_.id)) return;  // no masks, or packed ones
    for (const std::size_t count : {16, 48, 100, 511, 512, 560}) {
        const Bytes good = encoding(count);
        const std::size_t group = group_of(codec_.id)->group;
        const std::size_t mask_bytes = std::min<std::size_t>(count, 512) / group * group / 32 * 4;
        ASSERT_TRUE(decodes(good, count));
        for (std::size_t bit = 0; bit < mask_bytes * 8; ++bit) {
            Bytes bad = good;
            bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
            ASSERT_FALSE(decodes(bad, count)) << "bit " << bit << " of " << count << " elements";
        }
    }
}

TEST_P(CodecCorruption, UnusedBitsOfTheLastMaskWordMustBeZero) {
    if (!group_of(codec_.id)) return;  // no masks
    const std::size_t count = 16;      // one mask word, sixteen bits of it unused
    for (std::size_t bit = 16; bit < 32; ++bit) {
        Bytes bad = encoding(count);
        bad[bit / 8] |= static_cast<std::byte>(1 << bit % 8);
        ASSERT_FALSE(decodes(bad, count)) << bit;
    }
}

/// Returns the bytes with some bytes or bits changed, all of them, or the length.
Bytes mutated(Bytes bytes, std::mt19937& draw) {
    const auto some = [&](std::size_t below) { return static_cast<std::size_t>(draw() % below); };
    const std::size_t length = bytes.size();
    if (draw() % 8 == 0) bytes.resize(some(length + 40));
    if (bytes.empty()) return bytes;
    const std::size_t early = std::min<std::size_t>(bytes.size(), 20);
    switch (draw() % 4) {
        case 0:
            for (std::byte& b : bytes) b = static_cast<std::byte>(draw());
            break;
        case 1:  // in the header of the first block
            for (std::size_t i = 0; i <= some(4); ++i)
                bytes[some(early)] ^= static_cast<std::byte>(1U << some(8));
            break;
        default:
            for (std::size_t i = some(8); i > 0; --i)
                bytes[some(bytes.size())] = static_cast<std::byte>(draw());
    }
    return bytes;
}

TEST_P(CodecCorruption, MutatedEncodingsNeverLeaveTheBuffers) {
    constexpr std::size_t counts[] = {0, 1, 7, 255, 512, 700, 1099};
    std::mt19937 draw(7);
    for (const std::size_t count : counts)
        for (const Data data : all_data) {
            const Bytes good = encoding(count, data);
            for (std::size_t round = 0; round < 15 * bound_factor(); ++round)
                (void)decodes(mutated(good, draw), count);  // the checks are inside
        }
}

INSTANTIATE_TEST_SUITE_P(Lossy, CodecCorruption, testing::ValuesIn(lossy_codec_cases()), case_name);

}  // namespace
}  // namespace gradcoll::test
