#include "call/call.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "attach/attachments.hpp"
#include "attach/offered_comm.hpp"
#include "call/anywhere/integer_reduction.hpp"
#include "call/call_kinds.hpp"
#include "call/device_allreduce.hpp"
#include "call/residual_handle.hpp"
#include "comm/unused_codec.hpp"
#include "mpi/mpi_reach.hpp"
#include "mpi/signature.hpp"
#include "ways/route.hpp"

namespace gradcoll {
namespace {

/// The MPI library's blocking allreduce refuses a null buffer if this is set; else it crashes.
#ifdef OPEN_MPI
constexpr bool mpi_refuses_null_buffers = false;
#else
constexpr bool mpi_refuses_null_buffers = true;
#endif

Status check_residual(const GC_Residual_s* residual, const CallShape& shape, MPI_Comm comm) {
    if (residual == nullptr)
        return {Code::invalid_argument,
                "residual is GC_RESIDUAL_NULL; calls without _residual do without one"};
    if (!is_floating(shape.type))
        return {Code::invalid_type,
                fmt::format("datatype is {}; a residual goes with floating-point types",
                            name_of(shape.type))};
    if (!shape.sums())
        return {Code::invalid_op,
                fmt::format("op is {}; a residual goes with MPI_SUM", name_of(shape.op))};
    if (residual->context->identity().user_comm() != comm)
        return {Code::invalid_argument, "residual was made on another communicator"};
    return {};
}

Status cannot_pass_with_residual(PassReason reason) {
    return {Code::invalid_type, fmt::format("with a residual, {}", text_of(reason))};
}

/// Admission takes a call through the steps of admit(); each step relies on those before it.
class Admission {
  public:
    Admission(Call& call, Status complaint) : call_(call), complaint_(std::move(complaint)) {}
    void run() {
        check();
        if (entry().with_residual) check_residual();
        find_context();
        if (call_.context != nullptr && call_.context->identity().has_dead_rank()) {
            call_.context->leave();
            call_.error = call_.context->identity().death();
            return;
        }
        if (moves_data(kind()) || !call_.shape.is_lasting) check_committed();
        compare_claims();
        if (call_.error.ok()) check_anywhere();
        if (call_.error.ok()) decide();
    }

  private:
    const Entry& entry() const { return *call_.entry; }
    CallKind kind() const { return entry().kind; }
    /// Returns whether ranks compare claims on communicators that have the settings of the process.
    bool is_compared() const {
        return entry().may_wait() && process_settings().check == CheckLevel::collective;
    }
    bool gathers() const { return gradcoll::gathers(kind()); }
    /// Returns whether the call adds and may go over a tree, so that the settings of sums hold.
    bool sums_over_tree() const {
        return has(kind(), CallTrait::reduces) && !has(kind(), CallTrait::only_one_host);
    }
    bool may_go_over_one_host() const {
        return kind() == CallKind::allreduce && !entry().with_residual &&
               (!entry().offered || one_host_is_allowed());
    }

    void check();
    void pass_by_size();
    Status check_memory(int blocks);
    void spread(BufferPair& buffers) const;
    Status settle_overlap(const BufferPair& buffers);
    void check_residual();
    void find_context();
    void find_context_of_offer(bool may_attach);
    void tell_of_codec() const;
    void check_committed();
    Status mark();
    void compare_claims();
    bool is_anywhere() const;
    bool is_anywhere_of_floats() const {
        return is_anywhere() && shape_reason_ == PassReason::none && !call_.shape.by_mpi() &&
               is_floating(call_.shape.type);
    }
    void check_anywhere();
    void settle_anywhere();
    bool is_about_own_buffers() const;
    bool is_kept() const;
    void keep();
    PassReason way_out() const;
    PassReason way_out_of_tree() const;
    void decide();
    void refuse();
    void find_way();
    Status copy_input();

