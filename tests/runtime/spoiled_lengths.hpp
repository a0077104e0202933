// Messages of variable rate whose lengths are not those of their blocks: what a peer may send.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>

#include "compress/block_lengths.hpp"
#include "compress/frame.hpp"
#include "support/loopback.hpp"

namespace gradcoll {

using Change = std::size_t (*)(std::span<std::byte> message);

inline std::byte* entry_of(std::span<std::byte> message, std::size_t block) {
    return message.data() + frame_header_bytes + block * block_length_bytes;
}
inline void put_length(std::span<std::byte> message, std::size_t block, std::size_t size) {
    BlockLengthsWriter(entry_of(message, block)).add_encoded(size);
}
inline void add_to_length(std::span<std::byte> message, std::size_t block, int by) {
    put_length(message, block,
               read_block_entry(entry_of(message, block)).value + static_cast<std::size_t>(by));
}
inline void put_plain_run(std::span<std::byte> message, std::size_t block, std::size_t run) {
    put_length(message, block, 0x80000000 + run);
}

struct SpoiledLength {
    const char* what;
    Change change;
};
inline const SpoiledLength spoiled_lengths[] = {
    {"a longer block",
     [](std::span<std::byte> message) {
         add_to_length(message, 0, 1);
         return message.size();
     }},
    {"a shorter block",
     [](std::span<std::byte> message) {
         add_to_length(message, 0, -1);
         return message.size();
     }},
    {"a block of two gigabytes",
     [](std::span<std::byte> message) {
         put_length(message, 0, 0x7fffffff);
         return message.size();
     }},
    {"no plain blocks",
     [](std::span<std::byte> message) {
         put_plain_run(message, 1, 0);
         return message.size();
     }},
    {"a plain block that is none",
     [](std::span<std::byte> message) {
         put_plain_run(message, 0, 1);
         return message.size();
     }},
    {"more plain blocks than it has",
     [](std::span<std::byte> message) {
         put_plain_run(message, 0, 0x7fffffff);
         return message.size();
     }},
    {"two blocks whose sum is right",
     [](std::span<std::byte> message) {
         add_to_length(message, 0, 3);
         add_to_length(message, 1, -3);
         return message.size();
     }},
    {"a block of another, beyond its bound",
     [](std::span<std::byte> message) {
         add_to_length(message, 0, 2000);
         add_to_length(message, 1, -2000);
         return message.size();
     }},
    {"a message that was cut", [](std::span<std::byte> message) { return message.size() - 1; }},
    {"a message that was cut in its lengths, and says so",
     [](std::span<std::byte> message) {
         message[24] = std::byte{5};
         std::fill(message.begin() + 25, message.begin() + 32, std::byte{0});
         return frame_header_bytes + 5;
     }},
    {"a header without a payload",
     [](std::span<std::byte> message) {
         std::fill(message.begin() + 24, message.begin() + 32, std::byte{0});
         return frame_header_bytes;
     }},
    {"the header of plain elements",
     [](std::span<std::byte> message) {
         message[8] = std::byte{0};
         return message.size();
     }},
    {"a reference",
     [](std::span<std::byte> message) {
         set_reference_flag(message.data(), true);
         return message.size();
     }},
};

/// Changes the message number `number` of those from one rank to another, in the first operation.
inline LoopbackOptions spoil(int source, int destination, int number, Change change) {
    LoopbackOptions options;
    const auto seen = std::make_shared<std::atomic<int>>(0);
    options.tamper = [=](const LoopbackEnvelope& envelope, std::span<std::byte> bytes) {
        const bool meant = envelope.source == source && envelope.destination == destination;
        return meant && seen->fetch_add(1) == number ? change(bytes) : bytes.size();
    };
    return options;
}

}  // namespace gradcoll
