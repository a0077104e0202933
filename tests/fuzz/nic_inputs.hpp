// tests/fuzz/nic_inputs.hpp - what the made-up ranks, agents and processes of fuzz_nic share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "nic/agent/member.hpp"

namespace gradcoll {

using Random = std::mt19937_64;
using Bytes = std::vector<std::byte>;
/// There are so many ranks that slots are short, and a new group costs little. The first `here` are
/// on host 0, the others on host 1.
inline constexpr std::uint32_t fuzzed_ranks = 512;
inline std::vector<std::uint32_t> fuzzed_hosts(std::uint32_t here) {
    std::vector<std::uint32_t> host_of_rank(fuzzed_ranks, 1);
    for (std::uint32_t rank = 0; rank < here; ++rank) host_of_rank[rank] = 0;
    return host_of_rank;
}

struct Outcome {
    std::uint64_t inputs = 0, taken = 0;
};

inline void promise(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
}

/// Returns a small number, one at a limit, or any.
inline std::uint64_t number(Random& random) {
    switch (random() % 4) {
        case 0:
            return random();
        case 1:
            return std::uint64_t{1} << random() % 64;
        default:
            return random() % 12;
    }
}

inline NicShape fuzzed_shape() {
    return NicShape::of(fuzzed_ranks);
}

inline std::shared_ptr<NicMember> new_member(std::uint32_t rank,
                                             SharedRegion* ranks_own = nullptr) {
    Descriptor file;
    auto region = SharedRegion::make(fuzzed_shape(), file);
    promise(region.ok(), "memory");
    if (ranks_own != nullptr) *ranks_own = SharedRegion::map(fuzzed_shape(), file).value();
    return std::make_shared<NicMember>(rank, std::move(region).value());
}

/// Changes some bytes, or removes some.
inline void mutate(Bytes& bytes, Random& random, std::size_t header_bytes = 80) {
    if (bytes.empty()) return;
    for (std::uint64_t changes = random() % 4; changes > 0; --changes) {
        const std::size_t reach =
            random() % 2 == 0 ? std::min(bytes.size(), header_bytes) : bytes.size();
        bytes[random() % reach] = static_cast<std::byte>(random());
    }
    if (random() % 16 == 0) bytes.resize(random() % bytes.size());
}

}  // namespace gradcoll
