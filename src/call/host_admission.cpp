#include "call/host_admission.hpp"

#include <fmt/format.h>

#include <vector>

#include "attach/attachments.hpp"
#include "attach/offered_comm.hpp"
#include "call/call_kinds.hpp"
#include "call/device_allreduce.hpp"
#include "mpi/signature.hpp"

namespace gradcoll {
namespace {

class HostAdmission {
  public:
    HostAdmission(const HostCall& call, AdmittedHostCall& admitted)
        : call_(call), a_(call.arguments), admitted_(admitted) {}
    void run() {
        check();
        find_context();
        check_committed();
        if (context() != nullptr && context()->settings().checks_calls())
            admitted_.error = context()->settings().check_alike(claims());
        if (admitted_.error.ok()) admitted_.pass_reason = way_out();
    }

  private:
    CallKind kind() const { return call_.entry->kind; }
    CommContext* context() const { return admitted_.context.get(); }
    static bool is_compared() { return process_settings().check == CheckLevel::collective; }

    void check();
    Status check_arguments();
    Status check_root() const;
    void pass_by_size();
    void locate_buffers();
    Status locate_one(const char* name, const void* buffer, int& memory) const;
    void find_context();
    void check_committed();
    std::vector<Claim> claims() const;
    /// Returns whether only this rank's buffers are wrong. All else of the call may be right, and
    /// then the other ranks take part in it.
    bool is_about_own_buffers() const {
        return !complaint_.ok() && complaint_reason_ != PassReason::wrong_arguments;
    }
    PassReason way_out();
    PassReason way_out_of_refused();

