// nic/transport/frame_detour.hpp - the other way of frames, where the agents are of no more use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nic/layout.hpp"

namespace gradcoll {

struct OutgoingFrame {
    std::uint64_t number = 0;
    std::size_t size_bytes = 0;
    NicNote note;
    NicCoding coding = NicCoding::none;
    bool has_echo = false;                     ///< its rank wants what decoding gives of it, too
    std::size_t run_count = 0;                 ///< more than there is room for: some are missing
    std::array<NicRun, most_nic_runs> runs{};  ///< where its elements are, if not in its slot

    /// Adds elements, behind those of earlier runs.
    void add_run(const std::byte* data, std::size_t run_bytes) {
        const auto address = reinterpret_cast<std::uintptr_t>(data);
        if (run_count < most_nic_runs) runs[run_count] = {address, run_bytes};
        ++run_count;
    }
    std::span<const NicRun> runs_of_elements() const { return {runs.data(), run_count}; }
};

/// ArrivedFrame is a frame for its receiver; one that is coded on its way is in its plain form.
struct ArrivedFrame {
    NicNote note;
    const std::byte* bytes = nullptr;
    std::size_t size_bytes = 0;
    NicCoding coding = NicCoding::none;
};

struct DetouredFrame {
    std::uint32_t peer = 0;
    std::uint64_t number = 0;
    NicNote note;
    NicCoding coding = NicCoding::none;
    std::vector<std::byte> bytes;
};

/// A FrameDetour carries frames whole and in order, as they are: what is coded stays so. Used by
/// one thread at a time.
class FrameDetour {
  public:
    virtual ~FrameDetour() = default;
    /// Sends a frame, whose bytes it copies. Errors: transport.
    virtual Status send(std::uint32_t peer, const OutgoingFrame& frame,
                        std::span<const std::byte> bytes) = 0;
    /// Returns how many frames were sent to the peer that it has not taken as far as is known here.
    virtual std::uint64_t under_way(std::uint32_t peer) const = 0;
    /// Takes the next frame of whichever peer; false if none has come. Lets sends go on. Errors:
    /// transport; corrupt for what is no frame.
    virtual Result<bool> receive(DetouredFrame& out) = 0;
};

}  // namespace gradcoll
