#include "traffic.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace gradcoll::fifo {
namespace {

constexpr std::size_t scratch_bytes = std::size_t{64} << 10;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;
/// One poll reads a pipe at most this often, since it must not keep its caller.
constexpr int reads_a_poll = 32;

bool would_block() {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

Traffic::Traffic(Pipes pipes, std::vector<int> names)
    : pipes_(std::move(pipes)),
      names_(std::move(names)),
      sends_(names_.size()),
      incoming_(names_.size()),
      scratch_(scratch_bytes) {}

void Traffic::lane_opened(std::size_t capacity) {
    const std::scoped_lock lock(mutex_);
    capacity_ += capacity;
    receives_.reserve(capacity_);
    for (auto& sends : sends_) sends.reserve(capacity_);
}

void Traffic::lane_closed(Finished& lane, std::size_t capacity) {
    abandon(lane);
    const std::scoped_lock lock(mutex_);
    capacity_ -= capacity;
}

Status Traffic::start_send(int peer, Send send) {
    const std::scoped_lock lock(mutex_);
    GRADCOLL_TRY(broken_);
    ++send.lane->started;
    sends_[static_cast<std::size_t>(peer)].push_back(std::move(send));
    return {};
}

Status Traffic::start_recv(const Receive& receive) {
    const std::scoped_lock lock(mutex_);
    GRADCOLL_TRY(broken_);
    ++receive.lane->started;
    const auto early = std::find_if(early_.begin(), early_.end(), [&](const Early& e) {
        return e.peer == receive.peer && e.tag == receive.tag;
    });
    if (early == early_.end()) {
        receives_.push_back(receive);
    } else {
        deliver(receive, early->bytes);
        early_.erase(early);
    }
    return {};
}

Result<std::size_t> Traffic::poll(Finished& lane, std::span<Completion> out) {
    const std::scoped_lock lock(mutex_);
    if (lane.started == 0) return std::size_t{0};
    if (broken_.ok()) broken_ = move_all();
    GRADCOLL_TRY(broken_);
    const std::size_t count = std::min(out.size(), lane.done.size());
    const auto end = lane.done.begin() + static_cast<std::ptrdiff_t>(count);
    std::move(lane.done.begin(), end, out.begin());
    lane.done.erase(lane.done.begin(), end);
    lane.started -= count;
    return count;
}

std::size_t Traffic::in_flight(const Finished& lane) {
    const std::scoped_lock lock(mutex_);
    return lane.started;
}

/// Abandons a lane's messages. One whose first bytes have left arrives whole: otherwise the pipe
/// would be unusable.
void Traffic::abandon(Finished& lane) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(receives_, [&](const Receive& receive) { return receive.lane == &lane; });
    for (Incoming& in : incoming_)
        if (in.receive && in.receive->lane == &lane) {
            in.receive.reset();
            in.dropped = true;
        }
    for (auto& sends : sends_) {
        std::erase_if(sends, [&](const Send& s) { return s.lane == &lane && s.written == 0; });
        for (Send& send : sends) {
            if (send.lane != &lane) continue;
            send.lane = nullptr;
            send.kept.assign(send.data, send.data + send.header.size_bytes);
            send.data = send.kept.data();
        }
    }
    lane.done.clear();
    lane.started = 0;
}

Status Traffic::move_all() {
    for (int peer = 0; peer < static_cast<int>(names_.size()); ++peer) {
        GRADCOLL_TRY(write_to(peer));
        GRADCOLL_TRY(read_from(peer));
    }
    return {};
}

Status Traffic::write_to(int peer) {
    auto& sends = sends_[static_cast<std::size_t>(peer)];
    const int pipe = pipes_.to[static_cast<std::size_t>(peer)].descriptor();
    while (!sends.empty()) {
        Send& send = sends.front();
        const bool in_header = send.written < sizeof send.header;
        const std::byte* from =
            in_header ? reinterpret_cast<const std::byte*>(&send.header) + send.written
                      : send.data + (send.written - sizeof send.header);
        const std::size_t end = sizeof send.header + (in_header ? 0 : send.header.size_bytes);
        if (send.written < end) {
            const ssize_t count = write(pipe, from, end - send.written);
            if (count < 0) return would_block() ? Status() : failed("write", peer);
            send.written += static_cast<std::size_t>(count);
        }
        if (send.written < sizeof send.header + send.header.size_bytes) continue;
        if (send.lane != nullptr) send.lane->done.push_back({send.cookie, 0, {}});
        sends.erase(sends.begin());
    }
    return {};
}

Status Traffic::read_from(int peer) {
    for (int reads = 0; reads < reads_a_poll; ++reads) {
        const bool in_data = incoming_[static_cast<std::size_t>(peer)].has_header();
        const auto more = in_data ? read_data(peer) : read_header(peer);
        if (!more.ok()) return more.status();
        if (!*more) return {};
    }
    return {};
}

/// Returns 0 if there is nothing now.
Result<std::size_t> Traffic::read_some(int peer, void* to, std::size_t size_bytes) {
    const ssize_t count =
        read(pipes_.from[static_cast<std::size_t>(peer)].descriptor(), to, size_bytes);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (would_block()) return std::size_t{0};
    return failed("read", peer);
}

/// Returns true if there may be more to read. Nothing of the header is used before it is checked.
Result<bool> Traffic::read_header(int peer) {
    Incoming& in = incoming_[static_cast<std::size_t>(peer)];
    auto* to = reinterpret_cast<std::byte*>(&in.header) + in.header_read;
    const auto count = GRADCOLL_VALUE(read_some(peer, to, sizeof in.header - in.header_read));
    in.header_read += count;
    if (count == 0 || !in.has_header()) return count > 0;
    if (in.header.mark != Header::right_mark || in.header.tag < 0 ||
        in.header.size_bytes > most_bytes)
        return Status(Code::transport,
                      fmt::format("rank {} sent no message through its pipe: mark {:#x}, tag {}, "
                                  "{} bytes",
                                  names_[static_cast<std::size_t>(peer)], in.header.mark,
                                  in.header.tag, in.header.size_bytes));
    begin_message(peer);
    return true;
}

void Traffic::begin_message(int peer) {
    Incoming& in = incoming_[static_cast<std::size_t>(peer)];
    in.data_read = 0;
    in.dropped = false;
    in.early.clear();
    in.receive = take_receive(peer, in.header.tag);
    if (in.receive && in.receive->size_bytes < in.header.size_bytes) {
        in.receive->lane->done.push_back(
            {in.receive->cookie, 0, too_long_for(*in.receive, in.header.size_bytes)});
        in.receive.reset();
        in.dropped = true;
    }
    if (in.header.size_bytes == 0) end_message(peer);
}

/// Returns true if there may be more to read. Memory for early bytes grows only with the bytes that
/// arrive.
Result<bool> Traffic::read_data(int peer) {
    Incoming& in = incoming_[static_cast<std::size_t>(peer)];
    const std::size_t left = in.header.size_bytes - in.data_read;
    void* to = in.receive ? in.receive->data + in.data_read : scratch_.data();
    const std::size_t room = in.receive ? left : std::min(left, scratch_.size());
    const auto count = GRADCOLL_VALUE(read_some(peer, to, room));
    if (!in.receive && !in.dropped)
        in.early.insert(in.early.end(), scratch_.data(), scratch_.data() + count);
    in.data_read += count;
    if (in.data_read == in.header.size_bytes) end_message(peer);
    return count > 0;
}

void Traffic::end_message(int peer) {
    Incoming& in = incoming_[static_cast<std::size_t>(peer)];
    in.header_read = 0;
    if (in.receive) {
        in.receive->lane->done.push_back({in.receive->cookie, in.header.size_bytes, {}});
    } else if (!in.dropped) {
        // The receive may have been posted while the bytes arrived.
        if (const auto receive = take_receive(peer, in.header.tag))
            deliver(*receive, in.early);
        else
            early_.push_back({peer, in.header.tag, std::move(in.early)});
    }
    in.receive.reset();
}

std::optional<Traffic::Receive> Traffic::take_receive(int peer, std::int32_t tag) {
    const auto found = std::find_if(receives_.begin(), receives_.end(), [&](const Receive& r) {
        return r.peer == peer && r.tag == tag;
    });
    if (found == receives_.end()) return {};
    const Receive receive = *found;
    receives_.erase(found);
    return receive;
}

void Traffic::deliver(const Receive& receive, const std::vector<std::byte>& bytes) {
    const bool fits = bytes.size() <= receive.size_bytes;
    if (fits && !bytes.empty()) std::memcpy(receive.data, bytes.data(), bytes.size());
    receive.lane->done.push_back({receive.cookie, fits ? bytes.size() : 0,
                                  fits ? Status() : too_long_for(receive, bytes.size())});
}

Status Traffic::too_long_for(const Receive& receive, std::size_t arrived_bytes) const {
    return too_long(names_[static_cast<std::size_t>(receive.peer)], receive.tag, receive.size_bytes,
                    arrived_bytes);
}

Status Traffic::failed(const char* what, int peer) const {
    return {Code::transport,
            fmt::format("pipe between this rank and rank {}: {}: {}",
                        names_[static_cast<std::size_t>(peer)], what, std::strerror(errno))};
}

}  // namespace gradcoll::fifo
