// Quantization with a tolerance on what codec_machine() of the program is: block by block the
// bytes, residuals and values of the scalar reference of the CPU.
#include <random>

#include "compress/bound_cases.hpp"
#include "compress/codec_machine_test.hpp"
#include "compress/encode_block.hpp"

namespace gradcoll::test {
namespace {

using Use = TestArray::Use;

constexpr std::size_t block = 512;
constexpr CodecParameters told[] = {{.abs = 1e-310}, {.abs = 1e-6}, {.abs = 4e-3}, {.abs = 0.3},
                                    {.abs = 1e300},  {.rel = 1e-4}, {.rel = 0.05}, {.rel = 0.9}};

std::vector<CodecCase> told_cases() {
    std::vector<CodecCase> cases;
    for (const CodecId quantizer : {CodecId::int4, CodecId::int8, CodecId::int16})
        for (const ElementType type :
             {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64})
            for (const CodecParameters& parameters : told)
                if (codec_supports(quantizer, type))
                    cases.push_back(
                        {*codec_with(quantizer, parameters), type, InstructionSet::scalar});
    return cases;
}

class GpuEscape : public CodecMachineTest {
  protected:
    std::size_t elems_of(const Bytes& plain) const { return plain.size() / elem(); }

    /// A Message has blocks one behind the other, and where they lie.
    struct Message {
        Bytes bytes;
        std::vector<CodedBlock> blocks;
    };
    /// Calls encode(from, elems, out) for each block of the reference.
    template <class Encode>
    Message encoded(std::size_t count, Encode encode) const {
        Message message;
        for (std::size_t from = 0; from < count; from += block) {
            const std::size_t elems = std::min(block, count - from);
            Bytes out(bound_bytes(codec_.id, elem(), elems));
            CodedBlock coded = encode(from, elems, out.data());
            out.resize(coded.size_bytes);
            coded.offset_bytes = message.bytes.size();
            message.blocks.push_back(coded);
            message.bytes.insert(message.bytes.end(), out.begin(), out.end());
        }
        return message;
    }
    /// Encodes as the codec does, whether it pays or not.
    Message encoding_of(const Bytes& plain) const {
        return encoded(elems_of(plain), [&](std::size_t from, std::size_t elems, std::byte* out) {
            const std::size_t size = codec_.encode(plain.data() + from * elem(), elems, out);
            return CodedBlock{0, static_cast<std::uint32_t>(size), 0};
        });
    }
    /// Returns the message as it is sent. `residual` is null, or gets what is left over.
    Message message_of(const Bytes& plain, Bytes* residual = nullptr) const {
        return encoded(elems_of(plain), [&](std::size_t from, std::size_t elems, std::byte* out) {
            std::byte* const rest =
                residual ? residual->data() + from * element_bytes(residual_type_) : nullptr;
            return encode_block(codec_, {plain.data() + from * elem(), rest, elems},
                                bound_bytes(codec_.id, elem(), elems), out)
                .value();
        });
    }

    static Bytes bytes_of(const std::vector<CodedBlock>& blocks) {
        Bytes bytes(blocks.size() * sizeof(CodedBlock));
        if (!bytes.empty()) std::memcpy(bytes.data(), blocks.data(), bytes.size());
        return bytes;
    }
    bool launch(CodecWork work, CodecForm form, CodecJob job, const TestArray& blocks) const {
        job.blocks = reinterpret_cast<CodedBlock*>(blocks.data());
        return CodecMachineTest::launch(work, form, job);
    }

    static constexpr std::size_t blocks_at = 24;

