#include "api/comm/one_host_engine.hpp"

#include <algorithm>
#include <bit>

#include "api/comm/started_calls.hpp"
#include "api/settings/settings.hpp"
#include "base/log.hpp"
#include "report/snapshot.hpp"
#include "runtime/binding.hpp"

namespace gradcoll {
namespace {

/// Multiplied by it no two numbers are alike.
constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;

/// Differs for calls that differ.
std::uint64_t signature_of(const CallShape& shape) {
    return (static_cast<std::uint64_t>(shape.count) * odd) ^ shape.kind;
}

/// The same for other kinds of calls, which differ from allreduces and from each other.
std::uint64_t signature_of(CallKind kind, const CallShape& shape, int root = 0) {
    const auto low = static_cast<std::uint64_t>(root) << 16U;
    return signature_of(shape) ^ (static_cast<std::uint64_t>(kind) + 1) << 48U ^ low;
}

/// The memory bounds the blocks whatever was tuned.
OneHostChoices tuned(OneHostChoices choices, int rank_count, const SharedMemorySizes& sizes) {
    if (sizes.flat_max_bytes > 0)
        choices.flat_max_bytes = static_cast<std::size_t>(sizes.flat_max_bytes);
    if (sizes.stream_min_bytes > 0)
        choices.stream_min_bytes = static_cast<std::size_t>(sizes.stream_min_bytes);
    if (sizes.piece_bytes == 0) return choices;
    return choices.with_blocks_of(rank_count, static_cast<std::size_t>(sizes.piece_bytes));
}

/// That are allocated for the shortest vector that needs any.
constexpr std::size_t least_block_bytes = 64 << 10;

}  // namespace

OneHostChoices one_host_choices(int rank_count, const Settings& settings) {
    return tuned(OneHostChoices::fitting(rank_count, settings.shm_bytes), rank_count,
                 settings.tuning->shm);
}

/// Each rank has at least one in its piece of a block.
std::size_t one_host_element_bytes(int rank_count, const Settings& settings) {
    const std::size_t block_bytes = one_host_choices(rank_count, settings).sizes.block_bytes;
    return std::min(block_bytes, least_block_bytes) / static_cast<std::size_t>(rank_count);
}

Result<std::unique_ptr<OneHostEngine>> OneHostEngine::make(const CommIdentity& comm,
                                                           const OneHostChoices& choices) {
    auto segment = SharedSegment::make(comm.private_comm(),
                                       SegmentGroup::bytes_a_rank(comm.rank_count(), choices.sizes),
                                       SegmentGroup::inline_bytes_a_rank(choices.sizes));
    if (!segment) return segment.status();
    return std::make_unique<OneHostEngine>(comm, std::move(segment).value(), choices);
}

OneHostEngine::OneHostEngine(const CommIdentity& comm, std::unique_ptr<SharedSegment> segment,
                             const OneHostChoices& choices)
    : segment_(std::move(segment)),
      group_(segment_->data(), comm.rank(), comm.rank_count(), choices.sizes,
             Waiter(comm.yields(), go_on, this)),
      allreduce_(group_, choices),
      reduce_(group_, allreduce_, choices),
      bcast_(group_),
      allgather_(group_),
      reduce_scatter_(group_, choices) {}

Status OneHostEngine::allreduce(const EngineComm& comm, const Binding& binding,
                                const CallShape& shape) {
    std::uint64_t signature = begin(comm, signature_of(shape));
    const std::size_t bytes = shape.size_bytes();
    if (allreduce_.uses_blocks(bytes)) signature = with_blocks_of(bytes, signature);
    return allreduce_.run({binding.input, binding.output, static_cast<std::size_t>(shape.count),
                           binding.reducer, signature, shape.by_mpi()});
}

/// An allreduce of nothing.
Status OneHostEngine::barrier(const EngineComm& comm) {
    std::byte nothing{};
    return allreduce_.run({&nothing, &nothing, 0, reducer_for(ReduceOp::bor, ElementType::u8),
                           begin(comm, signature_of(CallKind::barrier, shape_of_bytes(0)))});
}

Status OneHostEngine::bcast(const EngineComm& comm, void* data, std::size_t size_bytes, int root) {
    std::uint64_t signature =
        begin(comm, signature_of(CallKind::bcast, shape_of_bytes(size_bytes), root));
    if (root == group_.rank() && bcast_.uses_blocks(size_bytes))
        signature = with_blocks_of(whole_blocks, signature);
    return bcast_.run({data, size_bytes, root, signature});
}

Status OneHostEngine::reduce(const EngineComm& comm, const Binding& binding, const CallShape& shape,
                             int root) {
    std::uint64_t signature = begin(comm, signature_of(CallKind::reduce, shape, root));
    if (allreduce_.uses_blocks(shape.size_bytes()))
        signature = with_blocks_of(whole_blocks, signature);
    return reduce_.run({{binding.input, binding.output, static_cast<std::size_t>(shape.count),
                         shape.reducer, signature},
                        root});
}

Status OneHostEngine::allgather(const EngineComm& comm, const Binding& binding,
                                std::size_t block_bytes) {
    std::uint64_t signature =
        begin(comm, signature_of(CallKind::allgather, shape_of_bytes(block_bytes)));
    if (allgather_.uses_blocks(block_bytes)) signature = with_blocks_of(whole_blocks, signature);
    const void* input = binding.input;
    if (input == binding.output)
        input = static_cast<const std::byte*>(input) +
                block_bytes * static_cast<std::size_t>(group_.rank());
    return allgather_.run({input, binding.output, block_bytes, signature});
}

Status OneHostEngine::reduce_scatter(const EngineComm& comm, const Binding& binding,
                                     const CallShape& shape) {
    const auto ranks = static_cast<std::size_t>(group_.rank_count());
    std::uint64_t signature = begin(comm, signature_of(CallKind::reduce_scatter_block, shape));
    if (reduce_scatter_.uses_blocks(shape.size_bytes() / ranks))
        signature = with_blocks_of(shape.size_bytes(), signature);
    return reduce_scatter_.run({binding.input, binding.output,
                                static_cast<std::size_t>(shape.count) / ranks, shape.reducer,
                                signature});
}

/// The signature of the call on that communicator.
std::uint64_t OneHostEngine::begin(const EngineComm& comm, std::uint64_t signature) {
    private_comm_ = comm.private_comm;
    return signature ^ comm.number * odd << 8U;
}

/// Longer vectors than before take more of the memory. Ranks that made different calls still meet:
/// nobody waits here.
std::uint64_t OneHostEngine::with_blocks_of(std::size_t bytes, std::uint64_t signature) {
    if (bytes <= allocated_block_bytes_) return signature;
    const Status status = allocate_blocks(bytes);
    if (status.ok()) return signature;
    log(LogLevel::warn, "{}", status.message());
    return SegmentGroup::lacks_memory;
}

Status OneHostEngine::allocate_blocks(std::size_t bytes) {
    // By powers of two, so that slowly growing vectors do not ask every time.
    const std::size_t wanted = std::bit_ceil(std::max(bytes, least_block_bytes));
    for (const auto& extent : group_.extents_of_blocks(wanted))
        GRADCOLL_TRY(segment_->allocate(extent.offset, extent.size_bytes));
    const bool all = wanted >= group_.sizes().block_bytes;
    allocated_block_bytes_ = all ? std::numeric_limits<std::size_t>::max() : wanted;
    return {};
}

/// A look for a message that nobody sends is how MPI is asked to go on.
bool OneHostEngine::go_on(void* engine) {
    int found = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, 0, static_cast<OneHostEngine*>(engine)->private_comm_, &found,
                MPI_STATUS_IGNORE);
    return any_started_calls() && advance_started_calls();
}

}  // namespace gradcoll
