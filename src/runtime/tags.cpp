#include "runtime/tags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace gradcoll {
namespace {

constexpr int chunk_bits = 4;
static_assert(1 << chunk_bits == max_chunks_in_flight);
constexpr int max_stage_bits = 16;
constexpr int guaranteed_tag_limit = 32767;  // MPI 3.1, 8.1.2

}  // namespace

TagLayout::TagLayout(int tag_bits)
    : sequence_bits_((tag_bits - chunk_bits) * 2 / 5),
      stage_bits_(tag_bits - chunk_bits - sequence_bits_) {
    const int spare = std::max(0, stage_bits_ - max_stage_bits);
    stage_bits_ -= spare;
    sequence_bits_ += spare;
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
    const auto lane = static_cast<std::uint32_t>(chunk % max_chunks_in_flight);
    return static_cast<int>((operation << chunk_bits | lane) << stage_bits_);
}

}  // namespace gradcoll
