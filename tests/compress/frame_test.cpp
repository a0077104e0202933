// The message header: its bytes, and what of a peer's bytes is refused.
#include "compress/frame.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace gradcoll {
namespace {

FrameHeader example() {
    return {CodecId::nm_2_4, {}, ElementType::f32, false, 5, 16};
}

std::vector<std::byte> message_of(const FrameHeader& header) {
    std::vector<std::byte> message(frame_header_bytes + header.payload_bytes);
    write_frame_header(header, message.data());
    return message;
}

Result<FrameHeader> read(const std::vector<std::byte>& message) {
    return read_frame_header(message.data(), message.size());
}

TEST(Frame, HasTheBytesThatTheReadmeShows) {
    const unsigned char expected[frame_header_bytes] = {
        'G', 'C', 'F', '1', 4, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 16};
    EXPECT_EQ(std::memcmp(message_of(example()).data(), expected, frame_header_bytes), 0);
}

TEST(Frame, ReadsWhatWasWritten) {
    for (const CodecId codec : all_codecs()) {
        FrameHeader header{codec, {1e-4}, ElementType::f32, index_of(codec) % 2 == 0, 77, 300};
        const Result<FrameHeader> got = read(message_of(header));
        ASSERT_TRUE(got.ok()) << got.status().message();
        EXPECT_EQ(got->codec, header.codec);
        EXPECT_EQ(got->parameters, header.parameters);
        EXPECT_EQ(got->type, header.type);
        EXPECT_EQ(got->sender_failed, header.sender_failed);
        EXPECT_EQ(got->count_elems, header.count_elems);
        EXPECT_EQ(got->payload_bytes, header.payload_bytes);
    }
}

/// Every byte of the header but flag, count and lower type values is fixed: a change must be
/// noticed.
TEST(Frame, EveryChangedByteIsRefusedOrDiffersFromTheExpectedHeader) {
    for (std::size_t at = 0; at < frame_header_bytes; ++at)
        for (int change = 1; change < 256; ++change) {
            std::vector<std::byte> message = message_of(example());
            message[at] ^= static_cast<std::byte>(change);
            const Result<FrameHeader> got = read(message);
            if (!got.ok()) {
                EXPECT_EQ(got.status().code(), Code::corrupt);
            } else {
                EXPECT_FALSE(check_frame(*got, example()).ok()) << at << " ^ " << change;
            }
        }
}

struct BadHeader {
    const char* field;
    std::size_t at;
    unsigned char value;
};

TEST(Frame, AnotherToleranceIsRefusedWithBothValues) {
    FrameHeader header = example();
    header.parameters.abs = 0.25;
    EXPECT_EQ(check_frame(header, example()).message(),
              "message header: tolerance is 0.25, expected 0");
}

TEST(Frame, AnotherRelativeToleranceOrSeedIsRefusedWithBothValues) {
    FrameHeader header{CodecId::int8, {.rel = 0.25}, ElementType::f32, false, 5, 16};
    FrameHeader other = header;
    other.parameters.rel = 0.5;
    EXPECT_EQ(check_frame(header, other).message(),
              "message header: relative tolerance is 0.25, expected 0.5");
    other.parameters = {.seed = 7};
    header.parameters = {.seed = 9};
    EXPECT_EQ(check_frame(header, other).message(), "message header: seed is 9, expected 7");
}

TEST(Frame, TheRateOfInt8DependsOnItsParameters) {
    const FrameHeader fixed{CodecId::int8, {.seed = 3}, ElementType::f32, false, 5, 16};
    const FrameHeader varying{CodecId::int8, {.abs = 0.5}, ElementType::f32, false, 5, 16};
    EXPECT_EQ(message_of(fixed)[8], std::byte{0});
    EXPECT_EQ(message_of(varying)[8], std::byte{2});
    EXPECT_EQ(read(message_of(fixed))->parameters, fixed.parameters);
    EXPECT_EQ(read(message_of(varying))->parameters, varying.parameters);
    std::vector<std::byte> message = message_of(varying);
    message[8] = std::byte{0};  // without lengths of blocks, and not as long as the elements
    EXPECT_EQ(read(message).status().message(),
              "message header: payload bytes is 16, expected 20 of 5 plain elements");
}

TEST(Frame, OfVariableRateMaySayThatItsElementsArePlain) {
    FrameHeader header{CodecId::int8, {.abs = 0.5}, ElementType::f32, false, 5, 20};
    EXPECT_FALSE(read(message_of(header))->is_plain);
    header.is_plain = true;
    EXPECT_EQ(message_of(header)[8], std::byte{0});
    EXPECT_TRUE(read(message_of(header))->is_plain);
    EXPECT_TRUE(check_frame(*read(message_of(header)), header).ok());
    header.payload_bytes = 19;
    EXPECT_FALSE(read(message_of(header)).ok());
    EXPECT_FALSE(read(message_of(example()))->is_plain);  // a fixed rate knows no such thing
}

TEST(Frame, AnOlderVersionIsRefusedInClearWords) {
    std::vector<std::byte> message = message_of(example());
    message[4] = std::byte{2};
    EXPECT_EQ(read(message).status().message(),
              "message header: version is 2, expected 4; all ranks must run the same Gradcoll");
}

TEST(Frame, NamesTheFieldThatIsWrong) {
    const BadHeader bad[] = {{"magic", 0, 'X'}, {"version", 4, 9},   {"codec", 6, 200},
                             {"type", 7, 200},  {"type", 7, 4},      {"flags", 8, 2},
                             {"packing", 9, 1}, {"reserved", 10, 1}, {"reserved", 55, 1},
                             {"plain", 63, 1},  {"count", 23, 0x80}, {"payload", 24, 17}};
    for (const BadHeader& b : bad) {
        std::vector<std::byte> message = message_of(example());
        message[b.at] = static_cast<std::byte>(b.value);
        const Result<FrameHeader> got = read(message);
        ASSERT_FALSE(got.ok()) << b.field;
        EXPECT_NE(got.status().message().find(b.field), std::string::npos)
            << got.status().message();
    }
}

TEST(Frame, ShortMessagesAreRefused) {
    const std::vector<std::byte> message = message_of(example());
    for (std::size_t bytes = 0; bytes < message.size(); ++bytes)
        EXPECT_FALSE(read_frame_header(message.data(), bytes).ok()) << bytes;
}

TEST(Frame, ElementsWithoutBytesAndBytesWithoutElementsAreRefused) {
    FrameHeader no_bytes = example(), no_elements = example();
    no_bytes.payload_bytes = 0;
    no_elements.count_elems = 0;
    EXPECT_FALSE(read(message_of(no_bytes)).ok());
    EXPECT_FALSE(read(message_of(no_elements)).ok());
}

TEST(Frame, AReferenceSaysSoAndIsNothingElse) {
    std::vector<std::byte> message = message_of(example());
    EXPECT_FALSE(has_reference_flag(message.data(), message.size()).value());
    set_reference_flag(message.data(), true);
    EXPECT_TRUE(has_reference_flag(message.data(), message.size()).value());
    // Whoever does not ask for references refuses them.
    EXPECT_FALSE(read(message).ok());
    set_reference_flag(message.data(), false);
    EXPECT_EQ(message, message_of(example()));
    EXPECT_FALSE(has_reference_flag(message.data(), frame_header_bytes - 1).ok());
    message[0] = std::byte{'X'};
    EXPECT_FALSE(has_reference_flag(message.data(), message.size()).ok());
}

TEST(Frame, OnlyMessagesOfVariableRateHaveLengthsOfBlocks) {
    EXPECT_EQ(frame_front_bytes(CodecId::exact, 5000), 0U);
    EXPECT_EQ(frame_front_bytes(CodecId::nm_2_4, 5000), frame_header_bytes);
    EXPECT_EQ(counted_blocks(CodecId::nm_2_4, 5000), 0U);
}

TEST(Frame, AFailedSenderIsReportedAsPeerFailed) {
    FrameHeader failed = example();
    failed.sender_failed = true;
    EXPECT_EQ(check_frame(failed, example()).code(), Code::peer_failed);
    EXPECT_TRUE(check_frame(example(), example()).ok());
}

}  // namespace
}  // namespace gradcoll