    const HostCall& call_;
    const CallArguments& a_;
    AdmittedHostCall& admitted_;
    int rank_count_ = 0;
    bool is_root_ = false;
    Status complaint_;  ///< about this rank's arguments
    PassReason complaint_reason_ = PassReason::wrong_arguments;
    PassReason shape_reason_ = PassReason::none;
    PassReason comm_reason_ = PassReason::none;
};

/// Checks the arguments. Calls on intercommunicators pass, as roots mean something else there.
void HostAdmission::check() {
    rank_count_ = rank_count_of(a_.comm);
    if (rank_count_ == 0) {
        shape_reason_ = PassReason::intercommunicator;
        return;
    }
    int rank = 0;
    PMPI_Comm_rank(a_.comm, &rank);
    is_root_ = rank == call_.root;
    if (kind() == CallKind::barrier) {
        admitted_.shape = shape_of_bytes(0);
        return;
    }
    complaint_ = check_arguments();
    if (complaint_.ok()) locate_buffers();
}

Status HostAdmission::check_root() const {
    if (call_.root >= 0 && call_.root < rank_count_) return {};
    return {Code::invalid_argument,
            fmt::format("root is {}; allowed is 0 to {}", call_.root, rank_count_ - 1)};
}

void HostAdmission::pass_by_size() {
    if (shape_reason_ == PassReason::none)
        shape_reason_ = reason_by_size(call_, admitted_.shape.size_bytes(), rank_count_);
}

Status HostAdmission::check_arguments() {
    const bool reduces = kind() == CallKind::reduce;
    GRADCOLL_TRY(check_root());
    if (reduces) GRADCOLL_TRY(check_op(a_.op));
    GRADCOLL_TRY(check_datatype("datatype", a_.datatype));
    GRADCOLL_TRY(check_count("count", a_.count));
    if (!reduces) {
        const auto bytes = data_bytes(a_.datatype);
        if (!bytes) return bytes.status();
        admitted_.shape = shape_of_bytes(*bytes * static_cast<std::uint64_t>(a_.count));
        pass_by_size();
        return {};
    }
    const Classified classified = classify(a_.count, a_.datatype, a_.op);
    admitted_.shape = classified.shape;
    shape_reason_ =
        classified.shape.by_mpi() ? classified.shape.mpi_reason : classified.pass_reason;
    pass_by_size();
    if (is_in_place(a_) && !is_root_)
        return {Code::invalid_buffer, "sendbuf is MPI_IN_PLACE, which is allowed on the root only"};
    return {};
}

/// Finds the memory of one buffer. For a derived type only the first byte of data tells, as it may
/// count from any address.
Status HostAdmission::locate_one(const char* name, const void* buffer, int& memory) const {
    const BufferExtent extent = extent_of(a_.count, a_.datatype);
    const void* const first = is_plain(a_.datatype) ? buffer : extent.first_byte(buffer);
    return locate({name, first, extent.size_bytes}, Reach::host_and_devices, memory);
}

void HostAdmission::locate_buffers() {
    const bool reduces = kind() == CallKind::reduce;
    complaint_reason_ = PassReason::unusable_buffer;
    if (reduces && !is_in_place(a_))
        complaint_ = locate_one("sendbuf", a_.sendbuf, admitted_.memory.send);
    if (complaint_.ok() && (!reduces || is_root_))
        complaint_ = locate_one("recvbuf", a_.recvbuf, admitted_.memory.receive);
    if (!reduces || !is_root_ || is_in_place(a_) || !complaint_.ok()) return;
    const std::size_t bytes = admitted_.shape.size_bytes();
    complaint_ = check_disjoint({{"sendbuf", a_.sendbuf, bytes}, {"recvbuf", a_.recvbuf, bytes}});
    if (!complaint_.ok()) complaint_reason_ = PassReason::aliased_buffer;
}

void HostAdmission::find_context() {
    const bool has_shape = shape_reason_ == PassReason::none;
    const bool is_like_others = complaint_.ok() || is_about_own_buffers();
    OfferedComm found =
        comm_for_offer(a_.comm, {.bytes = admitted_.shape.size_bytes(),
                                 .may_attach = (is_like_others && has_shape) || is_compared(),
                                 .is_compared = is_compared(),
                                 .fits_one_host = has_shape,
                                 .needs_one_host = true});
    admitted_.context = std::move(found.context);
    comm_reason_ = of_one_host(found.pass_reason);
}

/// Checks that the type of a broadcast is committed, as it packs derived types.
void HostAdmission::check_committed() {
    if (kind() != CallKind::bcast || !complaint_.ok() || context() == nullptr) return;
    complaint_ =
        gradcoll::check_committed(Collective::allreduce, a_, context()->identity().private_comm());
    if (!complaint_.ok()) complaint_reason_ = PassReason::wrong_arguments;
}

/// Returns the claims. There are as many as those of other calls (Admission::claims), as ranks may
/// have made different ones.
std::vector<Claim> HostAdmission::claims() const {
    CallTexts texts{fmt::format("{} bytes", admitted_.shape.size_bytes()), "", ""};
    if (kind() == CallKind::reduce) texts = texts_of(Collective::allreduce, a_);
    const std::string outcome = complaint_.ok() ? "nothing is wrong" : complaint_.message();
    return {{"the call", call_.entry->name},
            {"count", std::move(texts.count)},
            {"datatype", std::move(texts.datatype)},
            {"op", std::move(texts.op)},
            {"root", std::to_string(call_.root)},
            {"the outcome of the argument check", outcome.substr(0, outcome.find(" is "))}};
}

/// Returns the reason to pass that comes first: what all ranks know alike comes before what only
/// this one knows of its buffers. Collective where the shared memory is made.
PassReason HostAdmission::way_out() {
    if (!complaint_.ok() && !is_about_own_buffers()) return complaint_reason_;
    if (shape_reason_ != PassReason::none) return shape_reason_;
    if (is_about_own_buffers()) return way_out_of_refused();
    if (comm_reason_ != PassReason::none) return comm_reason_;
    return context()->one_host().open() ? PassReason::none : PassReason::needs_one_host;
}

/// Tells the other ranks if they wait in shared memory. The MPI library would wait for them with
/// buffers that it does not refuse: Open MPI takes null for MPI_BOTTOM. If one buffer is both input
/// and result, the program gets the error of the MPI library.
PassReason HostAdmission::way_out_of_refused() {
    if (comm_reason_ != PassReason::none || !context()->one_host().open()) return complaint_reason_;
    admitted_.refusal = complaint_;
    if (complaint_reason_ == PassReason::aliased_buffer) return complaint_reason_;
    admitted_.error = std::move(complaint_);
    return PassReason::none;
}

}  // namespace

AdmittedHostCall admit_host_call(const HostCall& call) {
    AdmittedHostCall admitted;
    HostAdmission(call, admitted).run();
    return admitted;
}

Classified shape_of_known(const HostCall& call) {
    const CallArguments& a = call.arguments;
    if (call.entry->kind == CallKind::barrier) return {shape_of_bytes(0), PassReason::none};
    const Classified unknown{{}, PassReason::unknown_datatype};
    if (a.count < 0 || a.count > most_count) return unknown;
    if (call.entry->kind == CallKind::reduce) {
        const Classified known = classify(a.count, a.datatype, a.op);
        return known.shape.by_mpi() && !known.shape.is_lasting ? unknown : known;
    }
    const std::size_t bytes = bytes_of_named(a.datatype);
    if (bytes == 0) return unknown;
    return {shape_of_bytes(bytes * static_cast<std::uint64_t>(a.count)), PassReason::none};
}

}  // namespace gradcoll
