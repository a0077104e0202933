#include "compress/bound_cases.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>

namespace gradcoll::test {
namespace {

double uniform(std::mt19937_64& draw) {
    return std::ldexp(static_cast<double>((draw() >> 11) + 1), -53);  // above 0
}
double normal(std::mt19937_64& draw) {
    return std::sqrt(-2 * std::log(uniform(draw))) * std::cos(2 * M_PI * uniform(draw));
}
double laplace(std::mt19937_64& draw) {
    const double size = -std::log(uniform(draw));
    return (draw() & 1) != 0 ? size : -size;
}
double student_t3(std::mt19937_64& draw) {
    const double a = normal(draw), b = normal(draw), c = normal(draw);
    return normal(draw) / std::sqrt((a * a + b * b + c * c) / 3);
}
double lognormal(std::mt19937_64& draw) {
    const double size = std::exp(normal(draw));
    return (draw() & 1) != 0 ? size : -size;
}

/// Rounds to the type; too large becomes the largest.
std::uint64_t finite_bits(ElementType type, double value) {
    const std::uint64_t bits = bits_of(type, value);
    if (std::isfinite(value_of(type, bits))) return bits;
    const std::uint64_t largest = bits_of(type, std::numeric_limits<double>::infinity()) - 1;
    return value < 0 ? largest | 1ull << (8 * element_bytes(type) - 1) : largest;
}

template <double (*value)(std::mt19937_64&)>
std::uint64_t drawn(ElementType type, std::mt19937_64& draw, std::size_t) {
    return finite_bits(type, value(draw));
}

const std::vector<double>& values_of_16_bits(ElementType type) {
    const auto all = [](ElementType of) {
        std::vector<double> values;
        for (std::uint64_t bits = 0; bits < 65536; ++bits) values.push_back(value_of(of, bits));
        return values;
    };
    static const std::vector<double> fp16 = all(ElementType::f16), bf16 = all(ElementType::bf16);
    return type == ElementType::f16 ? fp16 : bf16;
}

}  // namespace

std::string type_name(const testing::TestParamInfo<ElementType>& info) {
    return std::string(name_of(info.param));
}

std::size_t bound_factor() {
    const char* said = std::getenv("GC_TEST_BOUND_FACTOR");
    return said == nullptr ? 1 : std::stoul(said);
}

std::vector<Codec> bound_codecs(ElementType type, double abs) {
    std::vector<Codec> codecs;
    for (const InstructionSet isa : all_instruction_sets) {
        if (!kernels_available(isa)) continue;
        codecs.push_back(*codec_for(CodecId::bound, type, isa));
        codecs.back().parameters.abs = abs;
    }
    return codecs;
}

ExactLook::ExactLook(ElementType type, double abs) : type_(type), abs_(abs) {}

double ExactLook::value(std::uint64_t bits) const {
    return element_bytes(type_) == 2 ? values_of_16_bits(type_)[bits] : value_of(type_, bits);
}

bool ExactLook::allows(std::uint64_t x, std::uint64_t sent) const {
    const double value_of_x = value(x);
    if (abs_ == 0 || !std::isfinite(value_of_x)) return x == sent;
    return allows_value(value_of_x, value(sent));
}

/// The rounded difference decides, unless it is the tolerance itself: then what was rounded off.
/// Differences that are too large for fp64 are looked at in halves.
bool ExactLook::allows_value(double x, double sent) const {
    if (!std::isfinite(sent)) return false;
    const double difference = x - sent;
    if (std::isinf(difference)) return std::fabs(x / 2 - sent / 2) <= abs_ / 2;
    if (std::fabs(difference) != abs_) return std::fabs(difference) < abs_;
    const double sent_again = x - difference;
    const double off = (x - (difference + sent_again)) + (sent_again - sent);
    return difference > 0 ? off <= 0 : off >= 0;
}

void expect_sums_kept(const Codec& codec, const Bytes& plain, const Bytes& residual,
                      const std::function<bool(double wanted, double sent)>& allows) {
    const ElementType type = codec.type;
    const bool is_fp64 = type == ElementType::f64;
    const ElementType wide = is_fp64 ? ElementType::f64 : ElementType::f32;
    const std::size_t count = elements_in(plain, type);
    Bytes rests = residual, encoded(bound_bytes(codec.id, element_bytes(type), count));
    encoded.resize(codec.encode_with_residual(plain.data(), rests.data(), count, encoded.data()));
    Bytes back(plain.size());
    ASSERT_TRUE(codec.decode(encoded.data(), encoded.size(), count, back.data()));
    const auto rounded = [is_fp64](double value) {  // to what the residual is
        return is_fp64 ? value : static_cast<double>(static_cast<float>(value));
    };
    for (std::size_t i = 0; i < count; ++i) {
        const double wanted = rounded(value_of(type, element(plain, type, i)) +
                                      value_of(wide, element(residual, wide, i)));
        const double sent = value_of(type, element(back, type, i));
        const double rest = value_of(wide, element(rests, wide, i));
        if (!std::isfinite(wanted)) {
            ASSERT_EQ(std::isnan(wanted), std::isnan(sent));
            ASSERT_EQ(rest, 0);
            continue;
        }
        const bool is_nearest = element(back, type, i) == bits_of(type, wanted);
        ASSERT_TRUE(is_nearest || allows(wanted, sent))
            << name_of(codec.id) << ": " << wanted << " as " << sent;
        const double unsent = rounded(wanted - sent);
        ASSERT_EQ(rest, std::isfinite(unsent) ? unsent : 0);
    }
}

std::vector<BoundShape> bound_shapes() {
    using Draw = std::mt19937_64;
    return {
        {"normal", drawn<normal>},
        {"Laplace", drawn<laplace>},
        {"Student t, 3 degrees", drawn<student_t3>},
        {"lognormal with signs", drawn<lognormal>},
        {"one outlier a block",
         [](ElementType type, Draw& draw, std::size_t i) {
             return finite_bits(type, i % 512 == 77 ? 1e30 * normal(draw) : normal(draw));
         }},
        {"constants",
         [](ElementType type, Draw&, std::size_t i) {
             return finite_bits(type, std::ldexp(static_cast<double>(i / 512) - 1.3, 3));
         }},
        {"curve",
         [](ElementType type, Draw& draw, std::size_t i) {
             return finite_bits(type, std::sin(static_cast<double>(i) / 300) + 1e-4 * normal(draw));
         }},
        {"far from zero", [](ElementType type, Draw& draw,
                             std::size_t) { return finite_bits(type, 1000 + normal(draw)); }},
        {"next to halves of steps",
         [](ElementType type, Draw& draw, std::size_t) {
             const double half_steps = static_cast<double>(draw() % 4096) - 2048;
             return finite_bits(type, half_steps * 1e-3 * (1 + 1e-7 * normal(draw)));
         }},
        {"all magnitudes",
         [](ElementType type, Draw& draw, std::size_t i) {
             const int exponent = static_cast<int>(i / 512 * 97 % 2000) - 1060;
             return finite_bits(type, std::ldexp(normal(draw), exponent));
         }},
        {"the largest",
         [](ElementType type, Draw& draw, std::size_t) {
             return finite_bits(type, std::numeric_limits<double>::max() * normal(draw));
         }},
        {"specials among numbers",
         [](ElementType type, Draw& draw, std::size_t) {
             const std::uint64_t inf = bits_of(type, std::numeric_limits<double>::infinity());
             const std::uint64_t sign = (draw() & 1) << (8 * element_bytes(type) - 1);
             return draw() % 900 == 0 ? sign | (inf + draw() % 3) : bits_of(type, normal(draw));
         }},
        {"any bits", [](ElementType type, Draw& draw,
                        std::size_t) { return draw() >> (64 - 8 * element_bytes(type)); }},
    };
}

Bytes elements_of(const BoundShape& shape, ElementType type, std::size_t count,
                  std::mt19937_64& draw) {
    Bytes out;
    out.reserve(count * element_bytes(type));
    for (std::size_t i = 0; i < count; ++i) append_element(out, type, shape.element(type, draw, i));
    return out;
}

}  // namespace gradcoll::test
