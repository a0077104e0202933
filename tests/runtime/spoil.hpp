// Messages that are broken on their way.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "compress/frame.hpp"
#include "support/loopback.hpp"

namespace gradcoll {

using Spoil = std::size_t (*)(std::span<std::byte> message);

/// Spoils the first message from one rank to another.
inline LoopbackOptions spoil_once(int source, int destination, Spoil spoil) {
    LoopbackOptions options;
    const auto done = std::make_shared<std::atomic<bool>>(false);
    options.tamper = [=](const LoopbackEnvelope& envelope, std::span<std::byte> bytes) {
        const bool hit = envelope.source == source && envelope.destination == destination;
        // Acknowledgements say nothing that could be spoiled.
        return hit && bytes.size() > 1 && !done->exchange(true) ? spoil(bytes) : bytes.size();
    };
    return options;
}

inline std::size_t break_magic(std::span<std::byte> message) {
    message[0] ^= std::byte{0xff};
    return message.size();
}
inline std::size_t cut(std::span<std::byte> message) {
    return message.size() - 1;
}
/// Keeps three of every four, which no mask of 2:4 does; and it is no reference.
inline std::size_t fill_payload(std::span<std::byte> message) {
    for (std::byte& byte : message.subspan(frame_header_bytes)) byte = std::byte{0x77};
    return message.size();
}

}  // namespace gradcoll
