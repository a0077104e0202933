// Floats in fewer bytes without loss (compress/zip).
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "compress/codec_cases.hpp"
#include "compress/zip/zip_layout.hpp"

namespace gradcoll::test {
namespace {

constexpr ElementType types[] = {ElementType::f16, ElementType::bf16, ElementType::f32,
                                 ElementType::f64};

std::vector<Codec> codecs(ElementType type) {
    std::vector<Codec> all;
    for (const InstructionSet set : all_instruction_sets)
        if (kernels_available(set)) all.push_back(codec_for(CodecId::zip, type, set).value());
    return all;
}

Bytes encoded(const Codec& codec, const Bytes& plain) {
    const std::size_t bytes = element_bytes(codec.type), count = plain.size() / bytes;
    Bytes out(bound_bytes(CodecId::zip, bytes, count));
    out.resize(codec.encode(plain.data(), count, out.data()));
    return out;
}

Bytes elements_of(ElementType type, const std::vector<double>& values) {
    Bytes plain;
    for (const double value : values) append_element(plain, type, bits_of(type, value));
    return plain;
}

/// Returns values of which a part are zeros; magnitudes spread over `spread` powers of two.
Bytes spread_values(ElementType type, std::mt19937_64& random, std::size_t count, double zeros,
                    double spread) {
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> any(0, 1);
    std::vector<double> values(count);
    for (double& value : values) {
        const double size = std::exp2(-spread * any(random));
        value = any(random) < zeros ? 0 : normal(random) * size;
    }
    return elements_of(type, values);
}

std::vector<Bytes> vectors(ElementType type) {
    std::mt19937_64 random(7);
    const std::size_t bytes = element_bytes(type);
    std::vector<Bytes> all;
    for (const double zeros : {0.0, 0.02, 0.05, 0.3, 0.5, 0.97, 1.0})
        for (const double spread : {0.0, 3.0, 12.0, 40.0})
            all.push_back(spread_values(type, random, 1 + random() % 1300, zeros, spread));
    for (std::size_t count = 1; count < 140; ++count)
        all.push_back(spread_values(type, random, count, count % 3 == 0 ? 0.4 : 0.0, 2));
    for (int i = 0; i < 30; ++i) {  // any bits: Inf, NaN with what they say, subnormals
        Bytes any((1 + random() % 1100) * bytes);
        for (std::byte& byte : any) byte = static_cast<std::byte>(random());
        all.push_back(any);
    }
    for (const Data data : all_data) all.push_back(make_data(data, type, 1500));
    const double infinity = std::numeric_limits<double>::infinity();
    all.push_back(elements_of(type, {0.0, -0.0, infinity, -infinity, std::nan(""), 1e-40, -1, 1}));
    all.push_back(elements_of(type, std::vector<double>(512, -0.0)));
    all.push_back(elements_of(type, std::vector<double>(777, -3.5)));
    Bytes rounded = spread_values(type, random, 1024, 0, 2);  // the low half of each is zeros
    for (std::size_t i = 0; i < rounded.size(); ++i)
        if (i % bytes < bytes / 2) rounded[i] = std::byte{0};
    all.push_back(rounded);
    return all;
}

TEST(Zip, GivesEveryBitBackWithEveryInstructionSet) {
    for (const ElementType type : types)
        for (const Bytes& plain : vectors(type)) {
            const std::size_t count = plain.size() / element_bytes(type);
            const Bytes expected = encoded(codecs(type).front(), plain);
            ASSERT_LE(expected.size(), zip::bound_bytes(element_bytes(type), count));
            for (const Codec& codec : codecs(type)) {
                ASSERT_EQ(encoded(codec, plain), expected) << "instruction sets differ";
                GuardedBuffer in(expected), out(plain.size(), 3);
                ASSERT_TRUE(codec.decode(in.data(), expected.size(), count, out.data()));
                ASSERT_EQ(out.content(), plain) << name_of(type) << ", " << count;
                ASSERT_TRUE(out.canaries_intact());
            }
        }
}

TEST(Zip, AddsAsPlainElementsAreAdded) {
    for (const ElementType type : types)
        for (const Bytes& plain : vectors(type)) {
            const std::size_t count = plain.size() / element_bytes(type);
            const Bytes base = make_data(Data::special, type, count, 2);
            Bytes want(base.size()), got(base.size());
            const Codec exact = codec_for(CodecId::exact, type).value();
            ASSERT_TRUE(
                exact.decode_sum(plain.data(), plain.size(), count, base.data(), want.data()));
            for (const Codec& codec : codecs(type)) {
                const Bytes packed = encoded(codec, plain);
                ASSERT_TRUE(
                    codec.decode_sum(packed.data(), packed.size(), count, base.data(), got.data()));
                ASSERT_TRUE(same_but_nan_payload(type, got, want)) << count << " elements";
            }
        }
}

/// What a residual adds to the values goes with them; it becomes what rounding them takes off.
TEST(Zip, KeepsNothingBackButRounding) {
    for (const ElementType type : types) {
        const std::size_t count = 1100, wide = type == ElementType::f64 ? 8 : 4;
        const ElementType of_rest = wide == 8 ? ElementType::f64 : ElementType::f32;
        const Bytes plain = make_data(Data::normal, type, count);
        const Bytes before = make_data(Data::normal, of_rest, count, 5);
        const Codec exact = codec_for(CodecId::exact, type).value();
        Bytes rest = before, want(plain.size()), got(plain.size());
        exact.encode_with_residual(plain.data(), rest.data(), count, want.data());
        for (const Codec& codec : codecs(type)) {
            Bytes left = before, packed(bound_bytes(CodecId::zip, element_bytes(type), count));
            packed.resize(
                codec.encode_with_residual(plain.data(), left.data(), count, packed.data()));
            ASSERT_TRUE(codec.decode(packed.data(), packed.size(), count, got.data()));
            EXPECT_EQ(got, want);
            EXPECT_EQ(left, rest);
        }
    }
}

TEST(Zip, HasTheBytesThatTheReadmeShows) {
    std::vector<double> values;
    for (int i = 0; i < 63; ++i) values.push_back(i % 2 == 0 ? 1.5 : -0.75);
    values.push_back(std::ldexp(1, -20));
    std::vector<int> right = {0x12, 0x7f};
    right.insert(right.end(), 8, 0xaa);
    right.insert(right.end(), 7, 0);
    right.insert(right.end(), {0x80, 0x14});
    for (int i = 0; i < 63; ++i) right.push_back(i % 2 == 0 ? 0x40 : 0xc0);
    right.push_back(0);
    std::vector<int> got;
    const Codec codec = codecs(ElementType::f32).front();
    for (const std::byte byte : encoded(codec, elements_of(ElementType::f32, values)))
        got.push_back(static_cast<int>(byte));
    EXPECT_EQ(got, right);
    EXPECT_EQ(encoded(codec, Bytes(2048)).size(), zip::head_bytes) << "zeros";
}

TEST(Zip, LeavesOutWhatIsAlike) {
    std::mt19937_64 random(9);
    const auto part = [&](ElementType type, double zeros) {
        const Bytes plain = spread_values(type, random, 512 * 200, zeros, 0);
        return static_cast<double>(encoded(codecs(type).front(), plain).size()) /
               static_cast<double>(plain.size());
    };
    EXPECT_LT(part(ElementType::f32, 0), 0.87);
    EXPECT_LT(part(ElementType::bf16, 0), 0.73);
    EXPECT_LT(part(ElementType::f16, 0), 0.92);
    EXPECT_LT(part(ElementType::f64, 0), 0.92);
    EXPECT_LT(part(ElementType::f32, 0.5), 0.48);
}

/// What a peer sends is refused, or decoded to something; nothing outside is touched.
TEST(Zip, BytesOfAPeerAreNotBelieved) {
    std::mt19937_64 random(5);
    for (const ElementType type : types)
        for (int i = 0; i < 3000; ++i) {
            const std::size_t count = 1 + random() % 700;
            Bytes bytes =
                encoded(codecs(type).front(), spread_values(type, random, count, i % 2 * 0.4, 6));
            if (i % 3 == 0) bytes.resize(random() % bytes.size());
            if (i % 3 == 1) bytes.push_back(std::byte{1});
            if (i % 3 == 2)
                bytes[random() % std::min<std::size_t>(bytes.size(), 80)] ^=
                    static_cast<std::byte>(1 + random() % 255);
            std::vector<bool> taken;
            for (const Codec& codec : codecs(type)) {
                GuardedBuffer in(bytes), out(count * element_bytes(type));
                taken.push_back(codec.decode(in.data(), bytes.size(), count, out.data()));
                ASSERT_TRUE(out.canaries_intact());
            }
            for (const bool one : taken) EXPECT_EQ(one, taken.front());
            if (i % 3 != 2) {
                EXPECT_FALSE(taken.front());
            }
        }
}

TEST(Zip, NoSettingNamesIt) {
    EXPECT_FALSE(codec_from_name("zip").ok());
    EXPECT_EQ(name_of(CodecId::zip), "zip");
    EXPECT_FALSE(codec_supports(CodecId::zip, ElementType::i32));
}

}  // namespace
}  // namespace gradcoll::test
