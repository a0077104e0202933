// transport/channel.cpp - the errors that every channel reports alike.
#include "transport/channel.hpp"

#include <fmt/format.h>

namespace gradcoll {
namespace {

Status encodes_nothing(int peer) {
    return {Code::internal, fmt::format("lane: the way to rank {} does not encode", peer)};
}

}  // namespace

Capabilities Channel::capabilities(int /*peer*/) const {
    return {};
}

void Lane::cut_messages(std::vector<int> /*peers*/, CutEnd /*end*/) {}

bool Lane::rest(std::chrono::microseconds /*longest*/) {
    return false;
}

Status Lane::start_short_send(int peer, int tag, const void* data, std::size_t size_bytes,
                              std::size_t /*whole_bytes*/, std::uint32_t cookie) {
    return start_send(peer, tag, data, size_bytes, cookie);
}

Status Lane::start_coded_send(int peer, int /*tag*/, std::span<const ElementRun> /*runs*/,
                              const Codec& /*codec*/, std::uint32_t /*cookie*/) {
    return encodes_nothing(peer);
}

Status Lane::start_coded_recv(int peer, int /*tag*/, const CodedRoom& /*room*/,
                              const Codec& /*codec*/, std::uint32_t /*cookie*/) {
    return encodes_nothing(peer);
}

Status check_envelope(const Channel& channel, int peer, int tag) {
    if (peer < 0 || peer >= channel.rank_count())
        return Status(Code::invalid_argument,
                      fmt::format("peer: {} is not a rank; allowed are 0 to {}", peer,
                                  channel.rank_count() - 1));
    if (tag < 0 || tag > channel.tag_limit())
        return Status(
            Code::invalid_argument,
            fmt::format("tag: {} is out of range; allowed are 0 to {}", tag, channel.tag_limit()));
    return {};
}

Status too_long(int peer, int tag, std::size_t asked_bytes, std::size_t arrived_bytes) {
    const std::string arrived =
        arrived_bytes > asked_bytes ? fmt::format("{} bytes", arrived_bytes) : "more bytes";
    return Status(
        Code::corrupt,
        fmt::format("message from rank {} with tag {}: {} arrived where {} bytes were expected",
                    peer, tag, arrived, asked_bytes));
}

Status lane_full(std::size_t capacity) {
    return Status(Code::internal,
                  fmt::format("lane: {} messages are in flight already, its capacity", capacity));
}

}  // namespace gradcoll
