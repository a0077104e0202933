#include "transport/shm/layout.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/round.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t line_bytes = 64;
constexpr std::size_t least_cell_bytes = 256;
constexpr int few_ranks = 32;

/// Returns the number of slots. With a Feedback a pair has 1 KiB among few ranks and 256 bytes
/// among many.
int slots_among(int rank_count) {
    return rank_count <= few_ranks ? 15 : 3;
}

std::size_t cells_offset_among(int rank_count) {
    const auto pair =
        sizeof(Feedback) + sizeof(Record) * static_cast<std::size_t>(slots_among(rank_count));
    return rounded_up(sizeof(PartHeader) + pair * static_cast<std::size_t>(rank_count), page_bytes);
}

}  // namespace

MessageNote RecordBody::note() const {
    MessageNote note;
    std::memcpy(&note, payload.data(), sizeof note);
    return note;
}

RecordBody RecordBody::of(RecordKind kind, std::int32_t tag, const MessageNote& note) {
    RecordBody body;
    body.kind = kind;
    body.tag = tag;
    std::memcpy(body.payload.data(), &note, sizeof note);
    return body;
}

std::size_t ShmLayout::bytes_a_rank_for(int rank_count, std::size_t cells_bytes) {
    return cells_offset_among(rank_count) + rounded_up(cells_bytes, page_bytes);
}

Result<ShmLayout> ShmLayout::make(std::byte* memory, int rank_count, std::size_t bytes_a_rank) {
    const std::size_t offset = cells_offset_among(rank_count);
    const std::size_t least = offset + cell_count * least_cell_bytes;
    if (bytes_a_rank < least)
        return Status(Code::invalid_argument,
                      fmt::format("bytes_a_rank: {}; {} ranks need {} at least", bytes_a_rank,
                                  rank_count, least));
    ShmLayout layout;
    layout.memory_ = memory;
    layout.rank_count_ = rank_count;
    layout.slots_ = slots_among(rank_count);
    layout.bytes_a_rank_ = bytes_a_rank;
    layout.cells_offset_ = offset;
    layout.cell_bytes_ = (bytes_a_rank - offset) / cell_count / line_bytes * line_bytes;
    return layout;
}

PartHeader& ShmLayout::header(int of) const {
    return *reinterpret_cast<PartHeader*>(part(of));
}

Feedback& ShmLayout::feedback(int of, int about) const {
    return reinterpret_cast<Feedback*>(part(of) + sizeof(PartHeader))[about];
}

Record* ShmLayout::outbox(int of, int to) const {
    const auto ranks = static_cast<std::size_t>(rank_count_);
    auto* records =
        reinterpret_cast<Record*>(part(of) + sizeof(PartHeader) + ranks * sizeof(Feedback));
    return records + static_cast<std::size_t>(to) * static_cast<std::size_t>(slots_);
}

std::byte* ShmLayout::cell(int of, int index) const {
    return part(of) + cells_offset_ + cell_bytes_ * static_cast<std::size_t>(index);
}

}  // namespace gradcoll