    /// Expects what the device wrote: each block has the room of a plain one.
    void expect_blocks(const Message& want, const TestArray& out, const TestArray& blocks) const {
        const Bytes payload = out.content(), places = blocks.content();
        ASSERT_TRUE(out.canaries_intact() && blocks.canaries_intact());
        for (std::size_t b = 0; b < want.blocks.size(); ++b) {
            CodedBlock got;
            std::memcpy(&got, places.data() + b * sizeof got, sizeof got);
            ASSERT_EQ(got.offset_bytes, blocks_at + b * bound_bytes(codec_.id, elem(), block))
                << "block " << b;
            ASSERT_EQ(got.size_bytes, want.blocks[b].size_bytes) << "block " << b;
            ASSERT_EQ(got.is_plain, want.blocks[b].is_plain) << "block " << b;
            ASSERT_EQ(std::memcmp(payload.data() + got.offset_bytes,
                                  want.bytes.data() + want.blocks[b].offset_bytes, got.size_bytes),
                      0)
                << "block " << b;
        }
    }
    void expect_encodes(const Bytes& plain, CodecForm form, std::size_t shift) const {
        const Message want = message_of(plain);
        const TestArray in = array(plain, Use::read, shift == 0 ? 0 : elem());
        const TestArray out =
            array(Bytes(blocks_at + bound_bytes(codec_.id, elem(), elems_of(plain))), Use::written,
                  shift);
        const TestArray blocks = array(bytes_of(want.blocks), Use::written);
        launch(CodecWork::encode, form,
               {in.data(), nullptr, nullptr, out.data(), elems_of(plain), nullptr, blocks_at},
               blocks);
        expect_blocks(want, out, blocks);
    }
    void expect_feeds_back(const Bytes& plain, CodecForm form, std::size_t shift) const {
        const std::size_t count = elems_of(plain), wide = element_bytes(residual_type_);
        Bytes residual = make_data(Data::normal, residual_type_, count, 9);
        const TestArray rest = array(residual, Use::written, shift == 0 ? 0 : wide);
        const TestArray in = array(plain, Use::read, shift == 0 ? 0 : elem());
        const TestArray out =
            array(Bytes(blocks_at + bound_bytes(codec_.id, elem(), count)), Use::written, shift);
        const Message want = message_of(plain, &residual);
        const TestArray blocks = array(bytes_of(want.blocks), Use::written);
        launch(CodecWork::encode_with_residual, form,
               {in.data(), rest.data(), nullptr, out.data(), count, nullptr, blocks_at}, blocks);
        ASSERT_NO_FATAL_FAILURE(expect_blocks(want, out, blocks));
        ASSERT_EQ(rest.content(), residual);
        ASSERT_TRUE(rest.canaries_intact());
    }
    /// Computes the values of a message, and their sums with a base, by the reference.
    void decode(const Message& message, const Bytes& base, Bytes& values, Bytes& sums) const {
        const Codec exact = *codec_for(CodecId::exact, codec_.type, InstructionSet::scalar);
        const std::size_t count = elems_of(base);
        for (std::size_t b = 0; b < message.blocks.size(); ++b) {
            const auto& [offset, size, is_plain] = message.blocks[b];
            const Codec& codec = is_plain != 0 ? exact : codec_;
            const std::size_t elems = std::min(block, count - b * block);
            const std::size_t at = b * block * elem();
            const std::byte* const in = message.bytes.data() + offset;
            ASSERT_TRUE(codec.decode(in, size, elems, values.data() + at));
            ASSERT_TRUE(codec.decode_sum(in, size, elems, base.data() + at, sums.data() + at));
        }
    }
    void expect_decodes(const Message& message, const Bytes& base, CodecForm form,
                        std::size_t shift) const {
        const std::size_t count = elems_of(base);
        Bytes want(base.size()), sum(base.size());
        ASSERT_NO_FATAL_FAILURE(decode(message, base, want, sum));
        const TestArray in = array(message.bytes, Use::read, shift);
        const TestArray blocks = array(bytes_of(message.blocks), Use::read);
        const TestArray out = array(Bytes(base.size()), Use::written, shift == 0 ? 0 : elem());
        ASSERT_FALSE(launch(CodecWork::decode, form,
                            {in.data(), nullptr, nullptr, out.data(), count}, blocks));
        ASSERT_EQ(out.content(), want);
        const TestArray added = array(base, Use::written, shift == 0 ? 0 : elem());
        ASSERT_FALSE(launch(CodecWork::decode_sum, form,
                            {in.data(), nullptr, added.data(), added.data(), count}, blocks));
        ASSERT_TRUE(same_but_nan_payload(codec_.type, added.content(), sum));
        ASSERT_TRUE(out.canaries_intact() && added.canaries_intact());
    }
    void expect_all(const Bytes& plain, CodecForm form, std::size_t shift = 0) const {
        const Bytes base = make_data(Data::normal, codec_.type, elems_of(plain), 2);
        ASSERT_NO_FATAL_FAILURE(expect_encodes(plain, form, shift));
        ASSERT_NO_FATAL_FAILURE(expect_feeds_back(plain, form, shift));
        ASSERT_NO_FATAL_FAILURE(expect_decodes(encoding_of(plain), base, form, shift));
        ASSERT_NO_FATAL_FAILURE(expect_decodes(message_of(plain), base, form, shift));
    }
};

TEST_P(GpuEscape, BlocksOfAllKindsOfDataAreThoseOfTheScalarReference) {
    std::mt19937_64 draw(5);
    for (const BoundShape& shape : bound_shapes()) {
        SCOPED_TRACE(shape.name);
        const Bytes plain = elements_of(shape, codec_.type, 2 * block, draw);
        ASSERT_NO_FATAL_FAILURE(expect_all(plain, CodecForm::by_alignment));
        const Bytes tail = elements_of(shape, codec_.type, 1 + draw() % 1000, draw);
        ASSERT_NO_FATAL_FAILURE(expect_all(tail, CodecForm::warp));
    }
}

TEST_P(GpuEscape, ShortVectorsAndLastBlocks) {
    for (const Data data : all_data)
        for (const std::size_t count : {1, 2, 3, 7, 15, 16, 17, 33, 500, 511, 513, 1031}) {
            SCOPED_TRACE(testing::Message() << count << " elements");
            ASSERT_NO_FATAL_FAILURE(
                expect_all(make_data(data, codec_.type, count), CodecForm::by_alignment));
        }
}

TEST_P(GpuEscape, ValuesNeedTheAlignmentOfAnElementAndPayloadsTwoBytes) {
    for (const std::size_t count : {1, 33, 1300})
        for (const std::size_t shift : {2, 6, 8})
            ASSERT_NO_FATAL_FAILURE(expect_all(make_data(Data::normal, codec_.type, count),
                                               CodecForm::by_alignment, shift));
}

/// What the CPU refuses is called invalid, and what it takes gives its values; nothing outside the
/// output is written.
TEST_P(GpuEscape, ChangedBytesAndSizesAreRefusedWhereTheReferenceRefusesThem) {
    std::mt19937 draw(7);
    for (const std::size_t count : {511, 512})
        for (const Data data : {Data::normal, Data::special})
            for (std::size_t round = 0; round < 40; ++round) {
                Message message = encoding_of(
                    make_data(data, codec_.type, count, static_cast<std::uint32_t>(draw())));
                Bytes& bytes = message.bytes;
                for (std::size_t change = 0; change < 1 + round % 3; ++change)
                    bytes[draw() % std::min<std::size_t>(bytes.size(), 12)] =
                        static_cast<std::byte>(draw() % 4 == 0 ? 0xff : draw());
                if (round % 4 == 0) bytes.resize(draw() % bytes.size());
                if (round % 4 == 1) bytes.resize(bytes.size() + 2 * (draw() % 3));
                message.blocks[0].size_bytes = static_cast<std::uint32_t>(bytes.size());
                Bytes want(count * elem());
                const bool taken = codec_.decode(bytes.data(), bytes.size(), count, want.data());
                const TestArray in = array(bytes, Use::read);
                const TestArray blocks = array(bytes_of(message.blocks), Use::read);
                const TestArray out = array(Bytes(want.size()), Use::written);
                const bool refused =
                    launch(CodecWork::decode, CodecForm::by_alignment,
                           {in.data(), nullptr, nullptr, out.data(), count}, blocks);
                ASSERT_EQ(refused, !taken) << "round " << round;
                if (taken) {
                    ASSERT_TRUE(same_but_nan_payload(codec_.type, out.content(), want));
                }
                ASSERT_TRUE(out.canaries_intact());
            }
}

TEST_P(GpuEscape, ABlockAtAnOddPlaceIsRefused) {
    Message message = encoding_of(make_data(Data::normal, codec_.type, block));
    message.bytes.insert(message.bytes.begin(), std::byte{});
    message.blocks[0].offset_bytes = 1;
    const TestArray in = array(message.bytes, Use::read);
    const TestArray blocks = array(bytes_of(message.blocks), Use::read);
    const TestArray out = array(Bytes(block * elem()), Use::written);
    EXPECT_TRUE(launch(CodecWork::decode, CodecForm::by_alignment,
                       {in.data(), nullptr, nullptr, out.data(), block}, blocks));
}

TEST_P(GpuEscape, APlainBlockOfAnotherLengthIsRefused) {
    for (const int more : {-2, 2}) {
        Bytes bytes(block * elem() + 2);
        CodedBlock coded{0, static_cast<std::uint32_t>(block * elem() + more), 1};
        const TestArray in = array(bytes, Use::read);
        const TestArray blocks = array(bytes_of({coded}), Use::read);
        const TestArray out = array(Bytes(block * elem()), Use::written);
        EXPECT_TRUE(launch(CodecWork::decode, CodecForm::by_alignment,
                           {in.data(), nullptr, nullptr, out.data(), block}, blocks));
    }
}

INSTANTIATE_TEST_SUITE_P(All, GpuEscape, testing::ValuesIn(told_cases()), case_name);

}  // namespace
}  // namespace gradcoll::test
