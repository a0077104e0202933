#include "nic/transport/nic_wires.hpp"

#include <fmt/format.h>

namespace gradcoll {

void NicWires::say(std::uint32_t peer, const NicNote& note) {
    words_[peer].push_back(note);
    send_words(peer);
}

bool NicWires::send_words(std::uint32_t peer) {
    std::deque<NicNote>& words = words_[peer];
    for (; !words.empty() && frames_.has_room(peer); words.pop_front())
        frames_.post(peer, words.front(), 0);
    return words.empty();
}

void NicWires::fail(std::uint32_t peer, const std::string& what) {
    if (fault_.ok()) fault_ = Status(Code::transport, fmt::format("rank {} {}", peer, what));
}

}  // namespace gradcoll
