#include "call/call_kinds.hpp"

#include <fmt/format.h>

#include "mpi/signature.hpp"
#include "mpi/type_mark.hpp"

namespace gradcoll {
namespace {

/// Returns the bytes of one block, which both sides of an allgather have. It is the one description
/// of it that all ranks share, whatever datatypes each of them uses.
Result<std::size_t> bytes_of_gathered_block(const CallArguments& a) {
    auto receive = data_bytes(a.datatype);
    if (!receive) return receive;
    const std::size_t block = *receive * static_cast<std::size_t>(a.count);
    if (is_in_place(a)) return block;
    auto send = data_bytes(a.sendtype);
    if (!send) return send;
    if (*send * static_cast<std::size_t>(a.sendcount) != block)
        return Status(
            Code::invalid_count,
            fmt::format(
                "sendcount x sendtype is {} bytes, recvcount x recvtype is {}; they must be equal",
                *send * static_cast<std::size_t>(a.sendcount), block));
    return block;
}

/// Describes both buffers. In place there is nothing to send.
BufferPair pair_of(const CallArguments& a, std::size_t send_bytes, std::size_t receive_bytes) {
    if (is_in_place(a)) return {{"sendbuf", nullptr, 0}, {"recvbuf", a.recvbuf, receive_bytes}};
    return {{"sendbuf", a.sendbuf, send_bytes}, {"recvbuf", a.recvbuf, receive_bytes}};
}

Status find_buffers_of_gather(const CallArguments& a, int blocks, BufferPair& out) {
    const auto block_bytes = bytes_of_gathered_block(a);
    if (!block_bytes) return block_bytes.status();
    const bool plain = is_plain(a.datatype) && (is_in_place(a) || is_plain(a.sendtype));
    const std::size_t known_bytes = plain ? *block_bytes : 0;
    out = pair_of(a, known_bytes, known_bytes * static_cast<std::size_t>(blocks));
    return {};
}

/// Returns the bytes of one block; 0 if MPI does not know the type.
std::uint64_t received_bytes(const CallArguments& a) {
    const auto bytes = data_bytes(a.datatype);
    return bytes ? *bytes * static_cast<std::uint64_t>(a.count) : 0;
}

CallShape shape_in(ElementType type, std::uint64_t size_bytes) {
    const std::size_t elem_bytes = element_bytes(type);
    return {
        static_cast<std::int64_t>(size_bytes / elem_bytes), type, elem_bytes, ReduceOp::sum, {}};
}

bool is_committed(MPI_Datatype datatype, MPI_Comm comm) {
    if (known_type(datatype) || mark_of(datatype) != nullptr) return true;
    char nothing[1] = {};
    int position = 0;
    return PMPI_Pack(nothing, 0, datatype, nothing, 1, &position, comm) == MPI_SUCCESS;
}

std::string type_text(MPI_Datatype datatype) {
    if (datatype == MPI_DATATYPE_NULL) return "MPI_DATATYPE_NULL";
    if (const auto known = known_type(datatype))
        return fmt::format("{}{}", known->kind == TypeKind::complex ? "complex " : "",
                           name_of(known->type));
    int size_bytes = 0;
    PMPI_Type_size(datatype, &size_bytes);
    return fmt::format("another type of {} bytes", size_bytes);
}

/// Returns the text that ranks compare. For an op of the program it leaves out the type's name, as
/// ranks may use types of one signature with different names.
std::string type_text(MPI_Datatype datatype, MPI_Op op) {
    if (datatype == MPI_DATATYPE_NULL || op == MPI_OP_NULL || is_predefined(op))
        return type_text(datatype);
    const auto bytes = data_bytes(datatype);
    return fmt::format("a type of {} bytes", bytes ? *bytes : 0);
}

std::string op_text(MPI_Op op) {
    if (op == MPI_OP_NULL) return "MPI_OP_NULL";
    const auto known = known_op(op);
    return known ? std::string(name_of(*known)) : "another op";
}

}  // namespace

Status check_handles(Collective kind, const CallArguments& a) {
    const bool gathers = kind == Collective::allgather;
    GRADCOLL_TRY(check_comm(a.comm));
    if (!gathers) GRADCOLL_TRY(check_op(a.op));
    GRADCOLL_TRY(check_datatype(gathers ? "recvtype" : "datatype", a.datatype));
    GRADCOLL_TRY(check_count(kind == Collective::allreduce ? "count" : "recvcount", a.count));
    if (a.recvbuf == MPI_IN_PLACE)
        return {Code::invalid_buffer, "recvbuf is MPI_IN_PLACE, which is allowed for sendbuf only"};
    if (!gathers || is_in_place(a)) return {};
    GRADCOLL_TRY(check_datatype("sendtype", a.sendtype));
    return check_count("sendcount", a.sendcount);
}

Status find_buffers(Collective kind, const CallArguments& a, int blocks, std::size_t item_bytes,
                    BufferPair& out) {
    if (kind == Collective::allgather) return find_buffers_of_gather(a, blocks, out);
    const std::size_t block_bytes = item_bytes != 0 ? static_cast<std::size_t>(a.count) * item_bytes
                                                    : plain_bytes(a.count, a.datatype);
    const std::size_t vector_bytes = block_bytes * static_cast<std::size_t>(blocks);
    out = pair_of(a, vector_bytes, is_in_place(a) ? vector_bytes : block_bytes);
    return {};
}

Classified classify(Collective kind, const CallArguments& a, int blocks) {
    if (kind != Collective::allgather) return classify(a.count * blocks, a.datatype, a.op);
    const std::uint64_t block_bytes = received_bytes(a);
    return {shape_in(ElementType::u8, block_bytes * static_cast<std::uint64_t>(blocks)),
            PassReason::none};
}

Status check_committed(Collective kind, const CallArguments& a, MPI_Comm comm) {
    const bool gathers = kind == Collective::allgather;
    if (!is_committed(a.datatype, comm))
        return {Code::invalid_type,
                fmt::format("{} is not committed", gathers ? "recvtype" : "datatype")};
    if (gathers && !is_in_place(a) && !is_committed(a.sendtype, comm))
        return {Code::invalid_type, "sendtype is not committed"};
    return {};
}

CallTexts texts_of(Collective kind, const CallArguments& a) {
    if (kind != Collective::allgather)
        return {std::to_string(a.count), type_text(a.datatype, a.op), op_text(a.op)};
    const bool has_size = a.datatype != MPI_DATATYPE_NULL && a.count >= 0;
    return {has_size ? fmt::format("{} bytes", received_bytes(a)) : "none", "", ""};
}

Route route_call(CommContext& context, Collective kind, const CallArguments& a,
                 const CallShape& shape, const CallManner& manner) {
    const Settings& settings = context.settings().current();
    const bool gathers = kind == Collective::allgather;
    const bool fits_trials = kind == Collective::allreduce && manner.blocking;
    const RouteQuestion question{.collective = kind,
                                 .in_place = is_in_place(a),
                                 .feedback = manner.feedback,
                                 .step = context.settings().step(),
                                 .sums = gathers || shape.sums(),
                                 .always_exact = manner.always_exact,
                                 .offers = context.offers({kind, shape, manner.blocking})};
    if (!gathers) {
        const Route route = context.route(settings, shape, question);
        return fits_trials ? context.tried_route(route, shape) : route;
    }
    // The shape is one of bytes if nothing is compressed; else of elements of the type that a codec
    // needs to know.
    if (const auto element = uniform_element(a.datatype); element && is_floating(element->type)) {
        const Route route =
            context.route(settings, shape_in(element->type, shape.size_bytes()), question);
        if (route.key.compress) return route;
    }
    return route_of(settings, shape, question);
}

Route foreseen_blocking_route(const CommContext& context, const CallShape& shape) {
    const Route route =
        context.foreseen_route(shape, {.step = context.settings().step(),
                                       .sums = shape.sums(),
                                       .offers = context.foreseen_offers({.shape = shape})});
    return context.foreseen_tried_route(route, shape);
}

}  // namespace gradcoll
