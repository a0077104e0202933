#include "fuzz/nic_sums_input.hpp"

#include <cstring>
#include <span>

#include "compress/frame.hpp"
#include "nic/sum_note.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t elements = 1300;

}  // namespace

SumsInput::SumsInput() {
    members_.roster.host_of_rank = fuzzed_hosts(1);
    members_.roster.endpoints.resize(2);
    members_.by_rank.resize(fuzzed_ranks);
    members_.gone.resize(fuzzed_ranks);
    members_.here = {0};
}

void SumsInput::renew() {
    members_.by_rank[0] = new_member(0, &region_);
    entries_ = NicRingWriter(region_.layout(), NicWay::to_agent);
    posted_ = got_ = 0;
    sums_ = std::make_unique<GroupSums>(
        GroupSums::Around{members_, counters_},
        [](std::uint32_t host, const LinkFrame& frame, const SumBytes& bytes) {
            promise(host == 1, "a host that is not there");
            promise(frame.size_bytes == (bytes ? bytes->size() : 0), "another size than it has");
            promise(frame.size_bytes <= fuzzed_shape().slot_bytes, "longer than a frame");
        },
        [](std::uint32_t) { return ~std::uint64_t{0}; });
}

/// Returns a note, mostly that of the next piece of one long vector.
NicNote SumsInput::note(Random& random) const {
    NicNote made = note_of(SumKind{ReduceOp::sum, ElementType::f32}, posted_, 1000);
    if (random() % 32 == 0) made.kind = static_cast<std::uint32_t>(number(random));
    if (random() % 32 == 0) made.tag = static_cast<std::int32_t>(number(random));
    if (random() % 16 == 0) made.id = number(random);
    return made;
}

Bytes SumsInput::piece(Random& random, NicCoding& coding, bool as_it_travels) {
    coding = random() % 2 == 0 ? NicCoding::none : NicCoding::plain;
    const std::size_t header = coding == NicCoding::none ? 0 : frame_header_bytes;
    Bytes plain(header + elements * sizeof(float));
    for (std::size_t i = header; i < plain.size(); i += 4) plain[i + 3] = std::byte{0x3f};
    if (coding != NicCoding::none) {
        const Codec codec = codec_for(CodecId::int8, ElementType::f32).value();
        write_plain_header(codec, elements, plain.data());
        if (as_it_travels) {
            const auto coded = coder_.encode(plain, coding);
            promise(coded.ok(), "a frame that is right");
            plain.assign(coded->begin(), coded->end());
        }
    }
    if (random() % 4 == 0) mutate(plain, random);
    if (random() % 64 == 0) coding = static_cast<NicCoding>(random() % nic_coding_count);
    return plain;
}

/// Gives the agent a piece. The rank's memory is not refilled: longer pieces have bytes of earlier
/// ones.
bool SumsInput::hand_in(Random& random) {
    NicEntry entry;
    const Bytes bytes = piece(random, entry.coding, false);
    entry.peer = 0;
    entry.note = note(random);
    entry.number = random() % 64 == 0 ? number(random) : posted_ + 1;
    entry.size_bytes = random() % 64 == 0 ? number(random) : bytes.size();
    if (!bytes.empty())
        std::memcpy(region_.layout().slot(NicSlots::leaving, 0, entry.number), bytes.data(),
                    bytes.size());
    entries_.write(entry);
    const auto taken = members_.by_rank[0]->take_entry();
    if (!taken.ok()) {
        sums_ = nullptr;  // the rank has lost its place
        return false;
    }
    ++posted_;
    sums_->work();
    return true;
}

bool SumsInput::bring(Random& random) {
    LinkFrame frame;
    frame.kind = random() % 64 == 0  ? FrameKind::no_sums
                 : random() % 2 == 0 ? FrameKind::part
                                     : FrameKind::total;
    const Bytes bytes = piece(random, frame.coding, true);
    frame.source = 1;
    frame.target = 0;
    frame.number = random() % 32 == 0 ? number(random) : got_ + random() % 4;
    frame.note = note(random);
    frame.note.id = random() % 8 == 0 ? number(random) : frame.number - 1;
    frame.size_bytes = static_cast<std::uint32_t>(bytes.size());
    return sums_->take(frame, bytes).ok();
}

void SumsInput::run(Random& random, Outcome& outcome) {
    if (sums_ == nullptr || sums_->has_ended()) renew();
    ++outcome.inputs;
    const bool taken = random() % 2 == 0 ? hand_in(random) : bring(random);
    const NicMember::Pair& pair = members_.by_rank[0]->pair(0);
    promise(pair.received == pair.delivered, "a sum in one place and not in the other");
    promise(pair.received <= pair.posted, "a sum of what nobody has handed in");
    promise(pair.received <= pair.consumed + fuzzed_shape().slots, "more sums than slots");
    got_ = pair.received;
    if (taken && sums_ != nullptr && !sums_->has_ended()) ++outcome.taken;
}

}  // namespace gradcoll
