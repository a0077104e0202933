// tests/fuzz/nic_rank_input.hpp - what the agent of its host may send to a rank: random entries,
// slots and counters in the memory that they share.
#pragma once

#include <array>
#include <filesystem>
#include <string>

#include "compress/codec.hpp"
#include "fuzz/nic_inputs.hpp"
#include "nic/directory.hpp"
#include "nic/transport/nic_traffic.hpp"

namespace gradcoll {

/// FuzzedAgent has the memory of rank 0, as its agent has it.
class FuzzedAgent {
  public:
    FuzzedAgent();
    ~FuzzedAgent();
    FuzzedAgent(const FuzzedAgent&) = delete;
    FuzzedAgent& operator=(const FuzzedAgent&) = delete;

    /// Connects a rank, which gets another memory.
    AgentConnection meet();
    const NicLayout& layout() const { return region_.layout(); }
    /// Writes an entry, and bytes in its slot; mostly the next one of `peer`.
    void bring(Random& random, std::uint32_t peer, const NicNote& note, const Bytes& bytes,
               NicCoding coding);
    /// Writes counters that say how far frames are.
    void tell(Random& random, std::uint32_t peer);
    /// Reads what the rank has written since; returns how many frames.
    std::uint64_t read_entries();

  private:
    void answer();

    std::string directory_;
    NicDoor door_;
    Descriptor rank_;  ///< the connection
    Descriptor event_;
    SharedRegion region_;
    NicRingWriter arrivals_;
    NicRingReader entries_;
    std::array<std::uint64_t, fuzzed_ranks> brought_{};
    std::array<std::uint64_t, fuzzed_ranks> posted_{};
};

/// A ToRankInput is a rank with some messages under way.
class ToRankInput {
  public:
    ToRankInput();
    void run(Random& random, Outcome& outcome);

  private:
    void renew();
    void start(Random& random);

    struct Message {
        bool is_under_way = false;
        bool is_receive = false;
        std::unique_ptr<std::byte[]> bytes;
        std::size_t size_bytes = 0;
    };
    Codec codec_;
    FuzzedAgent agent_;
    std::unique_ptr<NicTraffic> traffic_;
    FinishedMessages finished_{8};
    std::array<Message, 8> messages_;
};

/// A ToSumsOfRankInput is a rank whose vector the agent adds.
class ToSumsOfRankInput {
  public:
    ToSumsOfRankInput();
    void run(Random& random, Outcome& outcome);

  private:
    void renew();
    void begin(Random& random);

    Codec codec_;
    FuzzedAgent agent_;
    std::unique_ptr<FrameDetour> detour_;
    std::unique_ptr<FramePipe> frames_;
    std::unique_ptr<NicSums> sums_;
    std::unique_ptr<std::byte[]> vector_;
    SumRequest request_;
};

}  // namespace gradcoll
