#include "api/comm/one_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "api/comm/route.hpp"
#include "api/comm/started_calls.hpp"
#include "api/observe/observe.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/units.hpp"
#include "collectives/predict/forecast.hpp"
#include "runtime/binding.hpp"
#include "runtime/one_host/allgather.hpp"
#include "runtime/one_host/allreduce.hpp"
#include "runtime/one_host/bcast.hpp"
#include "runtime/one_host/reduce.hpp"
#include "runtime/one_host/reduce_scatter.hpp"
#include "transport/shm/segment.hpp"

namespace gradcoll {
namespace {

/// Differs for calls that differ: multiplied by odd numbers, so that no two counts are alike.
std::uint64_t signature_of(const CallShape& shape) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
    return (static_cast<std::uint64_t>(shape.count) * odd) ^ shape.kind;
}

/// The same for other kinds of calls, which differ from allreduces and from each other.
std::uint64_t signature_of(CallKind kind, const CallShape& shape, int root = 0) {
    const auto low = static_cast<std::uint64_t>(root) << 16U;
    return signature_of(shape) ^ (static_cast<std::uint64_t>(kind) + 1) << 48U ^ low;
}

/// What moves without being reduced, by its bytes: ranks may describe them in other ways.
CallShape shape_of_bytes(std::size_t size_bytes) {
    return {static_cast<std::int64_t>(size_bytes), ElementType::u8, 1, ReduceOp::bor, {}};
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

OneHostChoices choices_for(int rank_count, const Settings& settings) {
    return tuned(OneHostChoices::fitting(rank_count, settings.shm_bytes), rank_count,
                 settings.tuning->shm);
}

/// That are allocated for the shortest vector that needs any.
constexpr std::size_t least_block_bytes = 64 << 10;

/// One call in the trace, with its prediction (0: there is none).
void add_span(Trace& trace, CallKind kind, double predicted_us, std::uint64_t begin_ns,
              const CallShape& shape) {
    const std::uint64_t bytes = shape.size_bytes();
    const std::string name = fmt::format(
        "{} {} {} shared memory", name_of(kind),
        bytes < 1024 ? fmt::format("{} B", bytes) : bytes_text(bytes), name_of(shape.type));
    trace.add_overlapping({.name = "operation",
                           .begin_ns = begin_ns,
                           .end_ns = now_ns(),
                           .bytes = bytes,
                           .label = trace.label(name, predicted_us)});
}

}  // namespace

/// The shared memory and the collectives in it. While it waits, messages of the MPI library and
/// operations that are started make progress.
class OneHostEngine {
  public:
    /// Collective. Errors, the same on every rank: those of SharedSegment.
    static Result<std::unique_ptr<OneHostEngine>> make(const CommIdentity& comm,
                                                       const Settings& settings) {
        const OneHostChoices choices = choices_for(comm.rank_count(), settings);
        auto segment = SharedSegment::make(
            comm.private_comm(), SegmentGroup::bytes_a_rank(comm.rank_count(), choices.sizes),
            SegmentGroup::inline_bytes_a_rank(choices.sizes));
        if (!segment) return segment.status();
        return std::make_unique<OneHostEngine>(comm, std::move(segment).value(), choices);
    }

    OneHostEngine(const CommIdentity& comm, std::unique_ptr<SharedSegment> segment,
                  const OneHostChoices& choices)
        : comm_(comm.private_comm()),
          segment_(std::move(segment)),
          group_(segment_->data(), comm.rank(), comm.rank_count(), choices.sizes,
                 Waiter(comm.yields(), go_on, this)),
          allreduce_(group_, choices),
          reduce_(group_, allreduce_, choices),
          bcast_(group_),
          allgather_(group_),
          reduce_scatter_(group_, choices) {}
    OneHostEngine(const OneHostEngine&) = delete;
    OneHostEngine& operator=(const OneHostEngine&) = delete;

    Status allreduce(const Binding& binding, const CallShape& shape) {
        return allreduce_.run({binding.input, binding.output, static_cast<std::size_t>(shape.count),
                               binding.reducer, signature_for(shape), shape.by_mpi()});
    }

    /// An allreduce of nothing.
    Status barrier() {
        std::byte nothing{};
        return allreduce_.run({&nothing, &nothing, 0, reducer_for(ReduceOp::bor, ElementType::u8),
                               signature_of(CallKind::barrier, shape_of_bytes(0))});
    }

