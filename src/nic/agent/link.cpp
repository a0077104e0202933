#include "nic/agent/link.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "nic/agent/system_status.hpp"
#include "nic/agent/wire_backlog.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{16} << 10;
/// One link has this many calls of the system before the next has its turn.
constexpr int calls_a_turn = 16;

/// A link that is cut is noticed after this long, whether something is under way or not.
constexpr int cut_seconds = 8;

void notice_cuts(int socket) {
    const int on = 1;
    const int idle_s = cut_seconds / 2, probe_s = 1, probes = cut_seconds / 2;
    const unsigned unanswered_ms = cut_seconds * 1000;
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &probe_s, sizeof probe_s);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof unanswered_ms);
}

bool is_no_error(int code) {
    return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

}  // namespace

Link::Link(const Around& around, std::uint32_t host, Descriptor socket,
           std::function<void(const Status&)> lost)
    : around_(around),
      host_(host),
      socket_(std::move(socket)),
      lost_(std::move(lost)),
      buffer_(buffer_bytes) {}

Link::~Link() {
    if (!failed_) around_.poller.remove(socket_.number(), *this);
}

Status Link::begin(std::span<const std::byte> first) {
    if (first.size() > buffer_.size()) return {Code::internal, "link: too many bytes at first"};
    std::copy(first.begin(), first.end(), buffer_.begin());
    end_ = first.size();
    notice_cuts(socket_.number());
    GRADCOLL_TRY(around_.poller.add(socket_.number(), *this));
    return take_buffered();
}

void Link::fail(const Status& status) {
    if (std::exchange(failed_, true)) return;
    around_.poller.remove(socket_.number(), *this);
    lost_(status);
}

void Link::line_up(const std::shared_ptr<NicMember>& member, std::uint32_t peer) {
    NicMember::Pair& pair = member->pair(peer);
    if (pair.may_send() && !std::exchange(pair.in_line, true)) line_.push_back({member, peer});
    if ((pair.tells_consumed || pair.tells_delivered) && !std::exchange(pair.is_due, true))
        due_.push_back({member, peer});
}

void Link::line_up(const LinkFrame& frame, SumBytes bytes) {
    of_sums_.emplace_back(frame, std::move(bytes));
}

void Link::tell_gone(std::uint32_t rank) {
    gone_.push_back(rank);
}

void Link::beat() {
    if (failed_) return;
    if (++silent_beats_ > nic_silence / nic_beat)
        return fail({Code::transport, "the other agent is silent"});
    is_beat_due_ = true;
    send();
}

// ---- out

void Link::add_to_batch(LinkFrame frame, std::span<const std::byte> bytes,
                        std::shared_ptr<const void> owner) {
    frame.crc = crc_of(frame, bytes);
    frames_[batch_count_] = frame;
    parts_[part_count_++] = {&frames_[batch_count_], sizeof frame};
    if (!bytes.empty())
        parts_[part_count_++] = {const_cast<std::byte*>(bytes.data()), bytes.size()};
    owners_[batch_count_++] = std::move(owner);
    if (!has_bytes(frame.kind)) return;
    ++around_.counters.frames_sent;
    around_.counters.bytes_sent += bytes.size();
}

void Link::add_data(const Place& place) {
    const LinkFrame frame = place.member->next_frame(place.peer);
    if (frame.coding == NicCoding::none)
        add_to_batch(frame, place.member->bytes_of(frame), place.member);
    else
        add_coded(frame, place.member);
}

/// Encodes a frame, and gives its rank what decoding gives if it wants that. Returns nothing for a
/// frame that the rank has withdrawn.
Result<std::span<const std::byte>> Link::coded(const LinkFrame& frame, NicMember& member) {
    AgentCounters& counters = around_.counters;
    copied_.resize(std::max<std::size_t>(copied_.size(), frame.size_bytes));
    const std::span<std::byte> plain(copied_.data(), frame.size_bytes);
    if (const bool is_there = GRADCOLL_VALUE(member.copy_frame(frame, plain)); !is_there)
        return std::span<const std::byte>();
    const auto made = GRADCOLL_VALUE(encoder_.encode(plain, frame.coding, spare_ns()));
    counters.count_encoded(plain.size(), encoder_.encoded().size(), made.size());
    if (!member.wants_echo(frame)) return made;
    const std::span<std::byte> room = GRADCOLL_VALUE(member.room_for_echo(frame));
    GRADCOLL_TRY(decoder_.decode(encoder_.encoded(), room).status());
    ++counters.frames_echoed;
    return made;
}

std::uint64_t Link::spare_ns() const {
    return backlog_ns(socket_.number());
}

