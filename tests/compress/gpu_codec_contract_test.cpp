// What GPU codecs promise, against the scalar reference of the CPU. The program runs it on what its
// codec_machine() is: emulated warps or a device.
#include <random>

#include "compress/codec_machine_test.hpp"
#include "compress/reference.hpp"

namespace gradcoll::test {
namespace {

using Use = TestArray::Use;

/// Way says how the arrays of a case lie and which form is asked for.
struct Way {
    CodecForm form = CodecForm::by_alignment;
    std::size_t values_shift = 0, payload_shift = 0;
};

std::vector<CodecCase> scalar_cases() {
    std::vector<CodecCase> cases = all_codec_cases();
    for (std::size_t c = 0, usual = cases.size(); c < usual; ++c) {
        const auto [codec, type, isa] = cases[c];
        if (codec == plain(codec) && parameters_for(codec).seed)
            cases.push_back({*codec_with(codec, {.seed = 7}), type, isa});
    }
    std::erase_if(cases, [](const CodecCase& c) {
        return c.isa != InstructionSet::scalar || !runs_on_devices(c.codec);
    });
    return cases;
}

class GpuCodec : public CodecMachineTest {
  protected:
    bool is_nm() const { return group_of(codec_.id).has_value(); }
    Bytes encoding_of(const Bytes& plain) const {
        const std::size_t count = plain.size() / elem();
        Bytes out(bound_bytes(codec_.id, elem(), count));
        codec_.encode(plain.data(), count, out.data());
        return out;
    }
    void expect_encodes(const Bytes& plain, const Way& way) const {
        const std::size_t count = plain.size() / elem();
        const Bytes want = encoding_of(plain);
        const TestArray in = array(plain, Use::read, way.values_shift);
        const TestArray out = array(Bytes(want.size()), Use::written, way.payload_shift);
        launch(CodecWork::encode, way.form, {in.data(), nullptr, nullptr, out.data(), count});
        ASSERT_EQ(out.content(), want) << count << " elements";
        ASSERT_TRUE(out.canaries_intact()) << count << " elements";
    }
    void expect_feeds_back(const Bytes& plain, const Way& way) const {
        const std::size_t count = plain.size() / elem();
        Bytes residual = make_data(Data::normal, residual_type_, count, 9);
        if (!is_floating(codec_.type)) residual.clear();
        const TestArray in = array(plain, Use::read, way.values_shift);
        const TestArray rest = array(residual, Use::written,
                                     way.values_shift == 0 ? 0 : element_bytes(residual_type_));
        Bytes want(bound_bytes(codec_.id, elem(), count));
        const TestArray out = array(Bytes(want.size()), Use::written, way.payload_shift);
        launch(CodecWork::encode_with_residual, way.form,
               {in.data(), rest.data(), nullptr, out.data(), count});
        codec_.encode_with_residual(plain.data(), residual.data(), count, want.data());
        ASSERT_EQ(out.content(), want) << count << " elements";
        ASSERT_EQ(rest.content(), residual) << count << " elements";
        ASSERT_TRUE(out.canaries_intact() && rest.canaries_intact()) << count << " elements";
    }
    void expect_decodes(const Bytes& plain, const Way& way) const {
        const std::size_t count = plain.size() / elem();
        const Bytes encoded = encoding_of(plain);
        Bytes want(plain.size());
        ASSERT_TRUE(codec_.decode(encoded.data(), encoded.size(), count, want.data()));
        const TestArray in = array(encoded, Use::read, way.payload_shift);
        const TestArray out = array(Bytes(plain.size()), Use::written, way.values_shift);
        ASSERT_FALSE(
            launch(CodecWork::decode, way.form, {in.data(), nullptr, nullptr, out.data(), count}));
        ASSERT_EQ(out.content(), want) << count << " elements";
        ASSERT_TRUE(out.canaries_intact()) << count << " elements";
    }
    void expect_sums(const Bytes& plain, const Bytes& base, const Way& way) const {
        const std::size_t count = plain.size() / elem();
        const Bytes encoded = encoding_of(plain);
        Bytes want(plain.size());
        ASSERT_TRUE(
            codec_.decode_sum(encoded.data(), encoded.size(), count, base.data(), want.data()));
        const TestArray in = array(encoded, Use::read, way.payload_shift);
        const TestArray sum = array(base, Use::written, way.values_shift);
        ASSERT_FALSE(launch(CodecWork::decode_sum, way.form,
                            {in.data(), nullptr, sum.data(), sum.data(), count}));
        Bytes decoded(plain.size());
        ASSERT_TRUE(codec_.decode(encoded.data(), encoded.size(), count, decoded.data()));
        ASSERT_EQ(first_wrong(sum.content(), want, base, decoded), count) << "first wrong element";
        ASSERT_TRUE(sum.canaries_intact()) << count << " elements";
    }
    /// Returns the first element that differs; of two NaN any NaN is right, and one that is made of
    /// numbers is negative, as x86 has it, whatever the CPU of this test does.
    std::size_t first_wrong(const Bytes& got, const Bytes& want, const Bytes& a,
                            const Bytes& b) const {
        const ElementType type = codec_.type;
        const auto nan_at = [type](const Bytes& array, std::size_t i) {
            return is_nan(type, element(array, type, i));
        };
        const std::uint64_t sign = std::uint64_t{1} << (8 * element_bytes(type) - 1);
        std::size_t i = 0;
        for (; i < elements_in(want, type); ++i) {
            const bool is_made = nan_at(want, i) && !nan_at(a, i) && !nan_at(b, i);
            const std::uint64_t right = element(want, type, i) | (is_made ? sign : 0);
            if (element(got, type, i) != right && !(nan_at(a, i) && nan_at(b, i) && nan_at(got, i)))
                break;
        }
        return i;
    }
    /// Expects all four works to be right on data of one kind.
    void expect_all(Data data, std::size_t count, const Way& way) const {
        const Bytes plain = make_data(data, codec_.type, count);
        ASSERT_NO_FATAL_FAILURE(expect_encodes(plain, way));
        ASSERT_NO_FATAL_FAILURE(expect_feeds_back(plain, way));
        ASSERT_NO_FATAL_FAILURE(expect_decodes(plain, way));
        ASSERT_NO_FATAL_FAILURE(expect_sums(plain, make_data(data, codec_.type, count, 2), way));
    }
};

/// Returns counts around windows, loose pieces and blocks, and at steps between.
std::vector<std::size_t> sampled_counts(std::size_t last, std::size_t step) {
    std::vector<std::size_t> counts{1, 2, 3, 5, 7, 15, 17, 31, 33, 511, 512, 513, 1024, 1025, 2049};
    for (std::size_t count = 0; count <= last; count += step) counts.push_back(count);
    return counts;
}

TEST_P(GpuCodec, AllWorksEqualTheScalarReferenceByTheFormThatAlignmentAllows) {
    for (const std::size_t count : sampled_counts(1100, 67))
        ASSERT_NO_FATAL_FAILURE(expect_all(Data::special, count, {}));
    for (const Data data : {Data::normal, Data::ties})
        for (const std::size_t count : {40, 500, 1071, 4099})
            ASSERT_NO_FATAL_FAILURE(expect_all(data, count, {}));
}

TEST_P(GpuCodec, AllWorksEqualTheScalarReferenceByTheWarpForm) {
    for (const std::size_t count : sampled_counts(500, 73))
        ASSERT_NO_FATAL_FAILURE(expect_all(Data::special, count, {CodecForm::warp, 0, 0}));
    for (const Data data : {Data::normal, Data::ties})
        ASSERT_NO_FATAL_FAILURE(expect_all(data, 1071, {CodecForm::warp, 0, 0}));
}

TEST_P(GpuCodec, EveryTailLengthOfTheCodecsThatAreUsedMost) {
    const bool most_used = codec_.id == CodecId::nm_2_4 &&
                           (codec_.type == ElementType::f32 || codec_.type == ElementType::bf16);
    if (!most_used) return;
    for (std::size_t tail = 1; tail < 512; ++tail) {
        const std::size_t count = tail % 8 == 0 ? 512 + tail : tail;
        const Bytes plain = make_data(Data::special, codec_.type, count);
        const Bytes base = make_data(Data::normal, codec_.type, count, 2);
        ASSERT_NO_FATAL_FAILURE(expect_encodes(plain, {}));
        ASSERT_NO_FATAL_FAILURE(expect_feeds_back(plain, {}));
        ASSERT_NO_FATAL_FAILURE(expect_sums(plain, base, {}));
    }
}

TEST_P(GpuCodec, ValuesNeedTheAlignmentOfAnElementAndPayloadsTwoBytes) {
    const std::size_t payload_step = std::min<std::size_t>(elem(), 2);
    for (const std::size_t count : {1, 33, 511, 1300})
        for (const std::size_t shift : {payload_step, 3 * payload_step, 4 * payload_step}) {
            ASSERT_NO_FATAL_FAILURE(expect_all(Data::normal, count, {{}, elem(), shift}));
            ASSERT_NO_FATAL_FAILURE(expect_all(Data::normal, count, {{}, 0, shift}));
        }
}

TEST_P(GpuCodec, BaseAndOutMayBeTwoArrays) {
    const std::size_t count = 1300;
    const Bytes plain = make_data(Data::normal, codec_.type, count);
    const Bytes base = make_data(Data::normal, codec_.type, count, 2), encoded = encoding_of(plain);
    Bytes want(plain.size());
    ASSERT_TRUE(codec_.decode_sum(encoded.data(), encoded.size(), count, base.data(), want.data()));
    const TestArray in = array(encoded, Use::read), from = array(base, Use::written);
    const TestArray out = array(Bytes(plain.size()), Use::written);
    launch(CodecWork::decode_sum, {}, {in.data(), nullptr, from.data(), out.data(), count});
    EXPECT_EQ(out.content(), want);
    EXPECT_EQ(from.content(), base);
}

TEST_P(GpuCodec, ManyJobsOfDifferentSizesInOneLaunch) {
    std::vector<std::unique_ptr<TestArray>> ins, outs;
    std::vector<Bytes> wants;
    std::vector<CodecJob> jobs;
    for (std::size_t j = 0; j < 70; ++j) {
        const std::size_t count = j % 7 == 0 ? 0 : j * 131 % 1100;
        const Bytes plain =
            make_data(Data::normal, codec_.type, count, static_cast<std::uint32_t>(j));
        wants.push_back(encoding_of(plain));
        const std::size_t shift = j % 3 == 0 ? elem() : 0;
        ins.push_back(std::make_unique<TestArray>(machine_->memory(), plain, Use::read, shift));
        outs.push_back(std::make_unique<TestArray>(machine_->memory(), Bytes(wants.back().size()),
                                                   Use::written));
        jobs.push_back({ins.back()->data(), nullptr, nullptr, outs.back()->data(), count});
    }
    const CodecLaunch call{CodecWork::encode, plain(codec_.id), codec_.type,
                           nullptr,           nullptr,          codec_.parameters};
    const Status status = machine_->launch(CodecForm::by_alignment, call, jobs);
    ASSERT_TRUE(status.ok()) << status.message();
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        ASSERT_EQ(outs[j]->content(), wants[j]) << "job " << j;
        ASSERT_TRUE(outs[j]->canaries_intact()) << "job " << j;
    }
}

/// Packed masks of a chain have no bit too many: there another mask may come out, the CPU's.
TEST_P(GpuCodec, EveryFlippedMaskBitIsReportedOrGivesAnotherMask) {
    if (!is_nm()) return;
    for (const CodecForm form : {CodecForm::by_alignment, CodecForm::warp})
        for (const std::size_t count : {16, 100, 512, 560}) {
            const std::size_t mask_bits = std::min<std::size_t>(count, 512) / 16 * 16;
            for (std::size_t bit = 0; bit < mask_bits; bit += 11) {
                Bytes bad = encoding_of(make_data(Data::normal, codec_.type, count));
                bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
                const TestArray in = array(bad, Use::read);
                const TestArray out = array(Bytes(count * elem()), Use::written);
                const bool reported = launch(CodecWork::decode, form,
                                             {in.data(), nullptr, nullptr, out.data(), count});
                SCOPED_TRACE(testing::Message() << "bit " << bit << " of " << count << " elements");
                Bytes want(count * elem());
                ASSERT_NE(reported, codec_.decode(bad.data(), bad.size(), count, want.data()));
                ASSERT_TRUE(reported || chain_of(codec_.id));
                if (!reported) {
                    ASSERT_EQ(out.content(), want);
                }
                ASSERT_TRUE(out.canaries_intact());
            }
        }
}

TEST_P(GpuCodec, UnusedBitsOfTheLastMaskWordMustBeZero) {
    if (!is_nm()) return;
    for (std::size_t bit = 16; bit < 32; ++bit) {
        Bytes bad = encoding_of(make_data(Data::normal, codec_.type, 16));
        bad[bit / 8] |= static_cast<std::byte>(1 << bit % 8);
        const TestArray in = array(bad, Use::read), out = array(Bytes(16 * elem()), Use::written);
        ASSERT_TRUE(
            launch(CodecWork::decode_sum, {}, {in.data(), nullptr, out.data(), out.data(), 16}));
    }
}

TEST_P(GpuCodec, RandomBytesNeverLeaveTheOutput) {
    std::mt19937 generator(7);
    for (int round = 0; round < 40; ++round) {
        const std::size_t count = generator() % 1600;
        Bytes noise(bound_bytes(codec_.id, elem(), count));
        for (std::byte& b : noise) b = static_cast<std::byte>(generator());
        const TestArray in = array(noise, Use::read);
        const TestArray out = array(Bytes(count * elem()), Use::written);
        const bool invalid =
            launch(CodecWork::decode, {}, {in.data(), nullptr, nullptr, out.data(), count});
        Bytes scalar(count * elem());
        ASSERT_EQ(invalid, !codec_.decode(noise.data(), noise.size(), count, scalar.data()))
            << count;
        ASSERT_TRUE(out.canaries_intact()) << count;
    }
}

INSTANTIATE_TEST_SUITE_P(All, GpuCodec, testing::ValuesIn(scalar_cases()), case_name);

}  // namespace
}  // namespace gradcoll::test
