// GC_Residual_create, GC_Residual_create_for_blocks and the calls on a residual.
#include <fmt/format.h>

#include "attach/attachments.hpp"
#include "call/call_kinds.hpp"
#include "call/residual_handle.hpp"
#include "mpi/boundary.hpp"
#include "mpi/element_types.hpp"
#include "mpi/request.hpp"
#include "ways/route.hpp"

namespace gradcoll {
namespace {

/// Checks that calls on the type can have a residual. Errors: invalid_type if no codec knows the
/// type.
Status check_residual_type(MPI_Datatype datatype) {
    const auto known = known_type(datatype);
    if (known && is_floating(known->type)) return {};
    return {Code::invalid_type,
            "residuals are kept for MPI_FLOAT, MPI_DOUBLE, complex numbers of these, their Fortran "
            "names, GC_Type_float16() and GC_Type_bfloat16()"};
}

MPI_Comm comm_of(GC_Residual residual) {
    return residual != nullptr ? residual->context->identity().user_comm() : MPI_COMM_NULL;
}

Status check_handle(GC_Residual residual) {
    if (residual == nullptr) return {Code::invalid_argument, "residual is GC_RESIDUAL_NULL"};
    return {};
}

/// Makes a residual. Its layout is that of any call of the kind with feedback for this count and
/// type, whatever its codecs.
Result<GC_Residual> residual_for(const std::shared_ptr<CommContext>& context, CallKind kind,
                                 const CallShape& shape) {
    const Settings& settings = context->settings().current();
    const CallKey key = route_of(settings, shape, {.kind = kind, .feedback = true}).key;
    const auto call = GRADCOLL_VALUE(context->plans().plan_apart(context->tree(), settings, key));
    auto residual =
        std::make_shared<Residual>(identity_of(*call, context->tree(), context->identity().rank()));
    return new GC_Residual_s{context, std::move(residual), nullptr, call};
}

Status create(CallKind kind, MPI_Comm comm, MPI_Count count, MPI_Datatype datatype,
              GC_Residual* out) {
    const bool in_blocks = has(kind, CallTrait::in_blocks);
    GRADCOLL_TRY(check_comm(comm));
    GRADCOLL_TRY(check_count(in_blocks ? "recvcount" : "count", count));
    GRADCOLL_TRY(check_datatype("datatype", datatype));
    GRADCOLL_TRY(check_residual_type(datatype));
    if (out == nullptr) return {Code::invalid_argument, "residual is a null pointer"};
    const auto context = context_of(comm);
    if (!context) return context.status();
    if (!*context)
        return {Code::invalid_comm,
                "comm is an intercommunicator, whose calls are never compressed"};
    const int blocks = in_blocks ? (*context)->identity().rank_count() : 1;
    GRADCOLL_TRY(check_block_count(count, blocks));
    const CallShape shape = classify(count * blocks, datatype, MPI_SUM).shape;
    // A residual belongs to plans, so nothing is learnt any more, by whatever calls.
    GRADCOLL_TRY((*context)->keep_plans());
    return take(*out, residual_for(*context, kind, shape));
}

Status free_residual(GC_Residual* residual) {
    if (residual == nullptr) return {Code::invalid_argument, "residual is a null pointer"};
    GRADCOLL_TRY(check_handle(*residual));
    if ((*residual)->freed_by != nullptr)
        return {Code::invalid_argument,
                fmt::format("residual belongs to a request or an engine; {} frees it",
                            (*residual)->freed_by)};
    delete *residual;
    *residual = GC_RESIDUAL_NULL;
    return {};
}

Status hand_over(GC_Residual_s& residual, void* vector) {
    if (residual.plan == nullptr)
        return {Code::invalid_argument,
                "residual belongs to an engine, which plans it anew itself"};
    if (!is_plain_host_memory(vector))
        return {Code::invalid_buffer, "vector is null or not in the host's memory"};
    return residual.residual->hand_over(residual.plan->plan(), vector);
}

Status save(Residual& residual, void* bytes, std::size_t size_bytes) {
    if (bytes == nullptr) return {Code::invalid_argument, "bytes is null"};
    if (size_bytes < residual.checkpoint_bytes())
        return {Code::invalid_argument, fmt::format("size_bytes is {}, but the checkpoint needs {}",
                                                    size_bytes, residual.checkpoint_bytes())};
    return residual.save(static_cast<std::byte*>(bytes));
}

/// Runs `body` on the residual of a handle that is not null.
template <class Body>
int with_residual(GC_Residual residual, const char* call, Body&& body) {
    return at_boundary(comm_of(residual), call, [&]() -> Status {
        GRADCOLL_TRY(check_handle(residual));
        return body(*residual->residual);
    });
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Residual_create(MPI_Comm comm, MPI_Count count, MPI_Datatype datatype,
                                  GC_Residual* residual) {
    return at_boundary(comm, "GC_Residual_create", [&] {
        return create(CallKind::allreduce, comm, count, datatype, residual);
    });
}

extern "C" int GC_Residual_create_for_blocks(MPI_Comm comm, MPI_Count recvcount,
                                             MPI_Datatype datatype, GC_Residual* residual) {
    return at_boundary(comm, "GC_Residual_create_for_blocks", [&] {
        return create(CallKind::reduce_scatter_block, comm, recvcount, datatype, residual);
    });
}

extern "C" int GC_Residual_free(GC_Residual* residual) {
    const MPI_Comm comm = residual != nullptr ? comm_of(*residual) : MPI_COMM_NULL;
    return at_boundary(comm, "GC_Residual_free", [&] { return free_residual(residual); });
}

extern "C" int GC_Residual_scale(GC_Residual residual, double factor) {
    return with_residual(residual, "GC_Residual_scale",
                         [&](Residual& r) { return r.scale(factor); });
}

extern "C" int GC_Residual_reset(GC_Residual residual) {
    return with_residual(residual, "GC_Residual_reset", [&](Residual& r) {
        r.reset();
        return Status();
    });
}

extern "C" int GC_Residual_hand_over(GC_Residual residual, void* vector) {
    return at_boundary(comm_of(residual), "GC_Residual_hand_over", [&]() -> Status {
        GRADCOLL_TRY(check_handle(residual));
        return hand_over(*residual, vector);
    });
}

extern "C" int GC_Residual_size(GC_Residual residual, size_t* size_bytes) {
    return with_residual(residual, "GC_Residual_size", [&](Residual& r) -> Status {
        if (size_bytes == nullptr) return {Code::invalid_argument, "size_bytes is null"};
        *size_bytes = r.checkpoint_bytes();
        return {};
    });
}

extern "C" int GC_Residual_save(GC_Residual residual, void* bytes, size_t size_bytes) {
    return with_residual(residual, "GC_Residual_save",
                         [&](Residual& r) { return save(r, bytes, size_bytes); });
}

extern "C" int GC_Residual_load(GC_Residual residual, const void* bytes, size_t size_bytes) {
    return with_residual(residual, "GC_Residual_load", [&](Residual& r) -> Status {
        if (bytes == nullptr) return {Code::invalid_argument, "bytes is null"};
        return r.load(static_cast<const std::byte*>(bytes), size_bytes);
    });
}
