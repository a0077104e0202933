#include "engine/negotiation.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"

namespace gradcoll {
namespace {

constexpr int ready_tag = 0;
constexpr int verdict_tag = 1;
constexpr std::uint32_t is_send = 0xffffffffU;  ///< cookie; of a receive it is the peer

std::string_view as_text(const std::byte* bytes, std::size_t size) {
    return {reinterpret_cast<const char*>(bytes), size};
}

/// Behind the last message that waits, or as a new one.
template <class Record>
void put(std::deque<std::string>& waiting, const Record& record) {
    ByteWriter writer;
    write(record, writer);
    std::string bytes = writer.take();
    if (!waiting.empty() && waiting.back().size() + bytes.size() <= control_message_bytes)
        waiting.back() += bytes;
    else
        waiting.push_back(std::move(bytes));
}

/// To and from each rank.
std::size_t most_messages(const Channel& channel) {
    return 2 * static_cast<std::size_t>(channel.rank_count());
}

}  // namespace

Negotiation::Negotiation(Channel& channel, std::uint64_t most_pack_bytes)
    : rank_(channel.rank()),
      rank_count_(channel.rank_count()),
      lane_(channel.open_lane(most_messages(channel))),
      coordinator_(channel.rank_count(), most_pack_bytes),
      received_(control_message_bytes *
                static_cast<std::size_t>(channel.rank() == 0 ? channel.rank_count() : 1)),
      completions_(most_messages(channel)) {}

Negotiation::~Negotiation() {
    lane_->abandon();
}

Result<std::unique_ptr<Negotiation>> Negotiation::make(Channel& channel,
                                                       std::uint64_t most_pack_bytes) {
    std::unique_ptr<Negotiation> made(new Negotiation(channel, most_pack_bytes));
    if (!made->coordinates()) GRADCOLL_TRY(made->listen_to(0));
    for (int peer = 1; made->coordinates() && peer < made->rank_count_; ++peer)
        GRADCOLL_TRY(made->listen_to(peer));
    return made;
}

Status Negotiation::listen_to(int peer) {
    return lane_->start_recv(peer, coordinates() ? ready_tag : verdict_tag, room_of(peer),
                             control_message_bytes, static_cast<std::uint32_t>(peer));
}

Status Negotiation::say(const Ready& ready, std::uint64_t now_ns) {
    if (coordinates()) return coordinator_.add(0, ready, now_ns);
    put(waiting_, ready);
    return {};
}

void Negotiation::release(std::uint64_t room_bytes) {
    if (!coordinates() || !coordinator_.next(room_bytes, released_)) return;
    for (Verdict& verdict : released_) {
        if (rank_count_ > 1) put(waiting_, verdict);
        heard_.push_back(std::move(verdict));
    }
}

void Negotiation::give_up(const Status& why) {
    if (rank_count_ == 1) return;
    if (coordinates()) {
        Verdict verdict;
        verdict.number = unnumbered;
        verdict.error = why.message();
        put(waiting_, verdict);
    } else {
        Ready nothing;
        nothing.shape_text = why.message();
        put(waiting_, nothing);
    }
}

Result<bool> Negotiation::hear(Verdict& out) {
    if (heard_.empty()) return false;
    out = std::move(heard_.front());
    heard_.pop_front();
    if (out.number == unnumbered)
        return Status(Code::peer_failed, fmt::format("the engine has ended on another rank: {}",
                                                     printable(out.error)));
    return true;
}

Status Negotiation::take_ready(int rank, std::string_view bytes, std::uint64_t now_ns) {
    ByteReader reader(bytes);
    Ready ready;
    while (reader.size_left() > 0) {
        GRADCOLL_TRY(read(reader, ready));
        if (ready.number == unnumbered && ready.name.empty())
            return {Code::peer_failed, fmt::format("the engine of rank {} has ended: {}", rank,
                                                   printable(ready.shape_text))};
        GRADCOLL_TRY(coordinator_.add(rank, ready, now_ns));
    }
    return {};
}

Status Negotiation::take_verdicts(std::string_view bytes) {
    ByteReader reader(bytes);
    while (reader.size_left() > 0) {
        Verdict verdict;
        GRADCOLL_TRY(read(reader, verdict));
        heard_.push_back(std::move(verdict));
    }
    return {};
}

Status Negotiation::finish(const Completion& done, std::uint64_t now_ns) {
    GRADCOLL_TRY(done.status);
    if (done.cookie == is_send) {
        --sends_;
        return {};
    }
    const auto peer = static_cast<int>(done.cookie);
    const std::string_view bytes = as_text(room_of(peer), done.received_bytes);
    // Whoever goes on sending is listened to, also after an error: its messages end.
    const Status understood =
        coordinates() ? take_ready(peer, bytes, now_ns) : take_verdicts(bytes);
    GRADCOLL_TRY(listen_to(peer));
    return understood;
}

/// The same bytes to all whom they concern.
Result<bool> Negotiation::send_waiting() {
    if (sends_ > 0 || waiting_.empty()) return false;
    leaving_ = std::move(waiting_.front());
    waiting_.pop_front();
    const int first = coordinates() ? 1 : 0;
    const int end = coordinates() ? rank_count_ : 1;
    for (int peer = first; peer < end; ++peer) {
        GRADCOLL_TRY(lane_->start_send(peer, coordinates() ? verdict_tag : ready_tag,
                                       leaving_.data(), leaving_.size(), is_send));
        ++sends_;
        ++messages_sent_;
        bytes_sent_ += leaving_.size();
    }
    return true;
}

Result<bool> Negotiation::advance(std::uint64_t now_ns) {
    if (rank_count_ == 1) return false;
    const bool sent = GRADCOLL_VALUE(send_waiting());
    const std::size_t count = GRADCOLL_VALUE(lane_->poll(completions_));
    for (std::size_t i = 0; i < count; ++i) GRADCOLL_TRY(finish(completions_[i], now_ns));
    return sent || count > 0;
}

std::vector<std::string> Negotiation::stalls(std::uint64_t now_ns, std::uint64_t after_ns) {
    return coordinates() ? coordinator_.stalls(now_ns, after_ns) : std::vector<std::string>();
}

}  // namespace gradcoll
