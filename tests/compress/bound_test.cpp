// What the codec `bound` promises of values: no finite one comes back further off than it was told,
// in real numbers, and all others as they were. GC_TEST_BOUND_FACTOR=200 looks at 10^9 elements.
#include "compress/bound_cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gradcoll::test {
namespace {

constexpr double tolerances[] = {0,    5e-324, 1e-310, 3e-45, 1e-39, 1e-36, 1e-8, 1e-6, 3e-5, 1e-4,
                                 1e-3, 1e-2,   0.1,    0.3,   1,     10,    1e5,  1e30, 1e300};

class Bound : public testing::TestWithParam<ElementType> {
  protected:
    ElementType type() const { return GetParam(); }
    std::size_t size() const { return element_bytes(type()); }
    ElementType wide() const {
        return type() == ElementType::f64 ? ElementType::f64 : ElementType::f32;
    }
    static Bytes encode(const Codec& codec, const Bytes& plain) {
        const std::size_t count = elements_in(plain, codec.type);
        Bytes out(bound_bytes(codec.id, element_bytes(codec.type), count));
        out.resize(codec.encode(plain.data(), count, out.data()));
        return out;
    }
    static Bytes decode(const Codec& codec, const Bytes& encoded, std::size_t count) {
        Bytes out(count * element_bytes(codec.type));
        EXPECT_TRUE(codec.decode(encoded.data(), encoded.size(), count, out.data()));
        return out;
    }
    Bytes all_of(std::initializer_list<double> values) const {
        Bytes out;
        for (const double value : values) append_element(out, type(), bits_of(type(), value));
        return out;
    }
    /// Returns the place of the first element that came back wrong; their number if none did.
    static std::size_t first_wrong(const ExactLook& look, const Bytes& plain, const Bytes& back,
                                   ElementType type) {
        const std::size_t count = elements_in(plain, type);
        std::size_t i = 0;
        while (i < count && look.allows(element(plain, type, i), element(back, type, i))) ++i;
        return i;
    }
};

TEST_P(Bound, NoElementComesBackFurtherOffThanTold) {
    std::mt19937_64 draw(11);
    std::size_t looked_at = 0;
    for (std::size_t round = 0; round < 4 * bound_factor(); ++round)
        for (const BoundShape& shape : bound_shapes()) {
            const std::size_t count = round % 4 == 0 ? 77 + draw() % 400 : 512;
            const Bytes plain = elements_of(shape, type(), count, draw);
            for (const double abs : tolerances) {
                const std::vector<Codec> codecs = bound_codecs(type(), abs);
                const ExactLook look(type(), abs);
                const Bytes encoded = encode(codecs[0], plain);
                for (const Codec& codec : codecs) {
                    ASSERT_EQ(encode(codec, plain), encoded) << shape.name << ", abs " << abs;
                    const Bytes back = decode(codec, encoded, count);
                    const std::size_t i = first_wrong(look, plain, back, type());
                    ASSERT_EQ(i, count) << shape.name << ", abs " << abs << ", element " << i
                                        << ": " << look.value(element(plain, type(), i))
                                        << " came back as " << look.value(element(back, type(), i));
                    looked_at += count;
                }
            }
        }
    RecordProperty("elements", std::to_string(looked_at));
    if (bound_factor() > 1) std::printf("%zu elements came back as promised\n", looked_at);
}

/// A value of 16 bits that is near enough may not exist; then it is the nearest.
TEST_P(Bound, NoSumWithAResidualComesBackFurtherOffThanTold) {
    std::mt19937_64 draw(12);
    const std::size_t count = 700;
    std::size_t looked_at = 0;
    for (std::size_t round = 0; round < bound_factor(); ++round)
        for (const BoundShape& shape : bound_shapes())
            for (const double abs : tolerances) {
                const Bytes plain = elements_of(shape, type(), count, draw);
                const Bytes before = elements_of(bound_shapes()[0], wide(), count, draw);
                const ExactLook look(wide(), abs);
                const auto allows = [&](double wanted, double sent) {
                    return look.allows_value(wanted, sent);
                };
                for (const Codec& codec : bound_codecs(type(), abs)) {
                    SCOPED_TRACE(shape.name);
                    expect_sums_kept(codec, plain, before, allows);
                    looked_at += count;
                }
            }
    if (bound_factor() > 1) std::printf("%zu sums came back as promised\n", looked_at);
}

TEST_P(Bound, BytesAreThoseOfTheReferenceForAllShapes) {
    std::mt19937_64 draw(13);
    for (const BoundShape& shape : bound_shapes())
        for (const double abs : tolerances)
            for (const std::size_t count : {3, 40, 512, 600}) {
                const Bytes plain = elements_of(shape, type(), count, draw);
                Codec codec = bound_codecs(type(), abs).front();
                codec.id = *codec_with(codec.id, {abs});
                const Bytes encoded = encode(codec, plain);
                ASSERT_EQ(encoded, reference_encode(codec.id, type(), plain))
                    << shape.name << ", abs " << abs << ", " << count;
                ASSERT_EQ(decode(codec, encoded, count),
                          reference_decode(codec.id, type(), encoded, count));
            }
}

TEST_P(Bound, ZeroComesBackAsZero) {
    std::mt19937_64 draw(14);
    for (const double abs : {1e-3, 0.01, 0.3, 2.0}) {
        Bytes plain = elements_of(bound_shapes()[0], type(), 1024, draw);
        for (std::size_t i = 0; i < plain.size(); i += 3 * size())
            std::memset(plain.data() + i, 0, size());
        const Codec codec = bound_codecs(type(), abs).back();
        const Bytes back = decode(codec, encode(codec, plain), 1024);
        for (std::size_t i = 0; i < 1024; i += 3) ASSERT_EQ(element(back, type(), i), 0u) << i;
    }
}

TEST_P(Bound, ConstantBlocksTakeAHeaderAndComeBackAsTheyWere) {
    const std::size_t header = type() == ElementType::f64 ? 16 : 8;
    for (const double value : {0.0, 1.0, -3.0, 0x1p-14, 1000.0}) {
        Bytes plain;
        for (int i = 0; i < 1024; ++i) append_element(plain, type(), bits_of(type(), value));
        for (const Codec& codec : bound_codecs(type(), 1e-5)) {
            const Bytes encoded = encode(codec, plain);
            EXPECT_EQ(encoded.size(), 2 * header);
            EXPECT_EQ(decode(codec, encoded, 1024), plain) << value;
        }
    }
}

TEST_P(Bound, ABlockWithinTheToleranceIsOneValue) {
    std::mt19937_64 draw(15);
    for (const Codec& codec : bound_codecs(type(), 6)) {
        const Bytes plain = elements_of(bound_shapes()[0], type(), 512, draw);
        const Bytes back = decode(codec, encode(codec, plain), 512);
        EXPECT_EQ(encode(codec, plain).size(), type() == ElementType::f64 ? 16u : 8u);
        EXPECT_EQ(back, Bytes(back.size()));
    }
}

/// The sizes are bits a value, header and all.
TEST(BoundSizes, AreThoseOfTheTable) {
    struct Row {
        const char* shape;
        double abs, most_bits;
    };
    const Row rows[] = {{"normal", 1e-2, 9.2},   {"normal", 1e-3, 12.3}, {"normal", 1e-4, 15.5},
                        {"Laplace", 1e-2, 10.2}, {"curve", 1e-2, 2.0},   {"curve", 1e-3, 3.0}};
    for (const Row& row : rows) {
        std::mt19937_64 draw(16);
        const std::vector<BoundShape> shapes = bound_shapes();
        const auto shape = std::find_if(shapes.begin(), shapes.end(), [&](const BoundShape& s) {
            return std::strcmp(s.name, row.shape) == 0;
        });
        const std::size_t count = 1 << 16;
        const Bytes plain = elements_of(*shape, ElementType::f32, count, draw);
        const Codec codec = bound_codecs(ElementType::f32, row.abs).back();
        Bytes out(bound_bytes(codec.id, 4, count));
        const auto bytes = static_cast<double>(codec.encode(plain.data(), count, out.data()));
        EXPECT_LE(8 * bytes / static_cast<double>(count), row.most_bits)
            << row.shape << ", abs " << row.abs;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Bound, testing::ValuesIn(float_types), type_name);

}  // namespace
}  // namespace gradcoll::test