    /// Only the root's memory is used.
    Status bcast(void* data, std::size_t size_bytes, int root) {
        std::uint64_t signature = signature_of(CallKind::bcast, shape_of_bytes(size_bytes), root);
        if (root == group_.rank() && bcast_.uses_blocks(size_bytes))
            signature = with_blocks_of(whole_blocks, signature);
        return bcast_.run({data, size_bytes, root, signature});
    }

    Status reduce(const Binding& binding, const CallShape& shape, int root) {
        std::uint64_t signature = signature_of(CallKind::reduce, shape, root);
        if (allreduce_.uses_blocks(shape.size_bytes()))
            signature = with_blocks_of(whole_blocks, signature);
        return reduce_.run({{binding.input, binding.output, static_cast<std::size_t>(shape.count),
                             shape.reducer, signature},
                            root});
    }

    Status allgather(const Binding& binding, std::size_t block_bytes) {
        std::uint64_t signature = signature_of(CallKind::allgather, shape_of_bytes(block_bytes));
        if (allgather_.uses_blocks(block_bytes))
            signature = with_blocks_of(whole_blocks, signature);
        const void* input = binding.input;
        if (input == binding.output)
            input = static_cast<const std::byte*>(input) +
                    block_bytes * static_cast<std::size_t>(group_.rank());
        return allgather_.run({input, binding.output, block_bytes, signature});
    }

    /// `shape`: of all blocks.
    Status reduce_scatter(const Binding& binding, const CallShape& shape) {
        const auto ranks = static_cast<std::size_t>(group_.rank_count());
        std::uint64_t signature = signature_of(CallKind::reduce_scatter_block, shape);
        if (reduce_scatter_.uses_blocks(shape.size_bytes() / ranks))
            signature = with_blocks_of(shape.size_bytes(), signature);
        return reduce_scatter_.run({binding.input, binding.output,
                                    static_cast<std::size_t>(shape.count) / ranks, shape.reducer,
                                    signature});
    }

  private:
    /// Of calls whose pieces go through all of the blocks (SegmentGroup::piece_slot).
    static constexpr std::size_t whole_blocks = std::numeric_limits<std::size_t>::max() / 2;

    std::uint64_t signature_for(const CallShape& shape) {
        const std::size_t bytes = shape.size_bytes();
        if (bytes <= allocated_block_bytes_ || !allreduce_.uses_blocks(bytes))
            return signature_of(shape);
        return with_blocks_of(bytes, signature_of(shape));
    }

    /// Longer vectors than before take more of the memory. Ranks that made different calls still
    /// meet: nobody waits here.
    std::uint64_t with_blocks_of(std::size_t bytes, std::uint64_t signature) {
        if (bytes <= allocated_block_bytes_) return signature;
        const Status status = allocate_blocks(bytes);
        if (status.ok()) return signature;
        log(LogLevel::warn, "{}", status.message());
        return SegmentGroup::lacks_memory;
    }

    Status allocate_blocks(std::size_t bytes) {
        // By powers of two, so that slowly growing vectors do not ask every time.
        const std::size_t wanted = std::bit_ceil(std::max(bytes, least_block_bytes));
        for (const auto& extent : group_.extents_of_blocks(wanted))
            GRADCOLL_TRY(segment_->allocate(extent.offset, extent.size_bytes));
        const bool all = wanted >= group_.sizes().block_bytes;
        allocated_block_bytes_ = all ? std::numeric_limits<std::size_t>::max() : wanted;
        return {};
    }

    /// A look for a message that nobody sends is how MPI is asked to go on.
    static bool go_on(void* engine) {
        int found = 0;
        PMPI_Iprobe(MPI_ANY_SOURCE, 0, static_cast<OneHostEngine*>(engine)->comm_, &found,
                    MPI_STATUS_IGNORE);
        return any_started_calls() && advance_started_calls();
    }

