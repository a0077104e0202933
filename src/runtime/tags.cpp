#include "runtime/tags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace gradcoll {
namespace {

constexpr int most_chunk_bits = 4;
static_assert(1 << most_chunk_bits == max_chunks_in_flight);
constexpr int least_chunk_bits = 2;  // as many chunks as are usually in flight
constexpr int least_sequence_bits = 6;
constexpr int least_stage_bits = 7;
constexpr int most_stage_bits = 16;
constexpr int guaranteed_tag_limit = 32767;  // MPI 3.1, 8.1.2
static_assert(1 << (least_sequence_bits + least_chunk_bits + least_stage_bits) ==
              guaranteed_tag_limit + 1);

}  // namespace

TagLayout::TagLayout(int tag_bits) {
    chunk_bits_ = std::clamp(tag_bits - least_sequence_bits - least_stage_bits, least_chunk_bits,
                             most_chunk_bits);
    const int rest = tag_bits - chunk_bits_;
    sequence_bits_ = std::max(least_sequence_bits, rest * 2 / 5);
    stage_bits_ = std::min(rest - sequence_bits_, most_stage_bits);
    sequence_bits_ = rest - stage_bits_;
}

Result<TagLayout> TagLayout::make(int tag_limit, std::uint32_t stage_count) {
    if (tag_limit < guaranteed_tag_limit)
        return Status(Code::unsupported,
                      fmt::format("tag limit of the channel: {}; at least {} is needed", tag_limit,
                                  guaranteed_tag_limit));
    const TagLayout layout(
        static_cast<int>(std::bit_width(static_cast<std::uint32_t>(tag_limit) + 1)) - 1);
    if (stage_count > layout.stage_count())
        return Status(Code::unsupported,
                      fmt::format("plan with {} message stages: tags up to {} have room for {}",
                                  stage_count, tag_limit, layout.stage_count()));
    return layout;
}

int TagLayout::base(std::uint32_t sequence, std::int64_t chunk) const {
    const std::uint32_t operation = sequence % sequence_count();
    const auto lane = static_cast<std::uint32_t>(chunk % chunk_count());
    return static_cast<int>((operation << chunk_bits_ | lane) << stage_bits_);
}

}  // namespace gradcoll
