// Bytes from a peer that are no encoding of the codec `bound`. GC_TEST_BOUND_FACTOR=1000 decodes
// 10^7 of them.
#include <algorithm>
#include <cstring>
#include <limits>

#include "compress/bound_cases.hpp"

namespace gradcoll::test {
namespace {

class BoundCorruption : public testing::TestWithParam<ElementType> {
  protected:
    ElementType type() const { return GetParam(); }
    std::size_t size() const { return element_bytes(type()); }
    bool is_fp64() const { return type() == ElementType::f64; }
    std::size_t step_at() const { return is_fp64() ? 8 : 4; }

    Bytes encoding(const char* name, double abs, std::size_t count) {
        const std::vector<BoundShape> shapes = bound_shapes();
        const auto shape = std::find_if(shapes.begin(), shapes.end(), [&](const BoundShape& s) {
            return std::strcmp(s.name, name) == 0;
        });
        const Bytes plain = elements_of(*shape, type(), count, draw_);
        const Codec codec = bound_codecs(type(), abs).front();
        Bytes out(bound_bytes(codec.id, size(), count));
        out.resize(codec.encode(plain.data(), count, out.data()));
        return out;
    }
    /// Returns whether the bytes decode, on which all instruction sets must agree.
    bool decodes(const Bytes& encoded, std::size_t count) {
        const std::vector<Codec> codecs = bound_codecs(type(), 0);
        const bool taken = decodes(codecs[0], encoded, count);
        const Bytes values = last_;
        for (const Codec& codec : codecs) {
            EXPECT_EQ(decodes(codec, encoded, count), taken);
            EXPECT_TRUE(!taken || last_ == values);
        }
        return taken;
    }
    bool decodes(const Codec& codec, const Bytes& encoded, std::size_t count) {
        const auto in = std::make_unique<std::byte[]>(encoded.size());
        std::copy(encoded.begin(), encoded.end(), in.get());
        GuardedBuffer out(count * size()), sum(Bytes(count * size()));
        const bool decoded = codec.decode(in.get(), encoded.size(), count, out.data());
        const bool summed =
            codec.decode_sum(in.get(), encoded.size(), count, sum.data(), sum.data());
        EXPECT_EQ(decoded, summed);
        EXPECT_TRUE(out.canaries_intact() && sum.canaries_intact());
        last_ = out.content();
        return decoded;
    }
    Bytes mutated(const Bytes& good) {
        Bytes bytes = good;
        switch (draw_() % 8) {
            case 0:
                bytes.resize(draw_() % (good.size() + 80));
                break;
            case 1:
                for (std::byte& b : bytes) b = static_cast<std::byte>(draw_());
                break;
            case 2:  // another width, the length that it asks for or not
                bytes[0] = static_cast<std::byte>(draw_() % 128);
                if (draw_() % 2 == 0) bytes.resize(8 + draw_() % 33 * 64 + draw_() % 2 * 4);
                break;
            default:
                for (std::size_t i = 0; i <= draw_() % 4; ++i)
                    bytes[draw_() % std::min<std::size_t>(bytes.size(), draw_() % 2 ? 20 : 4096)] ^=
                        static_cast<std::byte>(1 << draw_() % 8);
        }
        return bytes;
    }

