#include "ways/one_host/host_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "comm/started_calls.hpp"
#include "observe/observe.hpp"
#include "report/snapshot.hpp"
#include "runtime/binding.hpp"
#include "settings/settings.hpp"

namespace gradcoll {
namespace {

/// Returns a number that differs for allreduces that differ.
std::uint64_t signature_of(const CallShape& shape) {
    return spread(static_cast<std::uint64_t>(shape.count)) ^ shape.kind;
}

/// Returns whether combining takes longer than copying.
bool is_costly(const Reducer& reducer, const CallShape& shape) {
    return shape.by_mpi() || reducer.together_elems > 1;
}

/// Returns such a number for other kinds of calls, which differ from allreduces and from each
/// other.
std::uint64_t signature_of(CallKind kind, const CallShape& shape, int root = 0) {
    const auto low = static_cast<std::uint64_t>(root) << 16U;
    return signature_of(shape) ^ (static_cast<std::uint64_t>(kind) + 1) << 48U ^ low;
}

/// Returns the choices with the sizes that were tuned. The memory bounds the blocks whatever was
/// tuned.
OneHostChoices tuned(OneHostChoices choices, int rank_count, const SharedMemorySizes& sizes) {
    if (sizes.flat_max_bytes > 0)
        choices.flat_max_bytes = static_cast<std::size_t>(sizes.flat_max_bytes);
    if (sizes.stream_min_bytes > 0)
        choices.stream_min_bytes = static_cast<std::size_t>(sizes.stream_min_bytes);
    if (sizes.piece_bytes == 0) return choices;
    return choices.with_blocks_of(rank_count, static_cast<std::size_t>(sizes.piece_bytes));
}

/// The shortest vector that needs blocks asks for this much, and every communicator gets it.
constexpr std::size_t least_block_bytes = 64 << 10;

/// Fresh memory takes longer than the calls of many a program: 2.5 us a page on a virtual machine,
/// 1 ms for all blocks of two ranks. Larger blocks save 75 us a MiB. So blocks grow to a byte for
/// so many that have been moved.
constexpr std::size_t moved_bytes_a_byte = 32;

/// This is the signature of the call in which ranks agree on larger blocks.
constexpr std::uint64_t growth_signature = 0x6772'6f77'0000'0000;

/// This is the signature of the call in which ranks compare what only each of them knows.
constexpr std::uint64_t common_bits_signature = 0x6269'7473'0000'0000;

std::size_t sum_of(const SegmentGroup::BlockExtents& extents) {
    std::size_t bytes = 0;
    for (const auto& extent : extents) bytes += extent.size_bytes;
    return bytes;
}

std::atomic<std::size_t> reserved_bytes{0};  // sum over all engines of the process

std::size_t most_reserved_bytes() {
    static const auto most = parse_bytes(option_text(OptionId::shm_process_bytes));
    return most.ok() ? static_cast<std::size_t>(*most) : 0;
}

}  // namespace

bool ReservedMemory::raise_to(std::size_t size_bytes) {
    if (size_bytes <= size_bytes_) return true;
    const std::size_t more = size_bytes - size_bytes_;
    std::size_t before = reserved_bytes;
    do {
        if (before + more > most_reserved_bytes()) return false;
    } while (!reserved_bytes.compare_exchange_weak(before, before + more));
    size_bytes_ = size_bytes;
    return true;
}

void ReservedMemory::lower_to(std::size_t size_bytes) {
    reserved_bytes -= size_bytes_ - size_bytes;
    size_bytes_ = size_bytes;
}

ReservedMemory::~ReservedMemory() {
    reserved_bytes -= size_bytes_;
}

OneHostChoices one_host_choices(int rank_count, const Settings& settings) {
    return tuned(OneHostChoices::fitting(rank_count, settings.shm_bytes), rank_count,
                 settings.tuning->shm);
}

/// Returns the size of the largest elements: each rank has at least one in its piece of a block.
std::size_t one_host_element_bytes(int rank_count, const Settings& settings) {
    const std::size_t block_bytes = one_host_choices(rank_count, settings).sizes.block_bytes;
    return std::min(block_bytes, least_block_bytes) / static_cast<std::size_t>(rank_count);
}

Result<std::unique_ptr<HostMemory>> HostMemory::make(const CommIdentity& comm,
                                                     const OneHostChoices& choices) {
    auto segment = SharedSegment::make(comm.private_comm(),
                                       SegmentGroup::bytes_a_rank(comm.rank_count(), choices.sizes),
                                       SegmentGroup::inline_bytes_a_rank(choices.sizes));
    if (!segment) return segment.status();
    return std::make_unique<HostMemory>(comm, std::move(segment).value(), choices);
}

HostMemory::HostMemory(const CommIdentity& comm, std::unique_ptr<SharedSegment> segment,
                       const OneHostChoices& choices)
    : segment_(std::move(segment)),
      group_(segment_->data(), comm.rank(), comm.rank_count(), choices.sizes,
             Waiter(comm.patience(), go_on, this)),
      allreduce_(group_, choices),
      reduce_(group_, allreduce_, choices),
      bcast_(group_),
      allgather_(group_),
      reduce_scatter_(group_, choices) {
    serve(comm);
    if (Trace* const trace = process_trace(); trace != nullptr) {
        steps_ = std::make_unique<StepTrace>(*trace);
        group_.be_watched_by(steps_.get());
    }
}

bool HostMemory::is_slower(CallKind kind, const CallShape& shape, int rank_count) {
    const std::uint64_t bytes = shape.size_bytes();
    const bool are_two = rank_count == 2;
    switch (kind) {
        case CallKind::allgather:
            return are_two && bytes / 2 > (32 << 10);
        case CallKind::bcast:
            return are_two ? bytes > (8 << 10) : bytes < 512 || bytes > (64 << 10);
        case CallKind::reduce:
            return !are_two && (bytes < 128 || bytes > (16 << 10));
        default:
            return false;
    }
}

Status HostMemory::run(CallKind kind, const Binding& binding, const CallShape& shape, int root) {
    kind_ = kind;
    bytes_ = shape.size_bytes();
    if (kind != CallKind::allreduce) return run_other(kind, binding, shape, root);
    if (allreduce_.uses_blocks(shape.size_bytes()))
        GRADCOLL_TRY(have_blocks(block_use_of(kind, shape, false)));
    return run_waited(
        allreduce_,
        OneHostCall{binding.input, binding.output, static_cast<std::size_t>(shape.count),
                    binding.reducer, signature_of(shape), is_costly(binding.reducer, shape)});
}

Status HostMemory::run_other(CallKind kind, const Binding& binding, const CallShape& shape,
                             int root) {
    GRADCOLL_TRY(have_blocks(block_use_of(kind, shape, false)));
    switch (kind) {
        case CallKind::barrier:
            return barrier();
        case CallKind::bcast:
            return run_waited(bcast_, bcast_call(binding, shape, root));
        case CallKind::reduce:
            return run_waited(reduce_, reduce_call(binding, shape, root));
        case CallKind::allgather:
            return allgather(binding, shape);
        default:
            return reduce_scatter(binding, shape);
    }
}

/// Counts what the others' call moves, as they do. They may first ask for larger blocks: then it is
/// this question that fails, and they have not got them.
void HostMemory::refuse(CallKind kind, const CallShape& shape, Code reason) {
    worth_after(block_use_of(kind, shape, false));
    (void)run_empty(SegmentGroup::refusal_signature(reason));
}

HostMemory::BlockUse HostMemory::block_use_of(CallKind kind, const CallShape& shape,
                                              bool is_started) const {
    const std::size_t bytes = shape.size_bytes();
    const auto piece = [&] { return bytes / static_cast<std::size_t>(group_.rank_count()); };
    const auto reduces_in_blocks = [&] {
        return is_started ? allreduce_.uses_blocks_if_started(bytes)
                          : allreduce_.uses_blocks(bytes);
    };
    switch (kind) {
        case CallKind::barrier:
            return {};
        case CallKind::bcast:
            return bcast_.uses_blocks(bytes) ? BlockUse{bytes, whole_blocks} : BlockUse();
        case CallKind::reduce:
            return reduces_in_blocks() ? BlockUse{bytes, whole_blocks} : BlockUse();
        case CallKind::allgather:
            return allgather_.uses_blocks(piece()) ? BlockUse{piece(), whole_blocks} : BlockUse();
        case CallKind::reduce_scatter_block:
        case CallKind::reduce_scatter:
            return reduce_scatter_.uses_blocks(piece()) ? BlockUse{bytes, bytes} : BlockUse();
        default:
            break;
    }
    if (!reduces_in_blocks()) return {};
    return {bytes, std::min(whole_blocks, allreduce_.wanted_block_bytes(bytes))};
}

Result<std::uint64_t> HostMemory::common_bits(std::uint64_t mine, const CallShape& shape) {
    std::uint64_t common = 0;
    GRADCOLL_TRY(run_waited(
        allreduce_, OneHostCall{&mine, &common, 1, reducer_for(ReduceOp::band, ElementType::u64),
                                common_bits_signature ^ signature_of(shape)}));
    return common;
}

Status HostMemory::have_blocks(const BlockUse& use) {
    if (use.bytes == 0) return {};
    const std::size_t worth = worth_after(use);
    return worth <= served_bytes_ ? Status() : grow_blocks(worth);
}

std::size_t HostMemory::worth_after(const BlockUse& use) {
    moved_bytes_ += use.moved_bytes;
    return std::min(use.bytes,
                    std::max(least_block_bytes, std::bit_floor(moved_bytes_ / moved_bytes_a_byte)));
}

void HostMemory::start(CallKind kind, const Binding& binding, const CallShape& shape, int root) {
    kind_ = kind;
    bytes_ = shape.size_bytes();
    const std::size_t growth_bytes = worth_after(block_use_of(kind, shape, true));
    if (kind == CallKind::bcast)
        start(bcast_call(binding, shape, root), growth_bytes);
    else if (kind == CallKind::reduce)
        start(reduce_call(binding, shape, root), growth_bytes);
    else
        start(OneHostCall{.input = binding.input,
                          .output = binding.output,
                          .count = static_cast<std::size_t>(shape.count),
                          .reducer = binding.reducer,
                          .signature = signature_of(CallKind::iallreduce, shape),
                          .parts = binding.parts},
              growth_bytes);
}

void HostMemory::start_refusal(CallKind kind, const CallShape& shape, Code reason) {
    worth_after(block_use_of(kind, shape, true));
    start(empty_call(SegmentGroup::refusal_signature(reason)), 0);
}

/// Starts the call, after the one in which ranks agree on larger blocks if `growth_bytes` want
/// them.
void HostMemory::start(const Call& call, std::size_t growth_bytes) {
    growth_ = {};
    next_call_ = call;
    slow_ = {};
    starts_too_late_ = has_dead_peer();
    if (growth_bytes > served_bytes_) growth_ = growth_for(growth_bytes);
    started_ = &start(growth_.wanted > 0 ? Call(call_of(growth_)) : next_call_);
}

Startable& HostMemory::start(const Call& call) {
    if (const auto* const reduce = std::get_if<OneHostReduceCall>(&call))
        return reduce_.start(*reduce);
    if (const auto* const bcast = std::get_if<OneHostBcastCall>(&call)) return bcast_.start(*bcast);
    return allreduce_.start(std::get<OneHostCall>(call));
}

Result<Progress> HostMemory::advance_started() {
    if (starts_too_late_) return peers_->fault();
    const bool advanced = started_->advance();
    if (advanced) slow_.goes_on();
    const auto what = [this] { return awaited_of(group_.last()); };
    if (!started_->is_over()) {
        if (advanced || !(is_broken() || slow_.is_in_vain(peers_.get(), what)))
            return advanced ? Progress::advanced : Progress::idle;
        started_->drop();
        group_.give_up();
        return death();
    }
    GRADCOLL_TRY(started_->outcome());
    if (growth_.wanted == 0) return Progress::complete;
    GRADCOLL_TRY(take_growth(std::exchange(growth_, {})));
    started_ = &start(next_call_);
    return Progress::advanced;
}

std::string HostMemory::awaited_of(int rank) const {
    std::vector<int> ranks = group_.no_further_than(rank);
    for (int& one : ranks)
        if (!in_job_.empty()) one = in_job_[static_cast<std::size_t>(one)];
    return fmt::format("for {}{} in the memory of the host: {} of {}", ranks_text(ranks),
                       in_job_.empty() ? " of the host" : "", name_of(kind_), bytes_text(bytes_));
}

void HostMemory::rest() {
    try {
        started_->wait();
    } catch (const WaitedInVain&) {
        // advance_started() says so
    }
}

OneHostCall HostMemory::empty_call(std::uint64_t signature) {
    static std::byte nothing{};
    return {&nothing, &nothing, 0, reducer_for(ReduceOp::bor, ElementType::u8), signature};
}

Status HostMemory::barrier() {
    return run_empty(signature_of(CallKind::barrier, shape_of_bytes(0)));
}

OneHostReduceCall HostMemory::reduce_call(const Binding& binding, const CallShape& shape,
                                          int root) const {
    void* const output = group_.rank() == root ? binding.output : nullptr;
    return {{binding.input, output, static_cast<std::size_t>(shape.count), shape.reducer,
             signature_of(CallKind::reduce, shape, root)},
            root};
}

OneHostBcastCall HostMemory::bcast_call(const Binding& binding, const CallShape& shape, int root) {
    return {binding.output, shape.size_bytes(), root,
            signature_of(CallKind::bcast, shape_of_bytes(shape.size_bytes()), root)};
}

Status HostMemory::allgather(const Binding& binding, const CallShape& shape) {
    const std::size_t block_bytes =
        shape.size_bytes() / static_cast<std::size_t>(group_.rank_count());
    const void* input = binding.input;
    if (input == binding.output)
        input = static_cast<const std::byte*>(input) +
                block_bytes * static_cast<std::size_t>(group_.rank());
    return run_waited(allgather_, OneHostAllgatherCall{input, binding.output, block_bytes,
                                                       signature_of(CallKind::allgather,
                                                                    shape_of_bytes(block_bytes))});
}

Status HostMemory::reduce_scatter(const Binding& binding, const CallShape& shape) {
    const auto ranks = static_cast<std::size_t>(group_.rank_count());
    return run_waited(
        reduce_scatter_,
        OneHostCall{binding.input, binding.output, static_cast<std::size_t>(shape.count) / ranks,
                    shape.reducer, signature_of(CallKind::reduce_scatter_block, shape)});
}

std::uint64_t HostMemory::state() const {
    return Hash().value(group_.state()).value(served_bytes_).value(moved_bytes_).digest();
}

/// Makes blocks larger for a call that wants more of the memory than those before. Every rank comes
/// here for the same calls, and they agree on what the poorest of them can give. After a refusal
/// nobody asks again.
Status HostMemory::grow_blocks(std::size_t bytes) {
    Growth growth = growth_for(bytes);
    GRADCOLL_TRY(run_waited(allreduce_, call_of(growth)));
    return take_growth(growth);
}

/// Rounds up to a power of two, so that slowly growing vectors do not ask every time.
HostMemory::Growth HostMemory::growth_for(std::size_t bytes) {
    const std::size_t most = group_.sizes().block_bytes;
    const std::size_t wanted =
        std::min(std::bit_ceil(std::clamp(bytes, least_block_bytes, 2 * most)), most);
    return {wanted, grant(wanted), 0};
}

OneHostCall HostMemory::call_of(Growth& growth) {
    return {&growth.mine, &growth.agreed, 1, reducer_for(ReduceOp::min, ElementType::u64),
            growth_signature ^ growth.wanted};
}

Status HostMemory::take_growth(const Growth& growth) {
    if (growth.agreed == 0)
        return {Code::out_of_memory,
                fmt::format("a rank of the host has no memory left to share: {} bytes are wanted",
                            least_bytes())};
    const bool is_last =
        growth.agreed < growth.wanted || growth.wanted == group_.sizes().block_bytes;
    group_.use_blocks_of(growth.agreed);
    granted_bytes_ = growth.agreed;
    served_bytes_ = is_last ? std::numeric_limits<std::size_t>::max() : growth.agreed;
    return {};
}

/// Returns how large blocks this rank can have, up to `wanted`, and at least as they are; 0 if it
/// lacks memory for any.
std::size_t HostMemory::grant(std::size_t wanted) {
    const std::size_t reserved_before = reserved_.size_bytes();
    const std::size_t less = granted_bytes_ > 0 ? granted_bytes_ : least_bytes();
    for (const std::size_t bytes : {wanted, less}) {
        const auto extents = group_.extents_of_blocks(bytes);
        const bool allowed = bytes == less || reserved_.raise_to(sum_of(extents));
        if (!allowed) continue;
        const Status status = allocate(extents);
        if (status.ok()) return bytes;
        reserved_.lower_to(reserved_before);
        log(LogLevel::warn, "{}", status.message());
    }
    return 0;
}

Status HostMemory::allocate(const SegmentGroup::BlockExtents& extents) {
    for (const auto& extent : extents)
        GRADCOLL_TRY(segment_->allocate(extent.offset, extent.size_bytes));
    return {};
}

/// Returns the smallest size of blocks with which vectors are still faster than through messages.
std::size_t HostMemory::least_bytes() const {
    const auto a_line_each = static_cast<std::size_t>(group_.rank_count()) * 64;
    return std::min(std::max(least_block_bytes, a_line_each), group_.sizes().block_bytes);
}

/// Asks MPI to go on, by a look for a message that nobody sends.
void HostMemory::let_mpi_go_on() const {
    int found = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, 0, private_comm_, &found, MPI_STATUS_IGNORE);
}

bool HostMemory::let_others_go_on() const {
    let_mpi_go_on();
    const bool beside = beside_ != nullptr && beside_(beside_context_);
    return advance_started_calls() || beside;
}

}  // namespace gradcoll
