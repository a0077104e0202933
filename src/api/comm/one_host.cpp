#include "api/comm/one_host.hpp"

#include "api/comm/started_calls.hpp"

namespace gradcoll {
namespace {

/// Differs for calls that differ: multiplied by odd numbers, so that no two counts are alike.
std::uint64_t signature_of(const CallShape& shape) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
    const std::uint64_t kind =
        static_cast<std::uint64_t>(shape.type) << 8U | static_cast<std::uint64_t>(shape.op);
    return (static_cast<std::uint64_t>(shape.count) * odd) ^ kind;
}

/// The memory bounds the blocks whatever was tuned.
HostChoices tuned(HostChoices choices, int rank_count, const SharedMemorySizes& sizes) {
    if (sizes.flat_max_bytes > 0)
        choices.flat_max_bytes = static_cast<std::size_t>(sizes.flat_max_bytes);
    if (sizes.stream_min_bytes > 0)
        choices.stream_min_bytes = static_cast<std::size_t>(sizes.stream_min_bytes);
    if (sizes.piece_bytes == 0) return choices;
    return choices.with_blocks_of(rank_count, static_cast<std::size_t>(sizes.piece_bytes));
}

}  // namespace

Result<std::unique_ptr<HostEngine>> HostEngine::make(const HostEngineFacts& facts) {
    int rank = 0;
    int rank_count = 1;
    PMPI_Comm_rank(facts.comm, &rank);
    PMPI_Comm_size(facts.comm, &rank_count);
    const HostChoices choices =
        tuned(HostChoices::fitting(rank_count, facts.bytes_a_rank), rank_count, facts.sizes);
    auto segment =
        SharedSegment::make(facts.comm, HostGroup::bytes_a_rank(rank_count, choices.sizes));
    if (!segment) return segment.status();
    return std::unique_ptr<HostEngine>(
        new HostEngine(facts, std::move(segment).value(), rank, rank_count, choices));
}

HostEngine::HostEngine(const HostEngineFacts& facts, std::unique_ptr<SharedSegment> segment,
                       int rank, int rank_count, const HostChoices& choices)
    : comm_(facts.comm),
      segment_(std::move(segment)),
      group_(segment_->data(), rank, rank_count, choices.sizes,
             Waiter(facts.outnumbered, go_on, this)),
      allreduce_(group_, choices) {}

/// A look for a message that nobody sends is how MPI is asked to go on.
bool HostEngine::go_on(void* engine) {
    int found = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, 0, static_cast<HostEngine*>(engine)->comm_, &found,
                MPI_STATUS_IGNORE);
    return any_started_calls() && advance_started_calls();
}

Status HostEngine::allreduce(const Binding& binding, const CallShape& shape) {
    return allreduce_.run({binding.input, binding.output, static_cast<std::size_t>(shape.count),
                           shape.reducer, signature_of(shape)});
}

}  // namespace gradcoll
