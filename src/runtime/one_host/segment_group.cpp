// runtime/one_host/segment_group.cpp - a rank's part of the segment: sleepers, heads with their
// narrow inline slots, wide inline slots, block slots, result slots; each on pages of its own.
#include "runtime/one_host/segment_group.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/failure.hpp"
#include "base/hash.hpp"
#include "memory/copy.hpp"

namespace gradcoll {

/// The first bytes of the narrow slot share its line: a short vector arrives with its flag.
struct SegmentGroup::Head {
    SharedWord announced;
    std::atomic<std::uint64_t> signature;
    std::byte narrow_slot[narrow_bytes];
};

namespace {

std::size_t wide_bytes_of(const SegmentSizes& sizes) {
    return SegmentGroup::whole_pages(sizes.inline_bytes);
}

std::size_t block_bytes_of(const SegmentSizes& sizes) {
    return SegmentGroup::whole_pages(sizes.block_bytes);
}

std::size_t result_bytes_of(int rank_count, const SegmentSizes& sizes) {
    constexpr std::size_t line_bytes = 64;
    return SegmentGroup::whole_pages(sizes.block_bytes / static_cast<std::size_t>(rank_count) +
                                     line_bytes);
}

}  // namespace

std::size_t SegmentGroup::inline_bytes_a_rank(const SegmentSizes& sizes) {
    constexpr std::uint64_t slots = wide_slots(Waits::for_all) + wide_slots(Waits::one_way);
    return page_bytes + head_pages * page_bytes + slots * wide_bytes_of(sizes);
}

std::size_t SegmentGroup::bytes_a_rank(int rank_count, const SegmentSizes& sizes) {
    return inline_bytes_a_rank(sizes) +
           block_slots * (block_bytes_of(sizes) + result_bytes_of(rank_count, sizes));
}

SegmentGroup::BlockExtents SegmentGroup::extents_of_blocks(std::size_t block_bytes) const {
    const SegmentSizes used{sizes_.inline_bytes, std::min(block_bytes, sizes_.block_bytes)};
    BlockExtents extents;
    const std::size_t blocks = inline_bytes_a_rank(sizes_);
    const std::size_t results = blocks + block_slots * block_stride_;
    for (std::size_t slot = 0; slot < block_slots; ++slot) {
        extents[2 * slot] = {blocks + slot * block_stride_, block_bytes_of(used)};
        extents[2 * slot + 1] = {results + slot * result_stride_,
                                 result_bytes_of(rank_count_, used)};
    }
    return extents;
}

SegmentGroup::SegmentGroup(std::byte* segment, int rank, int rank_count, const SegmentSizes& sizes,
                           const Waiter& waiter)
    : segment_(segment),
      rank_(rank),
      rank_count_(rank_count),
      sizes_(sizes),
      wide_bytes_(wide_bytes_of(sizes)),
      blocks_offset_(inline_bytes_a_rank(sizes)),
      block_bytes_(sizes.block_bytes),
      block_stride_(block_bytes_of(sizes)),
      result_stride_(result_bytes_of(rank_count, sizes)),
      part_bytes_(bytes_a_rank(rank_count, sizes)),
      waiter_(waiter) {}

std::uint64_t SegmentGroup::state() const {
    return Hash().value(call_).value(first_slot_).value(lap_).value(block_bytes_).digest();
}

Sleepers& SegmentGroup::sleepers(int rank) const {
    return *reinterpret_cast<Sleepers*>(part(rank));
}

static_assert(sizeof(SharedWord) + sizeof(std::atomic<std::uint64_t>) +
                  SegmentGroup::narrow_bytes ==
              SegmentGroup::head_bytes);

SegmentGroup::Head& SegmentGroup::head(int rank, std::uint64_t call) const {
    return *reinterpret_cast<Head*>(part(rank) + head_offset(call % heads));
}

SegmentGroup::Head& SegmentGroup::head(int rank) const {
    return head(rank, call_);
}

/// Waits for more than the next call needs, so that not every call waits.
void SegmentGroup::catch_up(std::uint64_t window) {
    wait_for_all_in(call_ - window / 2, begun);
    ended_by_all_ = call_ - window / 2 - 1;
}

bool SegmentGroup::may_begin_call(std::size_t inline_bytes, Waits waits) const {
    const std::uint64_t next = call_ + 1;
    const std::uint64_t window = window_of(inline_bytes, waits);
    return next - ended_by_all_ <= window || have_all_come_in(next - window / 2, begun);
}

bool SegmentGroup::blocks_are_free() {
    if (!may_have_readers()) return true;
    if (!have_all_come_in(unread_call_, last_step)) return false;
    unread_blocks_ = 0;
    return true;
}

void SegmentGroup::wait_for_readers() {
    wait_for_all_in(unread_call_, last_step);
    unread_blocks_ = 0;
}

/// Waits for one step of an earlier call. Words only rise: that of a later call in the same head
/// will do, too.
void SegmentGroup::wait_for_all_in(std::uint64_t call, std::uint32_t step) const {
    for (int i = 1; i < rank_count_; ++i) wait_for_in(call, (rank_ + i) % rank_count_, step);
}

void SegmentGroup::wait_for_in(std::uint64_t call, int rank, std::uint32_t step) const {
    const SharedWord& word = head(rank, call).announced;
    const std::uint64_t value = word_value(call, step);
    if (word.load(std::memory_order_acquire) >= value) return;
    waited_in_vain_ = waited_in_vain_ || !waiter_.wait(word, value, sleepers(rank), rank);
    if (waited_in_vain_) throw WaitedInVain();
}

bool SegmentGroup::have_all_come_in(std::uint64_t call, std::uint32_t step) const {
    for (int rank = 0; rank < rank_count_; ++rank)
        if (rank != rank_ &&
            head(rank, call).announced.load(std::memory_order_acquire) < word_value(call, step))
            return false;
    return true;
}

void SegmentGroup::end_unread_blocks(std::size_t count) {
    announce(last_step);
    end_blocks(count);
    unread_call_ = call_;
    unread_blocks_ = count;
}

void SegmentGroup::leave() {
    announce(left_step);
}

bool SegmentGroup::has_left(int rank) const {
    return head(rank).announced.load(std::memory_order_acquire) == word_value(left_step);
}

/// Writes the signature, which comes with the word: others who look at the line early take it away
/// only once.
void SegmentGroup::announce(std::uint32_t step) {
    Head& mine = head(rank_);
    mine.signature.store(signature_, std::memory_order_relaxed);
    raise(mine.announced, word_value(step), sleepers(rank_));
    if (watch_ != nullptr) watch_->has_announced(step);
}

void SegmentGroup::wait_for(int rank, std::uint32_t step) const {
    if (watch_ != nullptr) watch_->waits();
    wait_for_in(call_, rank, step);
    if (watch_ != nullptr) watch_->has_waited(rank, step);
}

void SegmentGroup::wait_for_all(std::uint32_t step) {
    if (watch_ != nullptr) watch_->waits();
    wait_for_all_in(call_, step);
    if (watch_ != nullptr) watch_->has_waited(StepWatch::all_others, step);
    note_all_have_begun();
}

bool SegmentGroup::all_have_come_to(std::uint32_t step) {
    if (!have_all_come_in(call_, step)) return false;
    note_all_have_begun();
    return true;
}

bool SegmentGroup::has_come_to(int rank, std::uint32_t step) const {
    return head(rank).announced.load(std::memory_order_acquire) >= word_value(step);
}

std::vector<int> SegmentGroup::no_further_than(int rank) const {
    const auto place_of = [this](int other) {
        return head(other).announced.load(std::memory_order_acquire);
    };
    std::vector<int> ranks;
    const std::uint64_t place = place_of(rank);
    for (int other = 0; other < rank_count_; ++other)
        if (other != rank_ && place_of(other) <= place) ranks.push_back(other);
    return ranks;
}

int SegmentGroup::last() const {
    int last = (rank_ + 1) % rank_count_;
    for (int other = 0; other < rank_count_; ++other)
        if (other != rank_ && head(other).announced.load(std::memory_order_acquire) <
                                  head(last).announced.load(std::memory_order_acquire))
            last = other;
    return last;
}

bool SegmentGroup::is_alike(int rank) const {
    return head(rank).signature.load(std::memory_order_relaxed) == signature_;
}

Status SegmentGroup::check_alike() const {
    for (int rank = 0; rank < rank_count_; ++rank)
        if (!is_alike(rank)) return difference_from(rank);
    return {};
}

Status SegmentGroup::check_alike_or_leave() {
    Status status = check_alike();
    if (!status.ok()) leave();
    return status;
}

Status SegmentGroup::difference_from(int rank) const {
    const std::uint64_t theirs = head(rank).signature.load(std::memory_order_relaxed);
    if ((theirs & ~std::uint64_t{0xff}) == refusal_mark)
        return told({rank, static_cast<Code>(theirs & 0xff)});
    return {Code::invalid_argument,
            fmt::format("count, datatype or op: rank {} and rank {} of the host called with "
                        "different ones, or made different calls; all ranks must use the same",
                        rank_, rank)};
}

void SegmentGroup::copy_in(void* slot, const void* from, std::size_t size_bytes) {
    if (size_bytes >= least_chosen_bytes && stores_for(size_bytes).streaming())
        copy_streaming(slot, from, size_bytes);
    else
        copy_bytes(slot, from, size_bytes);
}

std::byte* SegmentGroup::block_slot(int rank, std::size_t block) const {
    const std::size_t slot = (first_slot_ + block) % block_slots;
    return part(rank) + blocks_offset_ + slot * block_stride_;
}

std::byte* SegmentGroup::result_slot(int rank, std::size_t block) const {
    const std::size_t slot = (first_slot_ + block) % block_slots;
    return part(rank) + blocks_offset_ + block_slots * block_stride_ + slot * result_stride_;
}

}  // namespace gradcoll