    MPI_Comm comm_;
    std::unique_ptr<SharedSegment> segment_;
    SegmentGroup group_;
    OneHostAllreduce allreduce_;
    OneHostReduce reduce_;
    OneHostBcast bcast_;
    OneHostAllgather allgather_;
    OneHostReduceScatter reduce_scatter_;
    std::size_t allocated_block_bytes_ = 0;  ///< vectors of so many bytes have all they need
};

/// Each rank has at least one in its piece of a block.
std::size_t OneHost::most_element_bytes(int rank_count, const Settings& settings) {
    const std::size_t block_bytes = choices_for(rank_count, settings).sizes.block_bytes;
    return std::min(block_bytes, least_block_bytes) / static_cast<std::size_t>(rank_count);
}

OneHost::OneHost(const CommIdentity& comm, const CommSettings& settings, CommStatistics& statistics)
    : comm_(comm), settings_(settings), statistics_(statistics) {}

OneHost::~OneHost() = default;

void OneHost::settings_changed() {
    engine_.reset();
    may_open_ = comm_.is_one_host() && allows_one_host(settings_.text(), settings_.current());
    most_element_bytes_ =
        may_open_ ? most_element_bytes(comm_.rank_count(), settings_.current()) : 0;
}

bool OneHost::open() {
    if (engine_ != nullptr || !may_open_) return may_open_;
    auto engine = OneHostEngine::make(comm_, settings_.current());
    if (engine) {
        engine_ = std::move(engine).value();
        return true;
    }
    may_open_ = false;
    log(comm_.rank() == 0 ? LogLevel::warn : LogLevel::debug,
        "ranks of communicator '{}' cannot share memory and use messages instead: {}", comm_.name(),
        engine.status().message());
    return false;
}

void OneHost::trace(const Binding& binding, const CallShape& shape, std::uint64_t begin_ns) const {
    Trace* const trace = process_trace();
    if (trace == nullptr) return;
    const Forecast forecast = forecast_shared_memory(
        *settings_.current().tuning, comm_.rank_count(),
        static_cast<std::int64_t>(shape.size_bytes()), binding.input == binding.output);
    add_span(*trace, CallKind::allreduce, forecast.total_us, begin_ns, shape);
}

Status OneHost::allreduce(const Binding& binding, const CallShape& shape) {
    const std::uint64_t begin_ns = observing_calls() ? now_ns() : 0;
    Status status = engine_->allreduce(binding, shape);
    if (begin_ns != 0) trace(binding, shape, begin_ns);
    if (!status.ok()) return status;
    CallRecord record;
    if (begin_ns != 0) record.total_ns = now_ns() - begin_ns;
    record.kind = CallKind::allreduce;
    record.shared_memory = true;
    record.bytes = record.bytes_sent = record.bytes_sent_exact = shape.size_bytes();
    statistics_.count_served(record);
    return {};
}

template <class Run>
Status OneHost::counted(CallKind kind, const CallShape& shape, std::uint64_t bytes_sent,
                        Run&& run) {
    CallRecord record;
    const std::uint64_t begin_ns = observing_calls() ? now_ns() : 0;
    GRADCOLL_TRY(run());
    if (begin_ns != 0) {
        record.total_ns = now_ns() - begin_ns;
        if (Trace* const trace = process_trace(); trace != nullptr)
            add_span(*trace, kind, 0, begin_ns, shape);
    }
    record.kind = kind;
    record.shared_memory = true;
    record.bytes = shape.size_bytes();
    record.bytes_sent = record.bytes_sent_exact = bytes_sent;
    statistics_.count_served(record);
    return {};
}

Status OneHost::barrier() {
    return counted(CallKind::barrier, shape_of_bytes(0), 0, [&] { return engine_->barrier(); });
}

Status OneHost::bcast(void* data, std::size_t size_bytes, int root) {
    return counted(CallKind::bcast, shape_of_bytes(size_bytes),
                   root == comm_.rank() ? size_bytes : 0,
                   [&] { return engine_->bcast(data, size_bytes, root); });
}

Status OneHost::reduce(const Binding& binding, const CallShape& shape, int root) {
    return counted(CallKind::reduce, shape, root == comm_.rank() ? 0 : shape.size_bytes(),
                   [&] { return engine_->reduce(binding, shape, root); });
}

Status OneHost::allgather(const Binding& binding, std::size_t block_bytes) {
    const auto ranks = static_cast<std::size_t>(comm_.rank_count());
    return counted(CallKind::allgather, shape_of_bytes(block_bytes * ranks), block_bytes,
                   [&] { return engine_->allgather(binding, block_bytes); });
}

Status OneHost::reduce_scatter(CallKind kind, const Binding& binding, const CallShape& shape) {
    return counted(kind, shape, shape.size_bytes(),
                   [&] { return engine_->reduce_scatter(binding, shape); });
}

}  // namespace gradcoll
