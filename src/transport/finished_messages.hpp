// transport/finished_messages.hpp - the messages of one lane: how it starts them, and those
// that have ended and were not reported yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "transport/channel.hpp"

namespace gradcoll {

/// FinishedMessages is filled by whichever lane's poll ends a message and emptied by its own
/// lane's; its address tells lanes apart. Thread safe only from outside: the traffic's lock is
/// held.
class FinishedMessages {
  public:
    explicit FinishedMessages(std::size_t capacity) { done_.reserve(capacity); }

    void add(Completion done) { done_.push_back(std::move(done)); }
    /// Moves the oldest ones to `out` and returns how many.
    std::size_t take(std::span<Completion> out) {
        const std::size_t count = std::min(out.size(), done_.size());
        if (count == 0) return 0;
        const auto end = done_.begin() + static_cast<std::ptrdiff_t>(count);
        std::move(done_.begin(), end, out.begin());
        done_.erase(done_.begin(), end);
        return count;
    }
    bool empty() const { return done_.empty(); }
    void forget() { done_.clear(); }

  private:
    std::vector<Completion> done_;
};

/// MessageRequest is a message as its lane starts it.
template <class Byte>
struct MessageRequest {
    FinishedMessages* lane = nullptr;
    Byte* data = nullptr;
    std::size_t size_bytes = 0;
    std::uint32_t cookie = 0;
    int peer = -1;
    int tag = -1;
    const Codec* codec =
        nullptr;  ///< codec of elements that are encoded on their way; null for bytes
    std::span<const ElementRun> runs = {};  ///< elements of such a send, in place of data
    const std::byte* addend = nullptr;      ///< as CodedRoom has it
    const Codec* exact = nullptr;
    bool past_caches = false;
};
using SendRequest = MessageRequest<const std::byte>;
using RecvRequest = MessageRequest<std::byte>;

}  // namespace gradcoll
