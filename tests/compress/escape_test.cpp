// What int8, int4 and int16 promise with a tolerance: no finite element comes back further off than
// they were told, in real numbers; NaN, Inf, -0 and subnormals come back bit by bit.
// GC_TEST_BOUND_FACTOR=400 looks at 10^9 elements.
#include "compress/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compress/bound_cases.hpp"

namespace gradcoll::test {
namespace {

constexpr CodecParameters told[] = {{.abs = 1e-310}, {.abs = 1e-39}, {.abs = 1e-6},   {.abs = 1e-3},
                                    {.abs = 4e-3},   {.abs = 0.02},  {.abs = 0.3},    {.abs = 10},
                                    {.abs = 1e5},    {.abs = 1e300}, {.rel = 1e-310}, {.rel = 1e-4},
                                    {.rel = 0.01},   {.rel = 0.1},   {.rel = 0.9}};
constexpr CodecId quantizers[] = {CodecId::int4, CodecId::int8, CodecId::int16};

/// Returns the codec on all instruction sets of this CPU, told that; scalar first.
std::vector<Codec> told_codecs(CodecId quantizer, ElementType type,
                               const CodecParameters& parameters) {
    const CodecId id = *codec_with(quantizer, parameters);
    std::vector<Codec> codecs;
    for (const InstructionSet isa : all_instruction_sets)
        if (kernels_available(isa)) codecs.push_back(*codec_for(id, type, isa));
    return codecs;
}

Bytes encoded_by(const Codec& codec, const Bytes& plain) {
    const std::size_t count = elements_in(plain, codec.type);
    Bytes out(bound_bytes(codec.id, element_bytes(codec.type), count));
    out.resize(codec.encode(plain.data(), count, out.data()));
    return out;
}
Bytes decoded_by(const Codec& codec, const Bytes& encoded, std::size_t count) {
    Bytes out(count * element_bytes(codec.type));
    EXPECT_TRUE(codec.decode(encoded.data(), encoded.size(), count, out.data()));
    return out;
}

/// Returns whether |x - sent| is at most `rel` |x| in real numbers: products of fp64 need 106 bits.
bool is_relatively_near(double x, double sent, double rel) {
    const double off = std::fabs(x - sent), allowed = rel * std::fabs(x);
    if (off < allowed * (1 - 1e-12)) return true;
    typedef float Wide __attribute__((mode(TF)));  // of 128 bits, whatever the CPU calls that
    const Wide exact = x > sent ? Wide{x} - Wide{sent} : Wide{sent} - Wide{x};
    return std::isfinite(sent) && exact <= Wide{rel} * Wide{std::fabs(x)};
}

class Promise {
  public:
    Promise(ElementType type, const CodecParameters& parameters)
        : look_(type, parameters.abs), type_(type), rel_(parameters.rel) {}

    bool holds(std::uint64_t x, std::uint64_t sent) const {
        const double value = look_.value(x);
        if (x == sent) return true;
        if (!std::isfinite(value) || is_small(value)) return false;
        return rel_ == 0 ? look_.allows_value(value, look_.value(sent))
                         : is_relatively_near(value, look_.value(sent), rel_);
    }
    double value(std::uint64_t bits) const { return look_.value(bits); }

  private:
    /// Returns whether the value is zero or has not all its digits.
    bool is_small(double value) const {
        const double least = type_ == ElementType::f64   ? 0x1p-1022
                             : type_ == ElementType::f16 ? 0x1p-14
                                                         : 0x1p-126;
        return std::fabs(value) < least;
    }

