#include "compress/codec_cases.hpp"

#include <algorithm>
#include <cctype>
#include <random>

#include "compress/reference.hpp"

namespace gradcoll::test {
namespace {

constexpr ElementType types_of_size[] = {ElementType::f16, ElementType::bf16, ElementType::f32,
                                         ElementType::f64, ElementType::i8,   ElementType::u16,
                                         ElementType::i32, ElementType::u64};

std::uint64_t special_bits(ElementType type, std::uint32_t choice) {
    const std::size_t bits = element_bytes(type) * 8;
    const std::uint64_t sign = (choice & 1) != 0 ? 1ull << (bits - 1) : 0;
    const std::uint64_t inf = bits_of(type, std::numeric_limits<double>::infinity());
    switch (choice / 2 % 8) {
        case 0:
            return sign;  // zero
        case 1:
            return sign | 1;  // the smallest subnormal
        case 2:
            return sign | (inf - 1);  // the largest finite value
        case 3:
            return sign | inf;
        case 4:
            return sign | (inf + 1);  // a signalling NaN
        case 5:
            return sign | ((1ull << (bits - 1)) - 1);  // NaN with all payload bits
        case 6:
            return sign | bits_of(type, 1.0);
        default:
            return sign | (bits_of(type, 1.0) + 1);
    }
}

}  // namespace

std::vector<CodecId> codecs_with_tolerances(std::initializer_list<double> tolerances) {
    std::vector<CodecId> codecs;
    for (const CodecId codec : all_codecs()) {
        codecs.push_back(codec);
        if (parameters_for(codec).abs)
            for (const double abs : tolerances) codecs.push_back(*codec_with(codec, {.abs = abs}));
        if (parameters_for(codec).rel) codecs.push_back(*codec_with(codec, {.rel = 0.05}));
    }
    return codecs;
}

std::vector<CodecCase> all_codec_cases() {
    std::vector<CodecCase> cases;
    for (const CodecId codec : codecs_with_tolerances({1e-7, 1e-3, 0.5}))
        for (const ElementType type : types_of_size)
            for (const InstructionSet isa : all_instruction_sets)
                if (codec_supports(codec, type) && kernels_available(isa))
                    cases.push_back({codec, type, isa});
    return cases;
}

std::vector<CodecCase> lossy_codec_cases() {
    std::vector<CodecCase> cases = all_codec_cases();
    std::erase_if(cases, [](const CodecCase& c) { return c.codec == CodecId::exact; });
    return cases;
}

std::optional<Group> group_of(CodecId codec) {
    const std::string name(name_of(codec));
    const std::size_t colon = name.find(':');
    if (colon == std::string::npos) return std::nullopt;
    return Group{std::stoul(name), std::stoul(name.substr(colon + 1))};
}

bool runs_on_devices(CodecId codec) {
    return is_own(codec) && packing_of(codec) == Packing::none && has_fixed_rate(codec);
}

std::string case_name(const testing::TestParamInfo<CodecCase>& info) {
    std::string name = std::string(name_of(info.param.codec)) + "_" +
                       std::string(name_of(info.param.type)) + "_" +
                       std::string(name_of(info.param.isa));
    std::replace_if(
        name.begin(), name.end(),
        [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}

Bytes make_data(Data data, ElementType type, std::size_t count, std::uint32_t seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    Bytes out;
    for (std::size_t i = 0; i < count; ++i) {
        const auto draw = static_cast<std::uint32_t>(generator());
        if (!is_floating(type)) {
            append_element(out, type, draw);
        } else if (data == Data::normal) {
            append_element(out, type, bits_of(type, normal(generator)));
        } else if (data == Data::ties) {
            append_element(out, type, bits_of(type, static_cast<int>(draw % 5) - 2));
        } else {
            append_element(out, type, special_bits(type, draw));
        }
    }
    return out;
}

std::vector<std::size_t> hard_counts() {
    std::vector<std::size_t> counts;
    for (std::size_t count = 0; count <= 70; ++count) counts.push_back(count);
    counts.insert(counts.end(), {511, 512, 513, 1023, 1024, 1025, 4099});
    return counts;
}

GuardedBuffer::GuardedBuffer(std::size_t bytes, std::size_t shift)
    : bytes_(bytes), shift_(shift), storage_(new std::byte[bytes + shift + 2 * guard_bytes]) {
    std::fill_n(storage_.get(), bytes + shift + 2 * guard_bytes, std::byte{0xa5});
}

GuardedBuffer::GuardedBuffer(const Bytes& content, std::size_t shift)
    : GuardedBuffer(content.size(), shift) {
    std::copy(content.begin(), content.end(), data());
}

Bytes GuardedBuffer::content() const {
    const std::byte* first = storage_.get() + guard_bytes + shift_;
    return {first, first + bytes_};
}

bool GuardedBuffer::canaries_intact() const {
    const auto is_canary = [](std::byte b) { return b == std::byte{0xa5}; };
    const std::byte* begin = storage_.get();
    const std::byte* first = begin + guard_bytes + shift_;
    return std::all_of(begin, first, is_canary) &&
           std::all_of(first + bytes_, first + bytes_ + guard_bytes, is_canary);
}

testing::AssertionResult same_but_nan_payload(ElementType type, const Bytes& got,
                                              const Bytes& want) {
    if (got.size() != want.size())
        return testing::AssertionFailure() << got.size() << " bytes, expected " << want.size();
    for (std::size_t i = 0; i < elements_in(want, type); ++i) {
        const std::uint64_t g = element(got, type, i), w = element(want, type, i);
        if (g != w && !(is_nan(type, g) && is_nan(type, w)))
            return testing::AssertionFailure()
                   << "element " << i << " is " << std::hex << g << ", expected " << w;
    }
    return testing::AssertionSuccess();
}

}  // namespace gradcoll::test
