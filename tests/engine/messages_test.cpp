// Records of ranks and coordinator: what is written is read, and whatever else is refused.
#include "engine/messages.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace gradcoll {
namespace {

template <class Record>
std::string bytes_of(const Record& record) {
    ByteWriter writer;
    write(record, writer);
    return writer.take();
}

TEST(EngineMessages, AreReadAsTheyWereWritten) {
    const Ready ready{5, -3, 4096, 0x0123456789abcdefU, 3, "layer.0", "1024 elements", 6, "why"};
    const std::string bytes = bytes_of(ready);
    EXPECT_EQ(bytes.size(), 32U + 4 + 7 + 4 + 13 + 4 + 3);
    Ready back;
    ByteReader reader(bytes);
    ASSERT_TRUE(read(reader, back).ok());
    EXPECT_EQ(reader.size_left(), 0U);
    EXPECT_EQ(back.number, 5U);
    EXPECT_EQ(back.priority, -3);
    EXPECT_EQ(back.bytes, 4096U);
    EXPECT_EQ(back.shape, ready.shape);
    EXPECT_EQ(back.pack, 3U);
    EXPECT_EQ(back.name, "layer.0");
    EXPECT_EQ(back.shape_text, "1024 elements");
    EXPECT_EQ(back.rank, 6);
    EXPECT_EQ(back.error, "why");
}

TEST(EngineMessages, LongTextsAreCutSoThatARecordFitsAMessage) {
    const Verdict verdict{1, true, std::string(1000, 'n'), std::string(9000, 'e')};
    const std::string bytes = bytes_of(verdict);
    EXPECT_LE(bytes.size(), most_record_bytes);
    Verdict back;
    ByteReader reader(bytes);
    ASSERT_TRUE(read(reader, back).ok());
    EXPECT_TRUE(back.more);
    EXPECT_EQ(back.name.size(), most_name_bytes);
    EXPECT_EQ(back.error.size(), most_error_bytes);
}

TEST(EngineMessages, SayTheNumberAloneWhereTheRestIsKnown) {
    Ready said{5, -3, 4096, 7, 3, "", "", 6, ""};
    said.as_before = true;
    const std::string bytes = bytes_of(said);
    EXPECT_EQ(bytes.size(), 4U);
    Ready back{1, 2, 3, 4, 5, "name", "shape", 6, "error"};
    ByteReader reader(bytes);
    ASSERT_TRUE(read(reader, back).ok());
    EXPECT_TRUE(back.as_before);
    EXPECT_EQ(back.number, 5U);
    EXPECT_TRUE(back.name.empty() && back.shape_text.empty() && back.error.empty());
    for (const bool more : {false, true})
        for (const std::uint32_t number : {0U, 5U, 0x3ffffffeU, 0x3fffffffU, unnumbered}) {
            const std::string verdict = bytes_of(Verdict{number, more, "", ""});
            EXPECT_EQ(verdict.size(), number < 0x3fffffffU ? 4U : 13U);
            Verdict heard{9, !more, "name", "error", 0.5};
            ByteReader in(verdict);
            ASSERT_TRUE(read(in, heard).ok());
            EXPECT_EQ(heard.number, number);
            EXPECT_EQ(heard.more, more);
            EXPECT_TRUE(heard.name.empty() && heard.error.empty() && heard.links_carry == 0);
        }
}

TEST(EngineMessages, SayWhatLinksCarryOnlyWhereThatHasChanged) {
    const std::string as_before = bytes_of(Verdict{1, false, "", ""});
    EXPECT_EQ(as_before.size(), 4U);
    const std::string bytes = bytes_of(Verdict{1, true, "", "", 0.25});
    EXPECT_EQ(bytes.size(), 21U);
    Verdict back;
    ByteReader reader(bytes);
    ASSERT_TRUE(read(reader, back).ok());
    EXPECT_TRUE(back.more);
    EXPECT_EQ(back.links_carry, 0.25);
    ByteReader other(as_before);
    ASSERT_TRUE(read(other, back).ok());
    EXPECT_EQ(back.links_carry, 0);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        ByteReader part(std::string_view(bytes).substr(0, size));
        EXPECT_EQ(read(part, back).code(), Code::corrupt) << size;
    }
    for (const double wrong : {-1.0, 0.0, HUGE_VAL, std::nan("")}) {
        ByteWriter writer;
        writer.number(wrong);
        const std::string whole = bytes.substr(0, 13) + writer.take();
        ByteReader part(whole);
        EXPECT_EQ(read(part, back).code(), Code::corrupt) << wrong;
    }
}

TEST(EngineMessages, OfReadyGradientsAreCutLikewise) {
    Ready ready;
    ready.name = ready.shape_text = std::string(1000, 'n');
    ready.error = std::string(9000, 'e');
    const std::string bytes = bytes_of(ready);
    EXPECT_LE(bytes.size(), most_record_bytes);
    ByteReader reader(bytes);
    EXPECT_TRUE(read(reader, ready).ok());
}

TEST(EngineMessages, ThatEndTooEarlyAreCorrupt) {
    const std::string bytes = bytes_of(Ready{unnumbered, 0, 1, 2, 0, "name", "shape", 0, "error"});
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        Ready back;
        ByteReader reader(std::string_view(bytes).substr(0, size));
        EXPECT_EQ(read(reader, back).code(), Code::corrupt) << size;
    }
}

TEST(EngineMessages, OfRandomBytesNeverReadTooFar) {
    std::mt19937 random(3);
    for (int i = 0; i < 20'000; ++i) {
        std::string bytes(random() % 80, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? random() : 0);
        Ready ready;
        ByteReader first(bytes);
        while (first.size_left() > 0 && read(first, ready).ok())
            EXPECT_LE(ready.name.size(), most_name_bytes);
        Verdict verdict;
        ByteReader second(bytes);
        while (second.size_left() > 0 && read(second, verdict).ok())
            EXPECT_LE(verdict.error.size(), most_error_bytes);
    }
}

}  // namespace
}  // namespace gradcoll