    ExactLook look_;
    ElementType type_;
    double rel_;
};

class Escape : public testing::TestWithParam<ElementType> {
  protected:
    ElementType type() const { return GetParam(); }
    ElementType wide() const {
        return type() == ElementType::f64 ? ElementType::f64 : ElementType::f32;
    }
    /// Calls use(quantizer, parameters) for all there are of the type.
    template <class Use>
    void for_all(Use use) const {
        for (const CodecId quantizer : quantizers)
            for (const CodecParameters& parameters : told)
                if (codec_supports(quantizer, type())) use(quantizer, parameters);
    }
};

TEST_P(Escape, NoElementComesBackFurtherOffThanTold) {
    std::mt19937_64 draw(31);
    std::size_t looked_at = 0;
    for (std::size_t round = 0; round < bound_factor(); ++round)
        for (const BoundShape& shape : bound_shapes()) {
            const std::size_t count = draw() % 3 == 0 ? 1 + draw() % 600 : 512;
            const Bytes plain = elements_of(shape, type(), count, draw);
            for_all([&](CodecId quantizer, const CodecParameters& parameters) {
                const std::vector<Codec> codecs = told_codecs(quantizer, type(), parameters);
                const Promise promise(type(), parameters);
                const Bytes encoded = encoded_by(codecs[0], plain);
                for (const Codec& codec : codecs) {
                    ASSERT_EQ(encoded_by(codec, plain), encoded)
                        << name_of(codec.id) << ", " << shape.name;
                    const Bytes back = decoded_by(codec, encoded, count);
                    for (std::size_t i = 0; i < count; ++i) {
                        const std::uint64_t x = element(plain, type(), i);
                        const std::uint64_t sent = element(back, type(), i);
                        ASSERT_TRUE(promise.holds(x, sent))
                            << name_of(codec.id) << ", " << shape.name << ": " << promise.value(x)
                            << " came back as " << promise.value(sent);
                    }
                    looked_at += count;
                }
            });
        }
    if (bound_factor() > 1) std::printf("%zu elements came back as promised\n", looked_at);
}

/// A value of 16 bits that is near enough may not exist; then it is the nearest.
TEST_P(Escape, NoSumWithAResidualComesBackFurtherOffThanTold) {
    std::mt19937_64 draw(32);
    const std::size_t count = 700;
    for (const BoundShape& shape : bound_shapes()) {
        const Bytes plain = elements_of(shape, type(), count, draw);
        const Bytes before = elements_of(bound_shapes()[0], wide(), count, draw);
        for_all([&](CodecId quantizer, const CodecParameters& parameters) {
            const Promise promise(wide(), parameters);
            const auto allows = [&](double wanted, double sent) {
                return promise.holds(bits_of(wide(), wanted), bits_of(wide(), sent));
            };
            for (const Codec& codec : told_codecs(quantizer, type(), parameters)) {
                SCOPED_TRACE(shape.name);
                expect_sums_kept(codec, plain, before, allows);
            }
        });
    }
}

TEST_P(Escape, BytesAreThoseOfTheReferenceForAllShapes) {
    std::mt19937_64 draw(33);
    for (const BoundShape& shape : bound_shapes())
        for (const std::size_t count : {1, 9, 40, 512, 600}) {
            const Bytes plain = elements_of(shape, type(), count, draw);
            for_all([&](CodecId quantizer, const CodecParameters& parameters) {
                const Codec codec = told_codecs(quantizer, type(), parameters).back();
                const Bytes encoded = encoded_by(codec, plain);
                ASSERT_EQ(encoded, reference_encode(codec.id, type(), plain))
                    << name_of(codec.id) << ", " << shape.name << ", " << count;
                ASSERT_EQ(decoded_by(codec, encoded, count),
                          reference_decode(codec.id, type(), encoded, count));
            });
        }
}

/// Steps that keep the tolerance only just, or only just do not, around zero and far from it: an
/// encoder that takes codes without looking at each must not take one too many.
TEST_P(Escape, GridsThatOnlyJustServeHideNoElementThatIsTooFarOff) {
    std::mt19937_64 draw(37);
    std::uniform_real_distribution<double> part(-1, 1);
    for (std::size_t round = 0; round < 4 * bound_factor(); ++round)
        for (const double centre : {0.0, 0.9, 1.5, 40.0, -700.0})
            for (const CodecId quantizer : quantizers) {
                if (!codec_supports(quantizer, type())) continue;
                const double reach = 0.01 * (1.5 + part(draw)) * (1 + std::fabs(centre));
                Bytes plain;
                for (std::size_t i = 0; i < 512; ++i)
                    append_element(plain, type(), bits_of(type(), centre + reach * part(draw)));
                const int last = quantizer == CodecId::int4   ? 7
                                 : quantizer == CodecId::int8 ? 127
                                                              : 32767;
                for (const double more :
                     {-1e-2, -1e-5, -1e-7, 0.0, 1e-7, 1e-6, 1e-5, 1e-3, 0.1, 2.0}) {
                    const double abs = reach / last / 2 * (1 + more);
                    const Promise promise(type(), {.abs = abs});
                    Bytes first;
                    for (Codec codec : told_codecs(quantizer, type(), {.abs = 1e-3})) {
                        codec.parameters.abs = abs;
                        const Bytes encoded = encoded_by(codec, plain);
                        if (first.empty()) first = encoded;
                        ASSERT_EQ(encoded, first) << centre << " +- " << reach << ", " << abs;
                        const Bytes back = decoded_by(codec, encoded, 512);
                        for (std::size_t i = 0; i < 512; ++i)
                            ASSERT_TRUE(
                                promise.holds(element(plain, type(), i), element(back, type(), i)));
                    }
                }
            }
}

TEST_P(Escape, NoBlockIsLongerThanItsElementsAndAMark) {
    std::mt19937_64 draw(34);
    const std::size_t mark = element_bytes(wide());
    for (const BoundShape& shape : bound_shapes())
        for (const std::size_t count : {1, 7, 511, 512, 1100}) {
            const Bytes plain = elements_of(shape, type(), count, draw);
            for_all([&](CodecId quantizer, const CodecParameters& parameters) {
                const Codec codec = told_codecs(quantizer, type(), parameters).back();
                ASSERT_LE(encoded_by(codec, plain).size(),
                          plain.size() + (count + 511) / 512 * mark);
            });
        }
}

TEST_P(Escape, ConstantBlocksTakeTwoNumbersWhateverTheyAre) {
    for (const std::uint64_t bits :
         {std::uint64_t{0}, std::uint64_t{1}, bits_of(type(), -0.0), bits_of(type(), 3.25)}) {
        Bytes plain;
        for (int i = 0; i < 1024; ++i) append_element(plain, type(), bits);
        const Codec codec = told_codecs(CodecId::int8, type(), {.abs = 1e-3}).back();
        const Bytes encoded = encoded_by(codec, plain);
        EXPECT_EQ(encoded.size(), 4 * element_bytes(wide()));
        EXPECT_EQ(decoded_by(codec, encoded, 1024), plain);
    }
}

TEST_P(Escape, HeadersThatNoEncoderWritesAreRefused) {
    std::mt19937_64 draw(35);
    const Codec codec = told_codecs(CodecId::int8, type(), {.abs = 0.3}).back();
    const Bytes good = encoded_by(codec, elements_of(bound_shapes()[0], type(), 512, draw));
    const std::size_t size = element_bytes(wide());
    const double inf = INFINITY;
    const auto decodes = [&](std::size_t at, double number, std::size_t bytes) {
        Bytes bad = good;
        bad.resize(bytes);
        const std::uint64_t bits = bits_of(wide(), number);
        std::memcpy(bad.data() + at, &bits, size);
        Bytes out(512 * element_bytes(type()));
        return codec.decode(bad.data(), bad.size(), 512, out.data());
    };
    ASSERT_EQ(good.size(), 2 * size + 512);
    EXPECT_TRUE(decodes(0, 0.01, good.size()));
    for (const double scale : {inf, -inf, std::nan(""), 0.0, -0.0, -0.01})  // -0.01: no marks
        EXPECT_FALSE(decodes(0, scale, good.size())) << scale;
    for (const double offset : {inf, -inf, std::nan("")})
        EXPECT_FALSE(decodes(size, offset, good.size())) << offset;
    EXPECT_TRUE(decodes(0, 0.0, 2 * size));
    EXPECT_FALSE(decodes(0, -0.0, 2 * size));
}

/// Marks ask for more elements than there are, or for as many as plain ones would be.
TEST_P(Escape, MarksWithoutTheirElementsAreRefused) {
    const Codec codec = told_codecs(CodecId::int8, type(), {.abs = 0.3}).back();
    const std::size_t size = element_bytes(wide()), elem = element_bytes(type());
    const std::uint64_t scale = bits_of(wide(), -1), offset = bits_of(wide(), 0);
    for (const std::size_t marks : {std::size_t{1}, std::size_t{100}, std::size_t{512}})
        for (std::size_t there = 0; there <= 513; there += there < 3 ? 1 : 17) {
            Bytes bytes(2 * size + 512 + there * elem);
            std::memcpy(bytes.data(), &scale, size);
            std::memcpy(bytes.data() + size, &offset, size);
            std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(2 * size), marks,
                        std::byte{0x80});
            Bytes out(512 * elem);
            const bool is_shorter = bytes.size() < size + 512 * elem;
            EXPECT_EQ(codec.decode(bytes.data(), bytes.size(), 512, out.data()),
                      there == marks && is_shorter)
                << marks << " marks, " << there << " elements";
        }
}

/// The sizes are bits a value, header and all; compress/quant/README.md has the table.
TEST(EscapeSizes, AreThoseOfTheTable) {
    struct Row {
        const char* shape;
        CodecParameters parameters;
        double most_bits;
    };
    const Row rows[] = {
        {"normal", {.abs = 0.02}, 8.2},
        {"normal", {.abs = 0.01}, 8.7},
        {"Student t, 3 degrees", {.abs = 0.02}, 9.0},
        {"lognormal with signs", {.abs = 0.02}, 10.5},
        {"one outlier a block", {.abs = 0.02}, 8.3},
        {"one outlier a block", {.rel = 0.1}, 14},
    };
    for (const Row& row : rows) {
        std::mt19937_64 draw(36);
        const std::vector<BoundShape> shapes = bound_shapes();
        const auto shape = std::find_if(shapes.begin(), shapes.end(), [&](const BoundShape& s) {
            return std::strcmp(s.name, row.shape) == 0;
        });
        const std::size_t count = 1 << 16;
        const Codec codec = told_codecs(CodecId::int8, ElementType::f32, row.parameters).back();
        const auto bytes = static_cast<double>(
            encoded_by(codec, elements_of(*shape, ElementType::f32, count, draw)).size());
        EXPECT_LE(8 * bytes / static_cast<double>(count), row.most_bits)
            << row.shape << ", " << name_of(codec.id);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Escape, testing::ValuesIn(float_types), type_name);

}  // namespace
}  // namespace gradcoll::test
