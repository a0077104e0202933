#include "engine/negotiation.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "transport/checked_lane.hpp"

namespace gradcoll {
namespace {

constexpr int ready_tag = 0;
constexpr int verdict_tag = 1;
constexpr int tag_count = 2;
/// Sends have these cookies; that of a receive is the place among the peers.
constexpr std::uint32_t sent_up = 0xffffffffU;
constexpr std::uint32_t sent_down = 0xfffffffeU;

std::string_view as_text(const std::byte* bytes, std::size_t size) {
    return {reinterpret_cast<const char*>(bytes), size};
}

/// Adds the bytes to the last message that waits, or makes a new one of them.
void put_bytes(std::deque<std::string>& waiting, std::string bytes) {
    if (!waiting.empty() && waiting.back().size() + bytes.size() <= control_message_bytes)
        waiting.back() += bytes;
    else
        waiting.push_back(std::move(bytes));
}

template <class Record>
void put(std::deque<std::string>& waiting, const Record& record) {
    ByteWriter writer;
    write(record, writer);
    put_bytes(waiting, writer.take());
}

Status damaged(int peer) {
    return {Code::corrupt,
            fmt::format("what rank {} says of an engine's gradients came damaged: its checksum is "
                        "not that of what was sent",
                        peer)};
}

std::vector<int> peers_of(const Circle& circle) {
    std::vector<int> peers;
    if (circle.parent >= 0) peers.push_back(circle.parent);
    for (std::size_t i = 1; i < circle.members.size(); ++i) peers.push_back(circle.members[i].rank);
    return peers;
}

}  // namespace

Negotiation::Negotiation(Channel& channel, Circle circle, std::uint64_t most_pack_bytes,
                         bool checked)
    : circle_(std::move(circle)),
      rank_(channel.rank()),
      peers_(peers_of(circle_)),
      received_(control_message_bytes * peers_.size()),
      completions_(2 * peers_.size()) {
    const std::size_t capacity = completions_.size();
    if (!peers_.empty()) lane_ = channel.open_short_lane(checked ? 2 * capacity : capacity);
    if (!peers_.empty() && checked)
        lane_ = make_checked_lane(std::move(lane_), capacity, tag_count);
    if (circle_.coordinates())
        coordinator_.emplace(circle_.members, most_pack_bytes);
    else if (circle_.gathers())
        gathering_.emplace(circle_.members);
    for (std::size_t peer = 0; peer < peers_.size(); ++peer)
        (is_parent(peer) ? up_ : down_).to.push_back(peers_[peer]);
}

Negotiation::~Negotiation() {
    if (lane_ != nullptr) lane_->abandon();
}

Result<std::unique_ptr<Negotiation>> Negotiation::make(Channel& channel, Circle circle,
                                                       std::uint64_t most_pack_bytes,
                                                       bool checked) {
    std::unique_ptr<Negotiation> made(
        new Negotiation(channel, std::move(circle), most_pack_bytes, checked));
    for (std::size_t peer = 0; peer < made->peers_.size(); ++peer)
        GRADCOLL_TRY(made->listen_to(peer));
    return made;
}

Status Negotiation::listen_to(std::size_t peer) {
    return lane_->start_recv(peers_[peer], is_parent(peer) ? verdict_tag : ready_tag,
                             received_.data() + peer * control_message_bytes, control_message_bytes,
                             static_cast<std::uint32_t>(peer));
}

Status Negotiation::say(const Ready& ready, std::uint64_t now_ns) {
    if (circle_.coordinates() || circle_.gathers()) return gather(0, ready, now_ns);
    put(up_.waiting, ready);
    return {};
}

/// Takes what a member has ready; what all members have goes on upwards.
Status Negotiation::gather(std::size_t member, const Ready& ready, std::uint64_t now_ns) {
    if (coordinator_) return coordinator_->add(member, ready, now_ns);
    GatheredGradient* const complete = GRADCOLL_VALUE(gathering_->add(member, ready, now_ns));
    if (complete == nullptr) return {};
    Ready& common = complete->ready;
    common.as_before =
        common.number != unnumbered && common.error.empty() && complete->passed_on == common.said();
    complete->passed_on = common.said();
    put(up_.waiting, common);
    Gathering::release(*complete);
    return {};
}

void Negotiation::release(std::uint64_t room_bytes) {
    if (!coordinator_ || !coordinator_->next(room_bytes, released_)) return;
    for (Verdict& verdict : released_) {
        if (!down_.to.empty()) put(down_.waiting, verdict);
        heard_.push_back(std::move(verdict));
    }
}

/// Gives up. A rank that gathers tells its members itself: it may have ended before rank 0 tells
/// all.
void Negotiation::give_up(const Status& why) {
    if (!down_.to.empty()) {
        Verdict verdict;
        verdict.number = unnumbered;
        verdict.error = why.message();
        put(down_.waiting, verdict);
    }
    if (!up_.to.empty()) {
        Ready nothing;
        nothing.rank = rank_;
        nothing.error = why.message();
        put(up_.waiting, nothing);
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

Status Negotiation::take_ready(std::size_t member, std::string_view bytes, std::uint64_t now_ns) {
    ByteReader reader(bytes);
    Ready ready;
    while (reader.size_left() > 0) {
        GRADCOLL_TRY(read(reader, ready));
        if (ready.number == unnumbered && ready.name.empty())
            return {Code::peer_failed, fmt::format("the engine of rank {} has ended: {}",
                                                   ready.rank, printable(ready.error))};
        GRADCOLL_TRY(gather(member, ready, now_ns));
    }
    return {};
}

/// Takes verdicts, which go on downwards as they came, understood or not.
Status Negotiation::take_verdicts(std::string_view bytes) {
    if (!down_.to.empty()) put_bytes(down_.waiting, std::string(bytes));
    ByteReader reader(bytes);
    while (reader.size_left() > 0) {
        Verdict verdict;
        GRADCOLL_TRY(read(reader, verdict));
        if (gathering_ && !verdict.name.empty())
            GRADCOLL_TRY(gathering_->give_number(verdict.name, verdict.number));
        heard_.push_back(std::move(verdict));
    }
    return {};
}

Status Negotiation::finish(const Completion& done, std::uint64_t now_ns) {
    GRADCOLL_TRY(done.status);
    if (done.cookie == sent_up || done.cookie == sent_down) {
        --(done.cookie == sent_up ? up_ : down_).sends;
        return {};
    }
    const std::size_t peer = done.cookie;
    const std::string_view bytes =
        as_text(received_.data() + peer * control_message_bytes, done.received_bytes);
    // Whoever goes on sending is listened to, also after an error: its messages end.
    const Status understood = done.is_damaged   ? damaged(peers_[peer])
                              : is_parent(peer) ? take_verdicts(bytes)
                                                : take_ready(member_of(peer), bytes, now_ns);
    GRADCOLL_TRY(listen_to(peer));
    return understood;
}

/// Sends the same bytes to all whom they concern.
Status Negotiation::send(Outbox& box, int tag, std::uint32_t cookie, bool& went_on) {
    if (box.sends > 0 || box.waiting.empty()) return {};
    box.leaving = std::move(box.waiting.front());
    box.waiting.pop_front();
    for (const int peer : box.to) {
        GRADCOLL_TRY(lane_->start_send(peer, tag, box.leaving.data(), box.leaving.size(), cookie));
        ++box.sends;
        ++messages_sent_;
        bytes_sent_ += box.leaving.size();
    }
    went_on = true;
    return {};
}

Result<bool> Negotiation::advance(std::uint64_t now_ns) {
    if (peers_.empty()) return false;
    bool went_on = false;
    GRADCOLL_TRY(send(up_, ready_tag, sent_up, went_on));
    GRADCOLL_TRY(send(down_, verdict_tag, sent_down, went_on));
    const std::size_t count = GRADCOLL_VALUE(lane_->poll(completions_));
    // All completions are taken, also after an error: what has left or come is not told again.
    Status first_error;
    for (std::size_t i = 0; i < count; ++i) {
        Status finished = finish(completions_[i], now_ns);
        if (first_error.ok()) first_error = std::move(finished);
    }
    if (!first_error.ok()) return first_error;
    return went_on || count > 0;
}

std::vector<std::string> Negotiation::stalls(std::uint64_t now_ns, std::uint64_t after_ns) {
    if (coordinator_) return coordinator_->stalls(now_ns, after_ns);
    return gathering_ ? gathering_->stalls(now_ns, after_ns) : std::vector<std::string>();
}

}  // namespace gradcoll
