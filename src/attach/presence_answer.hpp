// attach/presence_answer.hpp - what a process says of itself in the presence check: all that
// decides where calls of an unchanged program go.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "comm/agreement.hpp"

namespace gradcoll {

struct PresenceAnswer {
    std::vector<Claim> claims;  ///< number and order are the same on all ranks
    std::string text;           ///< the claims that differ from their defaults: "name: text\n"
    std::uint64_t hash = 0;     ///< hash of all claims
};

/// Returns the answer of this process, whose GC_ENABLE is `enabled`.
PresenceAnswer presence_answer(bool enabled);

/// Returns what differs between the texts of two ranks, as a message for people.
std::string difference_of(int rank, std::string_view text, int other_rank,
                          std::string_view other_text);

}  // namespace gradcoll
