// The wire format is what the files under tests/golden/codecs say, byte for byte.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "compress/codec_cases.hpp"
#include "compress/codec_machine.hpp"

namespace gradcoll::test {
namespace {

struct Vector {
    ElementType type;
    Bytes plain, encoded;
};

Bytes from_hex(const std::string& hex) {
    Bytes out;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        out.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return out;
}

ElementType type_named(const std::string& name) {
    for (const ElementType type :
         {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64})
        if (name_of(type) == name) return type;
    return ElementType::opaque;
}

std::vector<Vector> vectors_of(CodecId codec) {
    std::string file(name_of(codec));
    std::replace_if(
        file.begin(), file.end(),
        [](char c) { return c == ':' || c == '/' || c == '=' || c == '+'; }, '_');
    std::ifstream in(std::string(GRADCOLL_TESTS_DIR) + "/golden/codecs/" + file + ".txt");
    std::vector<Vector> vectors;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream words(line);
        std::string type, plain, encoded;
        words >> type >> plain >> encoded;
        vectors.push_back({type_named(type), from_hex(plain), from_hex(encoded)});
    }
    return vectors;
}

/// Encodes as one job of a launch.
Bytes encoded_by(CodecMachine& machine, CodecId codec, const Vector& v) {
    const std::size_t count = elements_in(v.plain, v.type);
    const TestArray in(machine.memory(), v.plain, TestArray::Use::read);
    const TestArray out(machine.memory(), Bytes(bound_bytes(codec, element_bytes(v.type), count)),
                        TestArray::Use::written);
    const CodecJob job{in.data(), nullptr, nullptr, out.data(), count};
    EXPECT_TRUE(machine
                    .launch(CodecForm::by_alignment,
                            {CodecWork::encode, plain(codec), v.type, nullptr, nullptr,
                             parameters_of(codec)},
                            {&job, 1})
                    .ok());
    return out.content();
}

class Golden : public testing::TestWithParam<CodecId> {};

TEST_P(Golden, EveryInstructionSetEncodesToThePinnedBytes) {
    const std::vector<Vector> vectors = vectors_of(GetParam());
    ASSERT_GE(vectors.size(), 11u);
    for (const InstructionSet isa : all_instruction_sets)
        for (const Vector& v : vectors) {
            if (!kernels_available(isa)) continue;
            const std::size_t count = elements_in(v.plain, v.type);
            Bytes out(bound_bytes(GetParam(), element_bytes(v.type), count));
            const Codec codec = *codec_for(GetParam(), v.type, isa);
            out.resize(codec.encode(v.plain.data(), count, out.data()));
            EXPECT_EQ(out, v.encoded) << name_of(v.type) << ", " << count << " elements";
        }
}

TEST_P(Golden, GpuKernelsEncodeToThePinnedBytes) {
    CodecMachine* machine = codec_machine();
    if (machine == nullptr) GTEST_SKIP() << "no machine for GPU kernels";
    if (!runs_on_devices(GetParam())) GTEST_SKIP() << "no kernels for devices";
    for (const Vector& v : vectors_of(GetParam()))
        EXPECT_EQ(encoded_by(*machine, GetParam(), v), v.encoded)
            << name_of(v.type) << ", " << elements_in(v.plain, v.type) << " elements";
}

/// Returns the library's own; stages from outside keep their bytes elsewhere. Those that take a
/// tolerance lose nothing without one.
std::vector<CodecId> own_lossy_codecs() {
    std::vector<CodecId> codecs = codecs_with_tolerances({0.001, 0.25});
    for (const char* seeded : {"int8/seed=7", "int4/seed=7", "int16/seed=7"})
        codecs.push_back(*codec_from_name(seeded));
    std::erase_if(codecs, [](CodecId codec) {
        return codec == CodecId::exact || !is_own(codec) || waits_for_tolerance(codec);
    });
    return codecs;
}

INSTANTIATE_TEST_SUITE_P(Lossy, Golden, testing::ValuesIn(own_lossy_codecs()));

/// This is the example of compress/nm/README.md.
TEST(GoldenByHand, FiveFp32ElementsAsTwoOfFour) {
    const float in[] = {1.0f, -3.0f, 2.0f, -2.0f, 0.5f};
    std::byte out[16];
    codec_for(CodecId::nm_2_4, ElementType::f32)->encode(in, 5, out);
    EXPECT_EQ(Bytes(out, out + 16), from_hex("06000000000040c0000000400000003f"));
}

/// This is the example of compress/cast/README.md.
TEST(GoldenByHand, Fp32AsBf16RoundsToEvenAndKeepsNan) {
    const std::uint32_t in[] = {0x3f800000, 0x3f808000, 0x3f818000, 0x7f7fffff, 0x7f800001};
    std::byte out[10];
    codec_for(CodecId::bf16, ElementType::f32)->encode(in, 5, out);
    EXPECT_EQ(Bytes(out, out + 10), from_hex("803f803f823f807fc07f"));
}

/// These are the examples of compress/quant/README.md.
TEST(GoldenByHand, QuantizedValuesWithAStepOfOne) {
    std::byte out[13];
    const float whole[] = {-2, 0, 1, 253, 7};
    codec_for(CodecId::int8, ElementType::f32)->encode(whole, 5, out);
    EXPECT_EQ(Bytes(out, out + 13), from_hex("0000803f0000fc428082837f89"));
    const float with_specials[] = {NAN, 0, 252, INFINITY};
    codec_for(CodecId::int8, ElementType::f32)->encode(with_specials, 4, out);
    EXPECT_EQ(Bytes(out, out + 12), from_hex("000080bf0000fc4280827e7f"));
    const float few[] = {0, 1, 2, 15, 7.4F};
    codec_for(CodecId::int4, ElementType::f32)->encode(few, 5, out);
    EXPECT_EQ(Bytes(out, out + 11), from_hex("0000803f00000041987a0f"));
}

TEST(GoldenByHand, QuantizedValuesAndEscapesWithinAHalf) {
    const Codec codec = *codec_for(*codec_from_name("int8/abs=0.5"), ElementType::f32);
    const auto encoded = [&codec](const std::vector<float>& in) {
        Bytes out(bound_bytes(codec.id, sizeof(float), in.size()));
        out.resize(codec.encode(in.data(), in.size(), out.data()));
        return out;
    };
    EXPECT_EQ(encoded({1, -0.0F, 3, 1000, 0.25F, 0.5F, 2, 1.5F}),
              from_hex("08f87fbf0000000001800380000102020000008000007a44"));
    EXPECT_EQ(encoded({1, -0.0F, 3, 1000, NAN}),
              from_hex("ffffffff0000803f000000800000404000007a440000c07f"));
    EXPECT_EQ(encoded({2.5F, 2.5F, 2.5F, 2.5F, 2.5F}), from_hex("0000000000002040"));
}

/// These are the examples of compress/bound/README.md.
TEST(GoldenByHand, TwentyWholeNumbersAndNearlyEqualOnesWithinAQuarter) {
    const Codec codec = *codec_for(*codec_from_name("bound/abs=0.25"), ElementType::f32);
    float in[20];
    for (int i = 0; i < 20; ++i) in[i] = static_cast<float>(i - 3);
    std::byte out[84];
    ASSERT_EQ(codec.encode(in, 20, out), 72u);
    EXPECT_EQ(Bytes(out, out + 24), from_hex("06fafffff0feff3e00080000820800000409000086090000"));
    EXPECT_EQ(Bytes(out + 68, out + 72), from_hex("1e000000"));
    for (float& value : in) value = 2.5F;
    in[7] = 2.6F;
    ASSERT_EQ(codec.encode(in, 20, out), 8u);
    EXPECT_EQ(Bytes(out, out + 8), from_hex("0000000033332340"));
}

}  // namespace
}  // namespace gradcoll::test