    Call& call_;
    Status complaint_;  ///< about this rank's arguments
    PassReason complaint_reason_ = PassReason::wrong_arguments;
    PassReason shape_reason_ = PassReason::none;
    PassReason comm_reason_ = PassReason::none;
    PassReason aliased_ = PassReason::none;
    std::size_t copied_bytes_ = 0;  ///< size of an input that overlaps the output
};

/// Checks the arguments, classifies the call and locates its buffers. On intercommunicators blocks
/// are counted otherwise, and roots mean something else: calls there pass, and the MPI library
/// checks their arguments.
void Admission::check() {
    const bool has_root = has(kind(), CallTrait::from_root | CallTrait::to_root);
    if (has_root && rank_count_of(call_.arguments.comm) == 0) {
        shape_reason_ = PassReason::intercommunicator;
        return;
    }
    if (complaint_.ok()) complaint_ = check_handles(kind(), call_.arguments);
    if (!complaint_.ok()) return;
    const bool in_blocks = has(kind(), CallTrait::in_blocks);
    const int blocks = in_blocks ? rank_count_of(call_.arguments.comm) : 1;
    complaint_ = check_block_count(call_.arguments.count, blocks);
    if (!complaint_.ok()) return;
    Classified classified = classify(kind(), call_.arguments, blocks);
    const bool only_one_host = classified.shape.by_mpi();
    if (only_one_host && may_go_over_one_host()) classified.pass_reason = PassReason::none;
    if (!classified.passes()) call_.shape = classified.shape;
    shape_reason_ = classified.pass_reason;
    if (shape_reason_ == PassReason::none) pass_by_size();
    if (blocks == 0)
        shape_reason_ = PassReason::intercommunicator;
    else
        complaint_ = check_memory(blocks);
}

void Admission::pass_by_size() {
    // Calls of the GC_ API go on, to find out whether the others' vectors are empty, too.
    if (entry().offered && call_.shape.count == 0 && !has(kind(), CallTrait::no_buffers))
        shape_reason_ = PassReason::empty_vector;
    else if (has(kind(), CallTrait::only_one_host) &&
             HostMemory::is_slower(kind(), call_.shape, rank_count_of(call_.arguments.comm)))
        shape_reason_ = PassReason::slower_on_one_host;
}

Status Admission::check_memory(int blocks) {
    BufferPair buffers;
    const std::size_t item_bytes =
        shape_reason_ == PassReason::none ? call_.shape.item_bytes() : std::size_t{0};
    // An allgather's input is this rank's own affair, too; its output is like that of all ranks.
    complaint_reason_ = PassReason::unusable_buffer;
    GRADCOLL_TRY(find_buffers(kind(), call_.arguments, blocks, item_bytes, buffers));
    if (call_.shape.is_packed) spread(buffers);
    GRADCOLL_TRY(locate(buffers.receive, entry().reach, call_.memory.receive));
    if (is_in_place(call_.arguments))
        call_.memory.send = call_.memory.receive;
    else
        GRADCOLL_TRY(locate(buffers.send, entry().reach, call_.memory.send));
    // The memory of derived types matters only if this rank has to copy to pass the call.
    if (shape_reason_ != PassReason::none && sums_over_tree() &&
        entry().reach == Reach::host_and_devices &&
        (!entry().offered || may_have_memory_that_mpi_refuses()))
        call_.memory = memory_of(call_.arguments);
    // The input may lie in the gaps of the output, and the other way round.
    if (call_.shape.is_packed && buffers.send.data != buffers.receive.data) return {};
    if (has(kind(), CallTrait::to_root)) {
        const Status apart = check_disjoint(buffers);
        if (!apart.ok()) complaint_reason_ = PassReason::aliased_buffer;
        return apart;
    }
    return entry().offered ? settle_overlap(buffers) : check_disjoint(buffers);
}

/// Extends the buffers from their first byte of data to the last.
void Admission::spread(BufferPair& buffers) const {
    const BufferExtent extent = extent_of(call_.arguments.count, call_.arguments.datatype);
    for (BufferArgument* const buffer : {&buffers.send, &buffers.receive}) {
        if (buffer->size_bytes == 0) continue;
        *buffer = {buffer->name, extent.first_byte(buffer->data), extent.size_bytes};
    }
}

/// Handles an input that lies in the output without MPI_IN_PLACE, which the standard forbids and
/// programs do. Only this rank knows of it, so the other ranks must not depend on it.
Status Admission::settle_overlap(const BufferPair& buffers) {
    if (is_in_place(call_.arguments) || check_disjoint(buffers).ok()) return {};
    const std::byte* in_place = static_cast<const std::byte*>(buffers.receive.data);
    if (gathers()) {
        const int rank = comm_rank(call_.arguments.comm);
        in_place += buffers.send.size_bytes * static_cast<std::size_t>(rank);
    }
    if (buffers.send.data != in_place)
        copied_bytes_ = buffers.send.size_bytes;
    else if (entry().mpi_takes_aliased)
        call_.arguments.sendbuf = MPI_IN_PLACE;
    else
        aliased_ = PassReason::aliased_buffer;
    return {};
}

/// Checks the residual. A call with one never passes.
void Admission::check_residual() {
    if (!complaint_.ok()) return;
    complaint_ = shape_reason_ == PassReason::none
                     ? gradcoll::check_residual(entry().residual, call_.shape, call_.arguments.comm)
                     : cannot_pass_with_residual(shape_reason_);
}

/// Finds or attaches the communicator's context. If calls are compared, or only this rank's buffers
/// are wrong, the other ranks may attach: so does this one.
void Admission::find_context() {
    if (call_.arguments.comm == MPI_COMM_NULL) return;
    const bool may_attach =
        entry().may_wait() && (complaint_.ok() || is_compared() || is_about_own_buffers());
    const bool sums_alone = sums_over_tree() && rounds_alone(call_.arguments.comm, entry().offered);
    if (entry().offered && !sums_alone) return find_context_of_offer(may_attach);
    auto found = may_attach || sums_alone ? context_of(call_.arguments.comm)
                                          : attached_context(call_.arguments.comm);
    if (!found) {
        call_.error = found.status();
        return;
    }
    call_.context = std::move(found).value();
    if (call_.context == nullptr) {
        comm_reason_ =
            entry().may_wait() ? PassReason::intercommunicator : PassReason::not_attached;
        return;
    }
    if (!entry().sets_up()) call_.timer = CallTimer(call_.context->statistics());
    call_.alone = call_.context->identity().rank_count() == 1;
    const bool is_started = !entry().may_wait() && !sums_alone;
    if (call_.alone && (gathers() || is_started || call_.shape.is_packed))
        comm_reason_ = PassReason::single_rank;
}

void Admission::find_context_of_offer(bool may_attach) {
    const bool is_lossy_kind = sums_over_tree() && may_be_lossy(process_settings(), call_.shape);
    const bool has_shape = shape_reason_ == PassReason::none;
    const bool is_routed_once = !entry().sets_up();
    const bool is_long = gathers() && HostMemory::is_slower(kind(), call_.shape,
                                                            rank_count_of(call_.arguments.comm));
    const bool fits_one_host = is_routed_once && !is_lossy_kind && !is_long &&
                               (kind() == CallKind::allreduce || !call_.shape.by_mpi());
    OfferedComm found = comm_for_offer(
        call_.arguments.comm, {.bytes = call_.shape.size_bytes(),
                               .may_be_lossy = is_lossy_kind,
                               .may_attach = may_attach && (has_shape || is_compared()),
                               .is_compared = is_compared() || is_anywhere(),
                               .fits_one_host = has_shape && fits_one_host,
                               .is_started = !entry().may_wait(),
                               .needs_one_host = entry().needs_one_host || call_.shape.by_mpi()});
    call_.context = std::move(found.context);
    comm_reason_ =
        has(kind(), CallTrait::only_one_host) ? of_one_host(found.pass_reason) : found.pass_reason;
    // A reduction by the MPI library's op passes for that reason, whatever its length.
    if (call_.shape.by_mpi() && comm_reason_ == PassReason::short_vector)
        comm_reason_ = call_.shape.mpi_reason;
    if (found.passes() || call_.context->identity().all_ranks_have_threads()) return;
    if (!entry().sets_up()) return;
    comm_reason_ = PassReason::persistent_without_threads;
    if (has_shape && is_lossy_kind && call_.shape.size_bytes() >= process_settings().min_bytes)
        tell_of_codec();
}

/// Tells that the codec is not used if the call passes.
void Admission::tell_of_codec() const {
    const PassReason reason = call_.passes() ? call_.pass_reason : comm_reason_;
    if (reason == PassReason::none) return;
    tell_codec_passed(call_.context->identity(), call_.context->settings().current(),
                      call_.shape.size_bytes(), text_of(reason));
}

void Admission::check_committed() {
    if (!complaint_.ok() || call_.context == nullptr) return;
    complaint_reason_ = PassReason::wrong_arguments;
    complaint_ = gradcoll::check_committed(kind(), call_.arguments,
                                           call_.context->identity().private_comm());
    if (complaint_.ok() && !call_.shape.is_lasting) complaint_ = mark();
}

/// Marks the datatype, so that the calls that follow need not look at it again.
Status Admission::mark() {
    const MPI_Datatype datatype = call_.arguments.datatype;
    if (mark_of(datatype) != nullptr) return {};
    const bool in_order =
        GRADCOLL_VALUE(lies_in_order(datatype, call_.context->identity().private_comm()));
    call_.shape.is_packed = !in_order;
    mark_type(datatype, {call_.shape.elem_bytes, in_order});
    return {};
}

/// Compares claims. This comes before any way out that a rank takes because of its own arguments.
void Admission::compare_claims() {
    if (call_.context != nullptr && entry().may_wait() && call_.context->settings().checks_calls())
        call_.error = call_.context->settings().check_alike(claims_of(call_, complaint_, aliased_));
}

/// Returns whether gc_reproducible=anywhere holds for the call, which may be found not to be one of
/// floats.
bool Admission::is_anywhere() const {
    const Settings& settings =
        call_.context != nullptr ? call_.context->settings().current() : process_settings();
    return settings.anywhere && sums_over_tree();
}

/// Refuses what cannot be the same anywhere; no such call ever passes. The answer is the same on
/// all ranks.
void Admission::check_anywhere() {
    if (!is_anywhere() || !complaint_.ok()) return;
    const PassReason reason = entry().unequal_blocks ? PassReason::unequal_blocks : shape_reason_;
    if (reason == PassReason::empty_vector) return;
    call_.error = check_same_anywhere(call_.shape, reason, call_.arguments.op,
                                      rank_count_of(call_.arguments.comm));
    if (call_.error.ok() && is_anywhere_of_floats() && entry().with_residual)
        call_.error = without_residual_anywhere();
}

/// Returns the reason to pass that comes first. The order is: wrong arguments, what all ranks know
/// of the call, what only this one knows of its buffers, the communicator.
PassReason Admission::way_out() const {
    const PassReason wrong = complaint_.ok() ? PassReason::none : complaint_reason_;
    const PassReason reasons[] = {
        wrong == PassReason::wrong_arguments ? wrong : PassReason::none,
        comm_reason_ == PassReason::intercommunicator ? comm_reason_ : PassReason::none,
        entry().unequal_blocks ? PassReason::unequal_blocks : PassReason::none,
        shape_reason_,
        wrong,
        comm_reason_,
        aliased_,
    };
    for (const PassReason reason : reasons)
        if (reason != PassReason::none) return reason;
    return PassReason::none;
}

/// Returns why a call that the memory of one host does not serve cannot use the tree, either.
PassReason Admission::way_out_of_tree() const {
    if (entry().needs_one_host)
        return call_.context->one_host().may_open() ? PassReason::slower_on_one_host
                                                    : PassReason::needs_one_host;
    const Settings& settings = call_.context->settings().current();
    if (!entry().may_wait() && settings.reproducible && !settings.anywhere)
        return PassReason::nonblocking_in_another_order;
    if (!entry().may_wait() && !call_.context->identity().all_ranks_have_threads())
        return PassReason::nonblocking_without_threads;
    return call_.context->has_tree() ? PassReason::none : PassReason::not_attached;
}

/// Returns whether only this rank's buffers are wrong. All else of the call may be right, and then
/// the other ranks take part in it.
bool Admission::is_about_own_buffers() const {
    const bool is_wrong = complaint_.ok() ? aliased_ != PassReason::none
                                          : complaint_reason_ != PassReason::wrong_arguments;
    return is_wrong && !entry().with_residual;
}

void Admission::decide() {
    if (is_about_own_buffers() && call_.context != nullptr) return refuse();
    if (!complaint_.ok() && !entry().offered)
        call_.error = std::move(complaint_);
    else
        find_way();
}

/// Follows the other ranks as far as all ranks know the way. Where the MPI library serves them they
/// cannot be told.
void Admission::refuse() {
    const PassReason reason = complaint_.ok() ? aliased_ : complaint_reason_;
    const bool is_aliased = reason == PassReason::aliased_buffer;
    Status refusal = std::exchange(complaint_, Status());
    if (refusal.ok()) refusal = {Code::invalid_buffer, "sendbuf is recvbuf"};
    aliased_ = PassReason::none;
    find_way();
    // Ranks agree on the settings of every request of the GC_ API, whoever serves it.
    const bool always_meet = entry().sets_up() && !entry().offered;
    if (always_meet || (!call_.passes() && !call_.alone)) call_.refusal = refusal;
    // Where the other ranks are told, the MPI library would wait for them if it does not refuse the
    // buffers itself, or crash, as Open MPI does with blocks and with null. If it does refuse them,
    // the program gets the error of the MPI library.
    const bool is_looked_at = mpi_refuses_null_buffers && kind() == CallKind::allreduce;
    const bool mpi_refuses = is_aliased || is_looked_at || call_.refusal.ok();
    if (entry().offered && mpi_refuses)
        call_.pass_reason = reason;
    else
        call_.error = std::move(refusal);
}

void Admission::find_way() {
    call_.pass_reason = way_out();
    if (call_.passes() && entry().with_residual)
        call_.error = cannot_pass_with_residual(call_.pass_reason);
    if (call_.passes() && is_anywhere_of_floats() && call_.pass_reason == comm_reason_)
        call_.error = refused_anywhere(call_.pass_reason);
    if (call_.passes() || call_.alone) return;
    if (has(kind(), CallTrait::only_one_host)) {
        call_.route.way = &one_host_way();
        if (!call_.context->one_host().open()) call_.pass_reason = PassReason::needs_one_host;
        return;
    }
    if (!entry().sets_up()) {
        call_.route = route_call(
            *call_.context, kind(), call_.arguments, call_.shape,
            {.feedback = entry().with_residual, .always_exact = gathers() && entry().offered});
        if (is_kept())
            keep();
        else if (is_anywhere_of_floats())
            settle_anywhere();
        else
            call_.pass_reason = call_.route.pass_reason;
    }
    const bool is_settled = is_anywhere_of_floats() && !entry().sets_up();
    if (!call_.passes() && call_.route.needs_tree() && !is_settled) {
        call_.pass_reason = way_out_of_tree();
        if (call_.passes() && is_anywhere_of_floats())
            call_.error = refused_anywhere(call_.pass_reason);
        if (!entry().may_wait() && call_.route.exact_reason == ExactReason::none) tell_of_codec();
    }
    if (call_.passes() || copied_bytes_ == 0) return;
    call_.refusal = copy_input();
    call_.error = call_.refusal;
}

/// Lets calls that nobody waits in combine all contributions at once, or sends them over the tree,
/// or refuses them. Minima and maxima are the same in any order.
void Admission::settle_anywhere() {
    if (entry().may_wait()) return;
    Route& route = call_.route;
    if (const Reducer reducer = reducer_at_once(*call_.context, route, call_.shape)) {
        call_.shape.reducer = reducer;
        return;
    }
    const bool in_memory = route.goes(one_host_way()) && !route.passes();
    if (in_memory && call_.shape.op != ReduceOp::sum) return;
    route.pass_reason = PassReason::none;
    route.way = &tree_way();
    if (const PassReason reason = way_out_of_tree(); reason != PassReason::none)
        call_.error = refused_anywhere(reason);
}

/// Returns whether gc_tolerance holds for the call.
bool Admission::is_kept() const {
    return sums_over_tree() && keeps_tolerance(call_.context->settings().current(), call_.shape);
}

/// Keeps calls of the GC_ API, however short. A blocking one looks at the inputs before the MPI
/// library adds them; any other looks at them over the tree, where then short ones go, too.
void Admission::keep() {
    if (entry().may_wait()) {
        if (entry().offered) call_.pass_reason = call_.route.pass_reason;
        return;
    }
    if (!entry().offered) call_.route.pass_reason = PassReason::none;
    if (!call_.route.passes()) call_.route.way = &tree_way();
    call_.pass_reason = call_.route.pass_reason;
}

Status Admission::copy_input() {
    call_.copy = {std::unique_ptr<std::byte[]>(new std::byte[copied_bytes_]), copied_bytes_,
                  call_.arguments.sendbuf, call_.memory.send};
    call_.arguments.sendbuf = call_.copy.bytes.get();
    call_.memory.send = host_memory;
    return call_.copy.fill(*call_.context);
}

}  // namespace

Status CopiedInput::fill(CommContext& context) const {
    if (memory == host_memory) {
        std::memcpy(bytes.get(), from, size_bytes);
        return {};
    }
    const auto side = side_of(&context, memory);
    return side ? copy_and_finish(**side, bytes.get(), from, size_bytes) : side.status();
}

Residual* Entry::residual_values() const {
    return with_residual ? residual->residual.get() : nullptr;
}

Call admit(const Entry& entry, const CallArguments& arguments, Status complaint) {
    Call call(entry, arguments);
    Admission(call, std::move(complaint)).run();
    return call;
}

}  // namespace gradcoll