    std::mt19937_64 draw_{21};
    Bytes last_;
};

TEST_P(BoundCorruption, NoOtherLengthDecodes) {
    struct Case {
        const char* shape;
        double abs;
    };
    for (const Case c : {Case{"normal", 0}, Case{"normal", 0.05}, Case{"normal", 100},
                         Case{"curve", 1e-2}, Case{"any bits", 1e-3}})
        for (const std::size_t count : {5, 100, 512, 700}) {
            const Bytes good = encoding(c.shape, c.abs, count);
            ASSERT_TRUE(decodes(good, count)) << c.shape << ", " << count;
            for (std::size_t length = 0; length < good.size() + 70; ++length) {
                Bytes other = good;
                other.resize(length);
                if (length == good.size()) continue;
                ASSERT_FALSE(decodes(other, count)) << c.shape << ", " << count << ": " << length;
            }
        }
}

TEST_P(BoundCorruption, WhatNoEncoderWritesIntoAHeaderIsRefused) {
    const Bytes codes = encoding("normal", 0.05, 512), constant = encoding("normal", 100, 512);
    ASSERT_TRUE(decodes(codes, 512) && decodes(constant, 512));
    ASSERT_EQ(constant[0], std::byte{0});
    const auto refuses = [&](Bytes bytes, std::size_t at, std::byte value) {
        bytes[at] = value;
        return !decodes(bytes, 512);
    };
    EXPECT_TRUE(refuses(codes, 0, codes[0] | std::byte{0x80}));
    EXPECT_TRUE(refuses(constant, 0, std::byte{0x40}));
    EXPECT_TRUE(refuses(constant, is_fp64() ? 4 : 1, std::byte{1}));
    for (std::size_t at = 1; is_fp64() && at < 4; ++at) {
        EXPECT_TRUE(refuses(codes, at, std::byte{1}));
        EXPECT_TRUE(refuses(constant, at, std::byte{1}));
    }
    const Bytes plain = encoding("normal", 0, 512);
    ASSERT_EQ(plain[0], std::byte{0xff});
    for (std::size_t at = 1; at < 4; ++at) EXPECT_TRUE(refuses(plain, at, std::byte{1}));
    EXPECT_TRUE(refuses(plain, 0, std::byte{0xfe}));
}

TEST_P(BoundCorruption, WidthsThatNoEncoderWritesAreRefusedAtTheirLength) {
    for (int width = 1; width < 64; ++width) {
        Bytes bytes(2 * step_at() + static_cast<std::size_t>(width) * 64);
        bytes[0] = static_cast<std::byte>(width);
        const std::uint64_t one = bits_of(is_fp64() ? ElementType::f64 : ElementType::f32, 1);
        std::memcpy(bytes.data() + step_at(), &one, step_at());
        const bool is_shorter = bytes.size() < 4 + 512 * size();
        EXPECT_EQ(decodes(bytes, 512), is_shorter && width <= (is_fp64() ? 32 : 22)) << width;
    }
}

TEST_P(BoundCorruption, StepsThatAreNoPositiveNumbersAreRefused) {
    const ElementType wide = is_fp64() ? ElementType::f64 : ElementType::f32;
    const double inf = std::numeric_limits<double>::infinity();
    for (const double step : {0.0, -0.0, -1.0, inf, -inf, std::nan("")}) {
        Bytes bytes = encoding("normal", 0.05, 512);
        const std::uint64_t bits = bits_of(wide, step);
        std::memcpy(bytes.data() + step_at(), &bits, step_at());
        EXPECT_FALSE(decodes(bytes, 512)) << step;
        bytes = encoding("normal", 100, 512);
        std::memcpy(bytes.data() + step_at(), &bits, step_at());
        EXPECT_EQ(decodes(bytes, 512), std::isfinite(step)) << step;
    }
}

TEST_P(BoundCorruption, BitsBehindTheLastCodeMustBeZero) {
    const std::size_t count = 100;  // seven rows, four elements in the last
    const Bytes good = encoding("normal", 0.05, count);
    const int width = std::to_integer<int>(good[0]);
    ASSERT_LT(width, 0x40);
    const std::size_t first = 2 * step_at();
    for (std::size_t bit = 0; bit < 8 * (good.size() - first); ++bit) {
        const std::size_t word = bit / 32, lane = word % 16;
        const std::size_t in_lane = word / 16 * 32 + bit % 32;
        const bool is_used = in_lane / static_cast<std::size_t>(width) * 16 + lane < count;
        Bytes bad = good;
        bad[first + bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
        ASSERT_EQ(decodes(bad, count), is_used) << bit;
    }
}

TEST_P(BoundCorruption, MutatedEncodingsNeverLeaveTheBuffers) {
    const char* const shapes[] = {"normal", "curve", "any bits", "constants"};
    std::size_t taken = 0, frames = 0;
    while (frames < 2500 * bound_factor()) {
        const std::size_t counts[] = {1 + draw_() % 40, 1 + draw_() % 200, 512, 512 + draw_() % 60};
        const std::size_t count = counts[draw_() % 4];
        const Bytes good = encoding(shapes[draw_() % 4], draw_() % 2 ? 0.05 : 1e-3, count);
        const std::vector<Codec> codecs = bound_codecs(type(), 0);
        for (int i = 0; i < 50; ++i, ++frames) {
            const Bytes bytes = mutated(good);
            const bool is_taken = decodes(codecs[0], bytes, count);
            const Bytes values = last_;
            ASSERT_EQ(decodes(codecs[1 + frames % (codecs.size() - 1)], bytes, count), is_taken);
            ASSERT_TRUE(!is_taken || last_ == values);
            taken += is_taken ? 1 : 0;
        }
    }
    EXPECT_GT(taken, frames / 10);
    if (bound_factor() > 1) std::printf("%zu frames, %zu of them taken\n", frames, taken);
}

INSTANTIATE_TEST_SUITE_P(All, BoundCorruption, testing::ValuesIn(float_types), type_name);

}  // namespace
}  // namespace gradcoll::test