/// Adds a frame that is encoded. A rank whose frame cannot be encoded loses its place; nothing
/// behind that frame may leave, nor behind one that its rank has withdrawn.
void Link::add_coded(LinkFrame frame, const std::shared_ptr<NicMember>& member) {
    const std::uint64_t begin_ns = now_ns();
    const auto made = coded(frame, *member);
    around_.counters.codec_ns += now_ns() - begin_ns;
    if (!made.ok() || made->empty()) {
        member->pair(frame.target).is_stopped = true;
        if (!made.ok()) wrong_.push_back({member->rank(), made.status()});
        return;
    }
    member->coded(frame.target, made->size());
    frame.size_bytes = static_cast<std::uint32_t>(made->size());
    has_coded_ = true;
    add_to_batch(frame, *made, member);
}

void Link::add_words(const Place& place) {
    NicMember::Pair& pair = place.member->pair(place.peer);
    pair.is_due = false;
    if (std::exchange(pair.tells_delivered, false))
        add_to_batch(place.member->word_for(place.peer, FrameKind::delivered), {}, place.member);
    if (std::exchange(pair.tells_consumed, false))
        add_to_batch(place.member->word_for(place.peer, FrameKind::consumed), {}, place.member);
}

/// Fills the batch with words first, since others wait for them, and then with a frame of each pair
/// in turn. A frame that is encoded leaves before the next one is.
void Link::fill_batch() {
    batch_count_ = part_count_ = next_part_ = 0;
    has_coded_ = false;
    if (std::exchange(is_beat_due_, false)) {
        LinkFrame frame;
        frame.kind = FrameKind::up;
        add_to_batch(frame, {}, nullptr);
    }
    for (; !due_.empty() && !is_full(); due_.pop_back()) add_words(due_.back());
    for (; !gone_.empty() && !is_full(); gone_.pop_back()) {
        LinkFrame frame;
        frame.kind = FrameKind::gone;
        frame.source = gone_.back();
        add_to_batch(frame, {}, nullptr);
    }
    for (; !of_sums_.empty() && !is_full(); of_sums_.pop_front()) {
        const auto& [frame, bytes] = of_sums_.front();
        add_to_batch(frame,
                     bytes ? std::span<const std::byte>(*bytes) : std::span<const std::byte>(),
                     bytes);
    }
    while (!line_.empty() && !is_full()) {
        Place place = std::move(line_.front());
        line_.pop_front();
        NicMember::Pair& pair = place.member->pair(place.peer);
        pair.in_line = false;
        if (!pair.may_send()) continue;
        add_data(place);
        line_up(place.member, place.peer);
    }
}

Status Link::write_batch(bool& blocked) {
    msghdr message{};
    message.msg_iov = &parts_[next_part_];
    message.msg_iovlen = part_count_ - next_part_;
    const ssize_t count = sendmsg(socket_.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0) {
        blocked = is_no_error(errno);
        return blocked ? Status() : system_status(Code::transport, "send");
    }
    auto left = static_cast<std::size_t>(count);
    while (next_part_ < part_count_ && left >= parts_[next_part_].iov_len)
        left -= parts_[next_part_++].iov_len;
    if (left > 0) {
        iovec& part = parts_[next_part_];
        part = {static_cast<std::byte*>(part.iov_base) + left, part.iov_len - left};
    }
    return {};
}

void Link::send() {
    if (failed_) return;
    bool blocked = false;
    bool any = true;
    for (int call = 0; any && !blocked && call < calls_a_turn; ++call) {
        if (next_part_ == part_count_) fill_batch();
        any = next_part_ < part_count_;
        if (!any) break;
        if (const Status status = write_batch(blocked); !status.ok()) return fail(status);
    }
    if (!any) owners_.fill(nullptr);
    if (std::exchange(wants_to_write_, any) != any)
        around_.poller.change(socket_.number(), *this,
                              any ? Poller::For::reading_and_writing : Poller::For::reading);
}

// ---- in

void Link::ready() {
    if (const Status status = receive(); !status.ok()) return fail(status);
    send();
}

/// Reads the rest of a frame's bytes to where it belongs, and what comes behind it into the buffer.
/// If there was less than there is room for, there is no more at the moment.
Status Link::receive() {
    for (int call = 0; call < calls_a_turn; ++call) {
        if (begin_ > 0)
            std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
                      buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
        end_ -= std::exchange(begin_, 0);
        const std::size_t wanted = in_frame_ ? frame_.size_bytes - taken_bytes_ : 0;
        std::array<iovec, 2> parts = {
            {{room_ + taken_bytes_, wanted}, {buffer_.data() + end_, buffer_.size() - end_}}};
        msghdr message{};
        message.msg_iov = wanted > 0 ? parts.data() : parts.data() + 1;
        message.msg_iovlen = wanted > 0 ? 2 : 1;
        const ssize_t count = recvmsg(socket_.number(), &message, MSG_DONTWAIT);
        if (count == 0) return {Code::transport, "the other agent has closed"};
        if (count < 0)
            return is_no_error(errno) ? Status() : system_status(Code::transport, "receive");
        silent_beats_ = 0;
        const auto bytes = static_cast<std::size_t>(count);
        const bool is_all = bytes < wanted + buffer_.size() - end_;
        const std::size_t placed = std::min(bytes, wanted);
        taken_bytes_ += placed;
        end_ += bytes - placed;
        GRADCOLL_TRY(take_buffered());
        if (is_all) return {};
    }
    return {};
}

