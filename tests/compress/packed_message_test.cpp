// Messages packed without loss: what comes back, what is refused, and that nothing of a peer's is
// believed. GC_TEST_PACKED_FACTOR=100 unpacks 10^7 mutated messages.
#include "compress/lossless/packer.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "compress/codec.hpp"
#include "compress/frame.hpp"

namespace gradcoll {
namespace {

using Bytes = std::vector<std::byte>;

std::unique_ptr<Packer> packer_of(Packing packing) {
    Result<std::unique_ptr<Packer>> packer = make_packer(packing);
    if (!packer.ok()) throw std::runtime_error(packer.status().message());
    return std::move(packer).value();
}

/// Returns a message of int8 whose payload is this.
Bytes message_of(const Bytes& payload, std::uint64_t count_elems = 512) {
    Bytes message(frame_header_bytes + payload.size());
    write_frame_header({CodecId::int8, {}, ElementType::f32, false, count_elems, payload.size()},
                       message.data());
    std::copy(payload.begin(), payload.end(), message.begin() + frame_header_bytes);
    return message;
}

Bytes packed(const Bytes& message, Packer& packer) {
    Bytes out(message.size());
    out.resize(pack_message(message, packer, out.data()));
    return out;
}

struct Unpacked {
    Status status;
    Bytes message;
};

/// Unpacks in rooms of just that many bytes, so that a sanitizer sees every step beyond.
Unpacked unpacked(const Bytes& message, Packer& packer, std::size_t room_bytes) {
    const auto in = std::make_unique<std::byte[]>(message.size());
    std::copy(message.begin(), message.end(), in.get());
    const auto room = std::make_unique<std::byte[]>(room_bytes);
    const auto size = unpack_message({in.get(), message.size()}, packer, {room.get(), room_bytes});
    if (!size.ok()) return {size.status(), {}};
    return {{}, {room.get(), room.get() + *size}};
}

Bytes random_bytes(std::mt19937_64& draw, std::size_t count) {
    Bytes bytes(count);
    for (std::byte& b : bytes) b = static_cast<std::byte>(draw());
    return bytes;
}

/// Returns few different bytes, in runs.
Bytes plain_bytes(std::mt19937_64& draw, std::size_t count) {
    Bytes bytes;
    while (bytes.size() < count)
        bytes.insert(bytes.end(), 1 + draw() % 40, static_cast<std::byte>(draw() % 4));
    bytes.resize(count);
    return bytes;
}

/// Returns int8 of normal values, which such messages are made of.
Bytes quantized_bytes(std::mt19937_64& draw, std::size_t count) {
    std::normal_distribution<float> normal;
    std::vector<float> values(512 * (count / 528 + 1));
    for (float& value : values) value = normal(draw);
    const Codec codec = codec_for(CodecId::int8, ElementType::f32).value();
    Bytes bytes(bound_bytes(CodecId::int8, 4, values.size()));
    codec.encode(values.data(), values.size(), bytes.data());
    bytes.resize(count);
    return bytes;
}

class PackedMessage : public testing::TestWithParam<Packing> {
  protected:
    const std::unique_ptr<Packer> packer_ = packer_of(GetParam());
    std::mt19937_64 draw_{5};
};

TEST_P(PackedMessage, ComesBackAsItWas) {
    for (const auto make : {random_bytes, plain_bytes, quantized_bytes})
        for (const std::size_t count : {1, 20, 528, 5'000, 70'000, 400'000}) {
            const Bytes message = message_of(make(draw_, count));
            const Bytes packed_form = packed(message, *packer_);
            EXPECT_LT(packed_form.size(), message.size());
            const Bytes& sent = packed_form.empty() ? message : packed_form;
            const Unpacked got = unpacked(sent, *packer_, message.size());
            ASSERT_TRUE(got.status.ok()) << got.status.message();
            EXPECT_EQ(got.message, message) << count;
        }
}

TEST_P(PackedMessage, IsShorterWhereBytesRepeatAndNotThereWhereTheyDoNot) {
    EXPECT_TRUE(packed(message_of(random_bytes(draw_, 10'000)), *packer_).empty());
    EXPECT_TRUE(packed(message_of({}, 0), *packer_).empty());
    const Bytes zeros = message_of(Bytes(10'000));
    EXPECT_LT(packed(zeros, *packer_).size(), frame_header_bytes + 100);
}

/// Behind what was packed nothing is written, and nothing is longer than the message.
TEST_P(PackedMessage, StaysInItsRoom) {
    for (const auto make : {random_bytes, plain_bytes, quantized_bytes})
        for (std::size_t count = 1; count < 600; ++count) {
            const Bytes message = message_of(make(draw_, count));
            Bytes out(message.size() + 64, std::byte{0xa5});
            const std::size_t size = pack_message(message, *packer_, out.data());
            ASSERT_LT(size, message.size());
            for (std::size_t i = message.size(); i < out.size(); ++i)
                ASSERT_EQ(out[i], std::byte{0xa5}) << count;
        }
}

TEST_P(PackedMessage, ThatWasNotPackedPasses) {
    const Bytes message = message_of(plain_bytes(draw_, 300));
    const Unpacked got = unpacked(message, *packer_, message.size() + 100);
    EXPECT_EQ(got.message, message) << got.status.message();
}

TEST_P(PackedMessage, LongerThanItsRoomIsRefusedBeforeItIsUnpacked) {
    const Bytes message = message_of(Bytes(5'000));
    const Bytes sent = packed(message, *packer_);
    for (const std::size_t room : {std::size_t{0}, std::size_t{63}, message.size() - 1}) {
        const Unpacked got = unpacked(sent, *packer_, room);
        EXPECT_EQ(got.status.code(), Code::corrupt);
        EXPECT_EQ(got.status.message().find("message header: plain payload bytes is 5000"), 0U)
            << got.status.message();
    }
}

TEST_P(PackedMessage, ByAnotherPackingIsRefusedWithBothNames) {
    const bool is_zstd = GetParam() == Packing::zstd;
    const auto other = packer_of(is_zstd ? Packing::lz4 : Packing::zstd);
    const Bytes message = message_of(Bytes(5'000));
    EXPECT_EQ(unpacked(packed(message, *other), *packer_, message.size()).status.message(),
              is_zstd ? "message header: packing is lz4, expected zstd"
                      : "message header: packing is zstd, expected lz4");
}

TEST_P(PackedMessage, FieldsThatCannotBeAreRefusedAndNamed) {
    struct Bad {
        std::size_t at;
        unsigned char value;
        const char* said;
    };
    const Bytes message = message_of(Bytes(5'000)), good = packed(message, *packer_);
    for (const Bad& bad : {Bad{0, 'X', "magic"}, Bad{4, 1, "version"}, Bad{9, 3, "packing is 3"},
                           Bad{10, 1, "reserved"}, Bad{24, 1, "payload bytes is"},
                           Bad{52, 1, "reserved"}, Bad{63, 1, "plain payload bytes is"}}) {
        Bytes spoiled = good;
        spoiled[bad.at] = static_cast<std::byte>(bad.value);
        const Unpacked got = unpacked(spoiled, *packer_, message.size());
        EXPECT_EQ(got.status.code(), Code::corrupt) << bad.said;
        EXPECT_NE(got.status.message().find(bad.said), std::string::npos) << got.status.message();
    }
    Bytes no_shorter = good;
    std::copy_n(good.begin() + 24, 8, no_shorter.begin() + 56);
    EXPECT_NE(unpacked(no_shorter, *packer_, message.size()).status.message().find("more than"),
              std::string::npos);
    Bytes cut = good;
    cut.pop_back();
    EXPECT_FALSE(unpacked(cut, *packer_, message.size()).status.ok());
    EXPECT_FALSE(unpacked(Bytes(10), *packer_, message.size()).status.ok());
}

/// Whoever does not unpack refuses it.
TEST_P(PackedMessage, IsNoMessageToOthers) {
    const Bytes sent = packed(message_of(Bytes(5'000)), *packer_);
    const auto read = read_frame_header(sent.data(), sent.size());
    EXPECT_EQ(read.status().code(), Code::corrupt);
    EXPECT_EQ(read.status().message().find("message header: packing is "), 0U)
        << read.status().message();
}

long factor() {
    const char* text = std::getenv("GC_TEST_PACKED_FACTOR");
    return text != nullptr ? std::strtol(text, nullptr, 10) : 1;
}

Bytes mutated(const Bytes& good, std::mt19937_64& draw) {
    Bytes bytes = good;
    switch (draw() % 8) {
        case 0:  // another length, the header says so or not
            bytes.resize(frame_header_bytes + draw() % (good.size() + 50));
            if (draw() % 2 == 0) {
                const std::uint64_t size = bytes.size() - frame_header_bytes;
                std::memcpy(bytes.data() + 24, &size, sizeof size);
            }
            break;
        case 1: {  // another length of what is packed
            const std::uint64_t size = draw() % 3 == 0 ? draw() : draw() % 3000;
            std::memcpy(bytes.data() + 56, &size, sizeof size);
            break;
        }
        case 2:
            for (std::size_t i = frame_header_bytes; i < bytes.size(); ++i)
                bytes[i] = static_cast<std::byte>(draw());
            break;
        case 3:  // what begins the packed bytes says how long they are
            bytes[frame_header_bytes + draw() % 16 % (bytes.size() - frame_header_bytes)] =
                static_cast<std::byte>(draw());
            break;
        default:
            for (std::size_t i = 0; i <= draw() % 4; ++i)
                bytes[draw() % bytes.size()] ^= static_cast<std::byte>(1U << draw() % 8);
    }
    return bytes;
}

TEST_P(PackedMessage, MutatedIsRefusedOrAsLongAsItSays) {
    std::vector<Bytes> messages;
    for (const std::size_t count : {100, 528, 2'000}) {
        messages.push_back(message_of(plain_bytes(draw_, count)));
        messages.push_back(message_of(quantized_bytes(draw_, count)));
    }
    long refused = 0;
    const long rounds = 50'000 * factor();
    for (long round = 0; round < rounds; ++round) {
        const Bytes& message = messages[static_cast<std::size_t>(round) % messages.size()];
        const Bytes sent = packed(message, *packer_);
        const Unpacked got =
            unpacked(mutated(sent.empty() ? message : sent, draw_), *packer_, message.size());
        if (!got.status.ok()) {
            ASSERT_EQ(got.status.code(), Code::corrupt);
            ++refused;
        } else {
            ASSERT_LE(got.message.size(), message.size());
        }
    }
    EXPECT_GT(refused, rounds / 20);
    // The packer is as good as before.
    EXPECT_EQ(unpacked(packed(messages[0], *packer_), *packer_, messages[0].size()).message,
              messages[0]);
}

TEST_P(PackedMessage, OfAnyLengthTakesNoMemory) {
    const Bytes payload = quantized_bytes(draw_, 600'000);
    std::vector<Bytes> messages;
    for (const std::size_t count : {600'000, 100, 5'000, 300'000})
        messages.push_back(
            message_of({payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(count)}));
    Bytes out(messages[0].size()), back(messages[0].size());
    const auto before = mallinfo2();
    for (int round = 0; round < 300; ++round)  // many short ones between two long ones
        for (const Bytes& message : messages) {
            if (round % 299 != 0 && message.size() > 10'000) continue;
            const std::size_t size = pack_message(message, *packer_, out.data());
            const bool is_back =
                size == 0 || unpack_message({out.data(), size}, *packer_, back).ok();
            ASSERT_TRUE(is_back);
            const auto now = mallinfo2();
            ASSERT_EQ(now.uordblks, before.uordblks);
            ASSERT_EQ(now.hblks, before.hblks);
        }
}

INSTANTIATE_TEST_SUITE_P(Every, PackedMessage, testing::Values(Packing::zstd, Packing::lz4),
                         [](const auto& of) { return std::string(name_of(of.param)); });

/// The bytes are those of compress/lossless/README.md.
TEST(PackedMessageFormat, IsWhatTheReadmeShows) {
    const unsigned char expected[] = {
        'G', 'C', 'F', '1', 4, 0, 8, 2, 0, 2, 0, 0, 0, 0, 0, 0,  // packed by lz4
        0, 2, 0, 0, 0, 0, 0, 0,                                  // 512 elements
        12, 0, 0, 0, 0, 0, 0, 0,                                 // packed bytes
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 2, 0, 0, 0, 0,
        0, 0,  // 528 bytes of payload
        // One 0, then 522 more copied from a byte before, then five as they are.
        0x1f, 0, 1, 0, 0xff, 0xf8, 0x50, 0, 0, 0, 0, 0};
    const auto packer = packer_of(Packing::lz4);
    const Bytes message = message_of(Bytes(528));
    const Bytes sent = packed(message, *packer);
    ASSERT_EQ(sent.size(), sizeof expected);
    EXPECT_EQ(std::memcmp(sent.data(), expected, sizeof expected), 0);
    EXPECT_EQ(unpacked(sent, *packer, message.size()).message, message);
}

TEST(PackedMessageFormat, OtherVersionsOfLibzstdGiveFramesThatAreTaken) {
    // zstd 1.5.4, level 1, of 528 zeros.
    const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x60, 0x10, 0x01, 0x4d, 0x00, 0x00,
                                   0x10, 0x00, 0x00, 0x01, 0x00, 0x0b, 0x2a, 0x80, 0x05};
    const auto packer = packer_of(Packing::zstd);
    Bytes plain(528, std::byte{1});
    EXPECT_TRUE(packer->unpack(std::as_bytes(std::span(frame)), plain));
    EXPECT_EQ(plain, Bytes(528));
}

}  // namespace
}  // namespace gradcoll
