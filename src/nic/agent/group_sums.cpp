#include "nic/agent/group_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/refusals.hpp"
#include "memory/copy.hpp"
#include "nic/sum_note.hpp"

namespace gradcoll {
namespace {

/// Adds `other` to `sum`, both in the plain form, which says what they are. Errors: corrupt.
Status add(const SumKind& kind, NicCoding coding, std::span<const std::byte> other,
           std::span<std::byte> sum) {
    const std::size_t header = plain_header_bytes(coding);
    if (other.size() != sum.size() || std::memcmp(other.data(), sum.data(), header) != 0)
        return corrupt("pieces of {} and {} bytes that do not belong together", sum.size(),
                       other.size());
    const Reducer reducer = reducer_for(kind.op, kind.type);
    reducer(sum.data() + header, other.data() + header, sum.data() + header,
            (sum.size() - header) / reducer.element_bytes);
    return {};
}

}  // namespace

bool GroupSums::Terms::operator==(const Terms& other) const {
    return std::memcmp(&note, &other.note, sizeof note) == 0 && coding == other.coding;
}

GroupSums::GroupSums(const Around& around, Send send, SpareTime spare_ns)
    : around_(around), send_(std::move(send)), spare_ns_(std::move(spare_ns)) {}

std::uint32_t GroupSums::hosts() const {
    return static_cast<std::uint32_t>(around_.members.roster.endpoints.size());
}

/// Makes room when the roster is there. An owner has parts of pieces that are up to `slots` ahead
/// of its own ranks, which are up to `slots` ahead of what they have got.
void GroupSums::prepare() {
    const std::vector<std::uint32_t>& host_of_rank = around_.members.roster.host_of_rank;
    const NicShape shape = NicShape::of(static_cast<std::uint32_t>(host_of_rank.size()));
    slots_ = shape.slots;
    slot_bytes_ = shape.slot_bytes;
    pieces_.resize(2 * slots_);
    room_.resize(slot_bytes_);
    for (std::uint32_t rank = 0; rank < host_of_rank.size(); ++rank)
        if (host_of_rank[rank] == around_.members.host) ranks_.push_back(rank);
}

/// Returns the last piece that all ranks of this host have handed in; nothing if some rank is not
/// here yet.
std::optional<std::uint64_t> GroupSums::handed_in_by_all() const {
    std::uint64_t least = ~std::uint64_t{0};
    for (const std::uint32_t rank : ranks_) {
        const NicMember* member = around_.members.find(rank);
        if (member == nullptr) return {};
        least = std::min(least, member->handed_in());
    }
    return least;
}

bool GroupSums::work() {
    if (has_ended_ || around_.members.here.empty()) return false;
    if (pieces_.empty()) prepare();
    const std::optional<std::uint64_t> handed_in = handed_in_by_all();
    if (!handed_in || added_ >= *handed_in) return false;
    if (const Status status = make_part(added_ + 1); !status.ok()) end(status.message());
    return !has_ended_ && added_ < *handed_in;
}

Status GroupSums::take(const LinkFrame& frame, std::span<const std::byte> bytes) {
    if (has_ended_) return {};
    if (pieces_.empty()) prepare();
    switch (frame.kind) {
        case FrameKind::part:
            return take_part(frame, bytes);
        case FrameKind::total:
            return take_total(frame, bytes);
        default:
            end(fmt::format("host {} has ended them", frame.source));
            return {};
    }
}

void GroupSums::rank_leaves(std::uint32_t rank) {
    const NicMember* member = around_.members.find(rank);
    if (member != nullptr && member->handed_in() > summed_)
        end(fmt::format("rank {} has left", rank));
}

void GroupSums::end(const std::string& why) {
    if (std::exchange(has_ended_, true)) return;
    log(LogLevel::info, "a communicator's sums by agents end: {}", why);
    for (const std::uint32_t rank : around_.members.here)
        around_.members.by_rank[rank]->lose(rank, NicPeerState::lost);
    for (std::uint32_t host = 0; host < hosts(); ++host)
        if (host != around_.members.host) send(FrameKind::no_sums, host, 0, {}, nullptr);
    pieces_.clear();
    buffers_.clear();
}

void GroupSums::send(FrameKind kind, std::uint32_t host, std::uint64_t number, const Terms& terms,
                     const SumBytes& bytes) {
    LinkFrame frame;
    frame.kind = kind;
    frame.coding = terms.coding;
    frame.source = around_.members.host;
    frame.target = host;
    frame.number = number;
    frame.size_bytes = bytes ? static_cast<std::uint32_t>(bytes->size()) : 0;
    frame.note = terms.note;
    // The ranks get no sum before what was sent for it is counted.
    if (NicMember* const first = around_.members.find(ranks_.empty() ? ~0U : ranks_.front());
        bytes && first != nullptr)
        first->sends_of_sums(bytes->size(), sum_.size() - plain_header_bytes(terms.coding));
    send_(host, frame, bytes);
}

// ---- the ranks of this host

Status GroupSums::make_part(std::uint64_t number) {
    Terms terms;
    GRADCOLL_TRY(add_ranks(number, terms));
    added_ = number;
    ++around_.counters.pieces_added;
    const std::uint32_t owner = owner_of(terms.note);
    if (owner != around_.members.host) {
        const SumBytes part = GRADCOLL_VALUE(encoded(terms, spare_ns_(owner)));
        send(FrameKind::part, owner, number, terms, part);
        return {};
    }
    Piece& mine = piece(number);
    mine.parts.resize(hosts());
    mine.parts[owner] = {terms, copy_of(sum_)};
    ++mine.parts_there;
    return add_hosts(number);
}

/// Adds a piece of all ranks into `sum_`. The ranks may change what they have handed in, and then
/// get what they deserve; the sizes are ours.
Status GroupSums::add_ranks(std::uint64_t number, Terms& terms) {
    const NicMember& first = *around_.members.find(ranks_.front());
    terms = {first.piece(number).note, first.piece(number).coding};
    const SumKind kind = GRADCOLL_VALUE(sum_kind_of(terms.note));
    const std::size_t size = first.piece(number).size_bytes;
    const std::size_t header = plain_header_bytes(terms.coding);
    if (size <= header || (size - header) % element_bytes(kind.type) != 0)
        return corrupt("a piece of {} bytes of {}", size, name_of(kind.type));
    sum_.resize(size);
    GRADCOLL_TRY(first.copy_piece(number, sum_));
    for (std::size_t i = 1; i < ranks_.size(); ++i) {
        const NicMember& member = *around_.members.find(ranks_[i]);
        if (!(terms == Terms{member.piece(number).note, member.piece(number).coding}))
            return corrupt("ranks {} and {} do not add the same", ranks_.front(), ranks_[i]);
        std::span<const std::byte> other = member.bytes_of_piece(number);
        if (other.empty()) {
            other = {room_.data(), member.piece(number).size_bytes};
            GRADCOLL_TRY(member.copy_piece(number, {room_.data(), other.size()}));
        }
        GRADCOLL_TRY(add(kind, terms.coding, other, sum_));
    }
    return {};
}

/// Returns `sum_` as it travels.
Result<SumBytes> GroupSums::encoded(const Terms& terms, std::uint64_t spare_ns) {
    if (terms.coding == NicCoding::none) return copy_of(sum_);
    AgentCounters& counters = around_.counters;
    const std::uint64_t begin_ns = now_ns();
    const std::span<const std::byte> coded =
        GRADCOLL_VALUE(coder_.encode(sum_, terms.coding, spare_ns));
    counters.codec_ns += now_ns() - begin_ns;
    if (coded.size() > slot_bytes_) return corrupt("an encoding of {} bytes", coded.size());
    counters.count_encoded(sum_.size(), coder_.encoded().size(), coded.size());
    return copy_of(coded);
}

/// Returns for how long the links to all other hosts have enough to do.
std::uint64_t GroupSums::least_spare_ns() const {
    std::uint64_t least = ~std::uint64_t{0};
    for (std::uint32_t host = 0; host < hosts(); ++host)
        if (host != around_.members.host) least = std::min(least, spare_ns_(host));
    return least;
}

// ---- the hosts

Status GroupSums::take_part(const LinkFrame& frame, std::span<const std::byte> bytes) {
    const std::uint64_t number = frame.number;
    if (number <= summed_ || number > added_ + slots_ ||
        owner_of(frame.note) != around_.members.host)
        return corrupt("a part of piece {} after {} of which {} are summed", number, added_,
                       summed_);
    Piece& mine = piece(number);
    mine.parts.resize(hosts());
    Part& part = mine.parts[frame.source];
    if (part.bytes) return corrupt("piece {} comes twice from host {}", number, frame.source);
    part = {{frame.note, frame.coding}, copy_of(bytes)};
    ++mine.parts_there;
    if (const Status status = add_hosts(number); !status.ok()) end(status.message());
    return {};
}

/// Returns the plain form of a part. What other hosts sent is believed as little as their numbers.
Result<std::span<const std::byte>> GroupSums::plain_of(const Part& part, bool is_own) {
    if (is_own || part.terms.coding == NicCoding::none)
        return std::span<const std::byte>(*part.bytes);
    const std::uint64_t begin_ns = now_ns();
    const std::size_t size = GRADCOLL_VALUE(coder_.decode(*part.bytes, room_));
    ++around_.counters.frames_decoded;
    around_.counters.codec_ns += now_ns() - begin_ns;
    return std::span<const std::byte>(room_.data(), size);
}

/// Adds the parts of a piece if all are there. Ranks that do not call the same function do not hand
/// in the same.
Status GroupSums::add_hosts(std::uint64_t number) {
    Piece& mine = piece(number);
    if (mine.parts_there < hosts()) return {};
    const Terms terms = mine.parts[around_.members.host].terms;
    const SumKind kind = GRADCOLL_VALUE(sum_kind_of(terms.note));
    for (std::uint32_t host = 0; host < hosts(); ++host) {
        if (!(mine.parts[host].terms == terms))
            return corrupt("hosts {} and {} do not add the same", around_.members.host, host);
        const std::span<const std::byte> plain =
            GRADCOLL_VALUE(plain_of(mine.parts[host], host == around_.members.host));
        if (host == 0)
            sum_.assign(plain.begin(), plain.end());
        else
            GRADCOLL_TRY(add(kind, terms.coding, plain, sum_));
    }
    mine.total = GRADCOLL_VALUE(encoded(terms, least_spare_ns()));
    for (std::uint32_t host = 0; host < hosts(); ++host)
        if (host != around_.members.host) send(FrameKind::total, host, number, terms, mine.total);
    return hand_out();
}

Status GroupSums::take_total(const LinkFrame& frame, std::span<const std::byte> bytes) {
    const std::uint64_t number = frame.number;
    const bool is_expected =
        number > summed_ && number <= added_ && !piece(number).total &&
        owner_of(around_.members.find(ranks_.front())->piece(number).note) == frame.source;
    if (!is_expected)
        return corrupt("the sum of piece {} from host {} after {} of which {} are summed", number,
                       frame.source, added_, summed_);
    piece(number).total = copy_of(bytes);
    return hand_out();
}

// ---- and back to the ranks

Result<std::size_t> GroupSums::decode_total(const Terms& terms, const SumBytes& total,
                                            std::byte* room) {
    if (terms.coding == NicCoding::none) {
        copy_bytes(room, total->data(), total->size());
        return total->size();
    }
    const std::uint64_t begin_ns = now_ns();
    const std::size_t size = GRADCOLL_VALUE(coder_.decode(*total, {room, slot_bytes_}));
    ++around_.counters.frames_decoded;
    around_.counters.codec_ns += now_ns() - begin_ns;
    return size;
}

/// Hands out the sums that are there, in the order of their pieces.
Status GroupSums::hand_out() {
    while (!has_ended_ && summed_ < added_ && piece(summed_ + 1).total) {
        const std::uint64_t number = summed_ + 1;
        Piece& next = piece(number);
        std::byte* decoded = nullptr;
        std::size_t size = 0;
        for (const std::uint32_t rank : ranks_) {
            NicMember* const member = around_.members.find(rank);
            if (member == nullptr) return {};
            std::byte* const room = GRADCOLL_VALUE(member->room_for_sum(number));
            const Terms terms{member->piece(number).note, member->piece(number).coding};
            if (decoded == nullptr)
                size = GRADCOLL_VALUE(decode_total(terms, next.total, room));
            else
                copy_bytes(room, decoded, size);
            decoded = room;
            GRADCOLL_TRY(member->summed(number, size));
        }
        next = {};
        summed_ = number;
    }
    return {};
}

// ---- memory

GroupSums::Buffer GroupSums::buffer() {
    const auto free = std::find_if(buffers_.begin(), buffers_.end(),
                                   [](const Buffer& each) { return each.use_count() == 1; });
    if (free != buffers_.end()) return *free;
    buffers_.push_back(std::make_shared<std::vector<std::byte>>());
    buffers_.back()->reserve(slot_bytes_);
    return buffers_.back();
}

SumBytes GroupSums::copy_of(std::span<const std::byte> bytes) {
    const Buffer made = buffer();
    made->resize(bytes.size());
    copy_bytes(made->data(), bytes.data(), bytes.size());
    return made;
}

}  // namespace gradcoll
