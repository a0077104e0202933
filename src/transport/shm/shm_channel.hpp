// transport/shm/shm_channel.hpp - bytes between ranks that share memory;
// src/transport/shm/README.md has the protocol.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "transport/channel.hpp"
#include "transport/shm/peer_memory.hpp"
#include "transport/shm/traffic.hpp"

namespace gradcoll {

/// Where GC_TRANSPORTS does not allow it, the library shares no memory for other purposes either.
inline constexpr std::string_view shm_transport_name = "shm";

/// Where the ranks meet: zeros at first, one part of `bytes_a_rank` for each rank, in rank order.
/// How the memory came to be shared does not matter. Not owned.
struct ShmPlace {
    std::byte* memory = nullptr;  ///< aligned to a page
    std::size_t bytes_a_rank = 0;
    int rank = 0;
    int rank_count = 1;
};

/// Lanes of several threads at a time are allowed. abandon() takes announced messages back: their
/// receivers get a transport error, or nothing if they had not met them. A message that left in
/// cells arrives nevertheless. Wrong words of a peer end the whole channel with an error that names
/// the peer.
class ShmChannel final : public Channel {
  public:
    /// `rank_names`: what messages call the ranks (empty: by their numbers here). Errors:
    /// invalid_argument for a place that is too small.
    static Result<std::unique_ptr<ShmChannel>> make(const ShmPlace& place,
                                                    std::vector<int> rank_names = {},
                                                    PeerMemory memory = {});

    int rank() const override { return place_.rank; }
    int rank_count() const override { return place_.rank_count; }
    int tag_limit() const override { return 0x7fffffff; }
    std::unique_ptr<Lane> open_lane(std::size_t capacity) override;

  private:
    ShmChannel(const ShmPlace& place, const ShmLayout& layout, const std::vector<int>& rank_names,
               PeerMemory memory);

    ShmPlace place_;
    ShmTraffic traffic_;
};

}  // namespace gradcoll
