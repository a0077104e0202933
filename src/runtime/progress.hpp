// runtime/progress.hpp - how far an operation is, and what it has cost.
#pragma once

#include <cstdint>

namespace gradcoll {

enum class Progress : std::uint8_t { idle, advanced, complete };

/// RunStats says what operations cost, added up since the object was made.
struct RunStats {
    std::uint64_t messages_sent = 0;
    /// This counts bytes on the wire, frame headers included: what each message really had, where
    /// the plan knows only a bound.
    std::uint64_t bytes_sent = 0;
    /// This is what packing without loss saved; `bytes_sent` does not count it.
    std::uint64_t packed_away_bytes = 0;
    std::uint64_t sent_by_reference = 0;  ///< messages that went to a peer that reads our device
    std::uint64_t sent_from_device =
        0;  ///< messages that the MPI library sent as they lay on the device
    // These are measured only when ExecutorOptions::timed:
    std::uint64_t codec_ns = 0;  ///< time in encode, decode and decode_reduce, and for packing
    std::uint64_t wait_ns = 0;   ///< time in wait(), outside of local steps
    /// This says what NIC agents do of the plan's messages, or why nothing, as static text; it is
    /// null if the channel has none. It does not count.
    const char* agents = nullptr;
};

}  // namespace gradcoll
