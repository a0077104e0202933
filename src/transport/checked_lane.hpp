// transport/checked_lane.hpp - a lane whose receivers know whether what came is what was sent.
#pragma once

#include <cstddef>
#include <memory>

#include "transport/channel.hpp"

namespace gradcoll {

/// Makes a lane of another one, which has room for twice as many messages. Behind each message goes
/// a seal of 8 bytes: its checksum as it was when it was started, and its length. Whoever receives
/// both says whether they fit (Completion::is_damaged). A seal has the tag of its message plus
/// `seal_shift`: tags below that are for messages. Both ends of a message do so, or neither. Memory
/// of devices has no checksums, and nothing is encoded on the way.
std::unique_ptr<Lane> make_checked_lane(std::unique_ptr<Lane> lane, std::size_t capacity,
                                        int seal_shift);

}  // namespace gradcoll
