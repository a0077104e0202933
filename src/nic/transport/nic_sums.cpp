#include "nic/transport/nic_sums.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/log.hpp"
#include "base/refusals.hpp"
#include "base/round.hpp"
#include "compress/frame.hpp"
#include "memory/copy.hpp"
#include "nic/sum_note.hpp"
#include "transport/channel.hpp"

namespace gradcoll {
namespace {

/// A vector has so many pieces, so that all agents and links are at work at once, unless they would
/// be shorter than this.
constexpr std::size_t pieces_for_stages = 16;
constexpr std::size_t least_piece_bytes = std::size_t{32} << 10;

}  // namespace

/// Returns whole blocks of any codec, unless the elements of a frame are fewer.
std::size_t NicSums::elems_a_piece(const SumRequest& request, std::size_t frame_bytes) {
    const std::size_t elem_bytes = element_bytes(request.type);
    const std::size_t most = request.codec != nullptr
                                 ? coded_frame_elems(*request.codec, frame_bytes)
                                 : frame_bytes / elem_bytes;
    const std::size_t wanted =
        std::max(divided_up(request.count, pieces_for_stages), least_piece_bytes / elem_bytes);
    return std::min(most, rounded_up(wanted, lossy_block_elems));
}

void NicSums::begin(const SumRequest& request) {
    request_ = request;
    elem_bytes_ = element_bytes(request.type);
    header_bytes_ = request.codec != nullptr ? frame_header_bytes : 0;
    elems_a_piece_ = elems_a_piece(request, frames_.slot_bytes());
    before_ = frames_.posted(rank_);
    pieces_ = divided_up(request.count, elems_a_piece_);
    handed_in_ = taken_ = 0;
}

std::size_t NicSums::offset_of(std::uint64_t piece) const {
    return static_cast<std::size_t>(piece) * elems_a_piece_;
}

std::size_t NicSums::count_of(std::uint64_t piece) const {
    return std::min(elems_a_piece_, request_.count - offset_of(piece));
}

bool NicSums::progress() {
    if (is_over()) return false;
    bool any = false;
    while (hand_in()) any = true;
    while (take_sum()) any = true;
    frames_.look_at(rank_);
    if (frames_.is_lost(rank_)) end("an agent is lost, or ranks do not add the same");
    return any;
}

/// Ends sums for good. What is missing, and later vectors, go another way. It is logged aloud once
/// in a process.
void NicSums::end(const std::string& why) {
    if (std::exchange(has_ended_, true)) return;
    static std::atomic<bool> said{false};
    log(said.exchange(true) ? LogLevel::debug : LogLevel::warn,
        "NIC agents add no more vectors of a communicator: {}", why);
}

bool NicSums::hand_in() {
    if (handed_in_ == pieces_ || handed_in_ - taken_ >= frames_.slots() / 2 ||
        !frames_.has_room(rank_))
        return false;
    std::byte* const room = frames_.room(rank_);
    if (frames_.is_lost(rank_)) return false;
    const std::size_t count = count_of(handed_in_);
    OutgoingFrame frame{
        .size_bytes = header_bytes_ + count * elem_bytes_,
        .note = note_of(SumKind{request_.op, request_.type}, handed_in_, request_.count)};
    if (request_.codec != nullptr) {
        write_plain_header(*request_.codec, count, room);
        frame.coding = coding_of(*request_.codec);
    }
    const std::byte* const elements = request_.input + offset_of(handed_in_) * elem_bytes_;
    if (request_.input != request_.output && frames_.takes_runs(rank_))
        frame.add_run(elements, count * elem_bytes_);
    else
        copy_bytes(room + header_bytes_, elements, count * elem_bytes_);
    frames_.post(rank_, frame);
    ++handed_in_;
    return true;
}

/// Puts a sum in its place. What the agent says of it has to be what this rank has handed in.
Status NicSums::put_in_place(const ArrivedFrame& frame) {
    const std::size_t bytes = count_of(taken_) * elem_bytes_;
    if (frame.size_bytes != header_bytes_ + bytes)
        return corrupt("a sum of {} bytes instead of {}", frame.size_bytes, header_bytes_ + bytes);
    if (request_.codec != nullptr)
        GRADCOLL_TRY(elements_of_plain(*request_.codec, {frame.bytes, frame.size_bytes}).status());
    const bool is_long = request_.count * elem_bytes_ >= least_streamed_bytes;
    (is_long ? copy_streaming : copy_bytes)(request_.output + offset_of(taken_) * elem_bytes_,
                                            frame.bytes + header_bytes_, bytes);
    return {};
}

bool NicSums::take_sum() {
    const ArrivedFrame* const frame = taken_ < handed_in_ ? frames_.front(rank_) : nullptr;
    if (frame == nullptr || has_ended_) return false;
    if (const Status put = put_in_place(*frame); !put.ok()) {
        end(put.message());
        return false;
    }
    frames_.pop(rank_);
    ++taken_;
    return true;
}

/// Restores the pieces behind the first ones: only where input and output are one there is
/// something to put back.
std::size_t NicSums::give_back_behind(std::uint64_t pieces) {
    const std::uint64_t good = std::min(pieces, taken_);
    for (std::uint64_t piece = good; piece < taken_ && request_.input == request_.output; ++piece)
        copy_bytes(request_.output + offset_of(piece) * elem_bytes_,
                   frames_.sent(rank_, before_ + piece + 1) + header_bytes_,
                   count_of(piece) * elem_bytes_);
    return std::min(request_.count, offset_of(good));
}

}  // namespace gradcoll