/// Takes the frames that are whole, and of one that is not, what there is.
Status Link::take_buffered() {
    for (;;) {
        if (!in_frame_) {
            if (end_ - begin_ < sizeof frame_) return {};
            GRADCOLL_TRY(begin_frame());
        }
        const std::size_t count = std::min(frame_.size_bytes - taken_bytes_, end_ - begin_);
        if (count > 0) std::memcpy(room_ + taken_bytes_, buffer_.data() + begin_, count);
        taken_bytes_ += count;
        begin_ += count;
        if (taken_bytes_ < frame_.size_bytes) return {};
        GRADCOLL_TRY(end_frame());
    }
}

/// Finds out who the frame is for, and where its bytes go. Nothing is done yet: they, and the frame
/// itself, may be damaged. A rank that has gone leaves frames under way.
Status Link::begin_frame() {
    std::memcpy(&frame_, buffer_.data() + begin_, sizeof frame_);
    begin_ += sizeof frame_;
    in_frame_ = true;
    taken_bytes_ = 0;
    const LocalMembers& members = around_.members;
    GRADCOLL_TRY(check_link_frame(frame_, slot_bytes()));
    if (frame_.kind == FrameKind::up) return {};
    if (is_of_sums(frame_.kind)) return begin_of_sum();
    const auto host_of = [&members](std::uint32_t rank) {
        return rank < members.by_rank.size() ? members.roster.host_of_rank[rank]
                                             : ~std::uint32_t{0};
    };
    if (host_of(frame_.source) != host_ ||
        (frame_.kind != FrameKind::gone && host_of(frame_.target) != members.host))
        return {Code::corrupt, fmt::format("frame from rank {} for rank {} from host {}",
                                           frame_.source, frame_.target, host_)};
    target_ = frame_.kind == FrameKind::gone ? nullptr : members.by_rank[frame_.target];
    return frame_.kind == FrameKind::data ? take_data_room() : Status();
}

Status Link::begin_of_sum() {
    if (frame_.source != host_ || frame_.target != around_.members.host)
        return {Code::corrupt, fmt::format("a piece from host {} for host {} from host {}",
                                           frame_.source, frame_.target, host_)};
    own_room_.resize(std::max<std::size_t>(own_room_.size(), frame_.size_bytes));
    room_ = own_room_.data();
    return {};
}

std::uint32_t Link::slot_bytes() const {
    return NicShape::of(static_cast<std::uint32_t>(around_.members.by_rank.size())).slot_bytes;
}

Status Link::take_data_room() {
    if (target_) GRADCOLL_TRY(take(slot_, target_->room_for(frame_)));
    room_ = slot_;
    if (target_ && frame_.coding == NicCoding::none) return {};
    own_room_.resize(std::max<std::size_t>(own_room_.size(), frame_.size_bytes));
    room_ = own_room_.data();
    return {};
}

Status Link::end_frame() {
    in_frame_ = false;
    if (frame_.crc != crc_of(frame_, {room_, frame_.size_bytes}))
        return {Code::corrupt, "frame with another checksum"};
    if (frame_.kind == FrameKind::gone) {
        around_.members.gone[frame_.source] = true;
        for (const std::uint32_t rank : around_.members.here)
            around_.members.by_rank[rank]->lose(frame_.source, NicPeerState::left);
        return {};
    }
    if (is_of_sums(frame_.kind)) {
        if (has_bytes(frame_.kind)) count_arrived();
        return around_.sums.take(frame_, {room_, frame_.size_bytes});
    }
    if (!target_) return {};
    GRADCOLL_TRY(frame_.kind == FrameKind::data ? end_data() : target_->take_word(frame_));
    line_up(target_, frame_.source);
    target_ = nullptr;
    return {};
}

void Link::count_arrived() {
    ++around_.counters.frames_received;
    around_.counters.bytes_received += frame_.size_bytes;
}

Status Link::end_data() {
    count_arrived();
    const std::size_t size = frame_.coding == NicCoding::none ? std::size_t{frame_.size_bytes}
                                                              : GRADCOLL_VALUE(decode());
    return target_->arrived(frame_, size);
}

/// Decodes into the rank's slot. How long that is, nothing that came says.
Result<std::size_t> Link::decode() {
    const std::uint64_t begin_ns = now_ns();
    Result<std::size_t> size =
        decoder_.decode({own_room_.data(), frame_.size_bytes}, {slot_, slot_bytes()});
    ++around_.counters.frames_decoded;
    around_.counters.codec_ns += now_ns() - begin_ns;
    return size;
}

}  // namespace gradcoll
