#include "call/call_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attach/attachments.hpp"
#include "call/device_allreduce.hpp"
#include "mpi/signature.hpp"

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

bool has_root(CallKind kind) {
    return has(kind, CallTrait::from_root | CallTrait::to_root);
}

bool is_root(const CallArguments& a) {
    return comm_rank(a.comm) == a.root;
}

Status check_root(const CallArguments& a) {
    const int rank_count = rank_count_of(a.comm);
    if (a.root >= 0 && a.root < rank_count) return {};
    return {Code::invalid_argument,
            fmt::format("root is {}; allowed is 0 to {}", a.root, rank_count - 1)};
}

/// Describes what this rank has of a call with a root. A derived type may count from any address,
/// so its buffer begins with the first byte of data.
BufferPair find_buffers_at_root(CallKind kind, const CallArguments& a) {
    const BufferExtent extent = extent_of(a.count, a.datatype);
    const auto all_of = [&](const char* name, const void* buffer) {
        const void* const first = is_plain(a.datatype) ? buffer : extent.first_byte(buffer);
        return BufferArgument{name, first, extent.size_bytes};
    };
    BufferPair out{{"sendbuf", nullptr, 0}, {"recvbuf", nullptr, 0}};
    if (!is_in_place(a)) out.send = all_of("sendbuf", a.sendbuf);
    if (has(kind, CallTrait::from_root) || is_root(a)) out.receive = all_of("recvbuf", a.recvbuf);
    return out;
}

Status find_buffers_of_gather(const CallArguments& a, int blocks, BufferPair& out) {
    const auto block_bytes = bytes_of_gathered_block(a);
    if (!block_bytes) return block_bytes.status();
    const bool plain = is_plain(a.datatype) && (is_in_place(a) || is_plain(a.sendtype));
    const std::size_t known_bytes = plain ? *block_bytes : 0;
    out = pair_of(a, known_bytes, known_bytes * static_cast<std::size_t>(blocks));
    return {};
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

}  // namespace

std::uint64_t received_bytes(const CallArguments& a) {
    const auto bytes = data_bytes(a.datatype);
    return bytes ? *bytes * static_cast<std::uint64_t>(a.count) : 0;
}

Status check_handles(CallKind kind, const CallArguments& a) {
    GRADCOLL_TRY(check_comm(a.comm));
    if (has(kind, CallTrait::no_buffers)) return {};
    if (has_root(kind)) GRADCOLL_TRY(check_root(a));
    if (has(kind, CallTrait::reduces)) GRADCOLL_TRY(check_op(a.op));
    GRADCOLL_TRY(check_datatype(gathers(kind) ? "recvtype" : "datatype", a.datatype));
    GRADCOLL_TRY(check_count(has(kind, CallTrait::in_blocks) ? "recvcount" : "count", a.count));
    if (has(kind, CallTrait::to_root) && is_in_place(a) && !is_root(a))
        return {Code::invalid_buffer, "sendbuf is MPI_IN_PLACE, which is allowed on the root only"};
    if (!has_root(kind) && a.recvbuf == MPI_IN_PLACE)
        return {Code::invalid_buffer, "recvbuf is MPI_IN_PLACE, which is allowed for sendbuf only"};
    if (!gathers(kind) || is_in_place(a)) return {};
    GRADCOLL_TRY(check_datatype("sendtype", a.sendtype));
    return check_count("sendcount", a.sendcount);
}

Status check_block_count(MPI_Count count, int blocks) {
    const MPI_Count most = most_count / std::max(blocks, 1);
    if (count <= most) return {};
    return {Code::invalid_count,
            fmt::format("recvcount is {}; allowed is up to {} on {} ranks", count, most, blocks)};
}

Status find_buffers(CallKind kind, const CallArguments& a, int blocks, std::size_t item_bytes,
                    BufferPair& out) {
    out = {};
    if (has(kind, CallTrait::no_buffers)) return {};
    if (gathers(kind)) return find_buffers_of_gather(a, blocks, out);
    if (has_root(kind)) {
        out = find_buffers_at_root(kind, a);
        return {};
    }
    const std::size_t block_bytes = item_bytes != 0 ? static_cast<std::size_t>(a.count) * item_bytes
                                                    : plain_bytes(a.count, a.datatype);
    const std::size_t vector_bytes = block_bytes * static_cast<std::size_t>(blocks);
    out = pair_of(a, vector_bytes, is_in_place(a) ? vector_bytes : block_bytes);
    return {};
}

Classified classify(CallKind kind, const CallArguments& a, int blocks) {
    if (has(kind, CallTrait::reduces)) return classify(a.count * blocks, a.datatype, a.op);
    if (has(kind, CallTrait::no_buffers)) return {shape_of_bytes(0), PassReason::none};
    return {shape_of_bytes(received_bytes(a) * static_cast<std::uint64_t>(blocks)),
            PassReason::none};
}

Classified classify_known(CallKind kind, const CallArguments& a, int blocks) {
    if (has(kind, CallTrait::no_buffers)) return {shape_of_bytes(0), PassReason::none};
    const Classified unknown{{}, PassReason::unknown_datatype};
    if (a.count < 0 || a.count > most_count / std::max(blocks, 1)) return unknown;
    if (has(kind, CallTrait::reduces)) {
        const Classified known = classify(a.count * blocks, a.datatype, a.op);
        return known.shape.by_mpi() && !known.shape.is_lasting ? unknown : known;
    }
    const std::size_t bytes = bytes_of_named(a.datatype);
    const bool is_alike =
        !gathers(kind) || is_in_place(a) || (a.sendtype == a.datatype && a.sendcount == a.count);
    if (bytes == 0 || !is_alike) return unknown;
    return {shape_of_bytes(static_cast<std::uint64_t>(a.count * blocks) * bytes), PassReason::none};
}

Status check_committed(CallKind kind, const CallArguments& a, MPI_Comm comm) {
    if (!is_committed(a.datatype, comm))
        return {Code::invalid_type,
                fmt::format("{} is not committed", gathers(kind) ? "recvtype" : "datatype")};
    if (gathers(kind) && !is_in_place(a) && !is_committed(a.sendtype, comm))
        return {Code::invalid_type, "sendtype is not committed"};
    return {};
}

namespace {

/// Returns the route of a sum of words. Where they leave hosts they are packed, which the MPI
/// library cannot do: it is not tried.
Route with_packed_words(Route route) {
    const bool is_packed = route.goes(tree_way()) || route.goes(hosts_way());
    route.key.compress = route.key.words = is_packed && !route.passes();
    return route;
}

}  // namespace

Route route_call(CommContext& context, CallKind kind, const CallArguments& a,
                 const CallShape& shape, const CallManner& manner) {
    const Settings& settings = context.settings().current();
    const RouteQuestion question{.kind = kind,
                                 .in_place = is_in_place(a),
                                 .feedback = manner.feedback,
                                 .step = context.settings().step(),
                                 .sums = gathers(kind) || shape.sums(),
                                 .always_exact = manner.always_exact,
                                 .offers = context.offers({kind, shape})};
    if (!gathers(kind)) {
        const Route route = context.route(settings, shape, question);
        if (manner.adds_words) return with_packed_words(route);
        return kind == CallKind::allreduce ? context.tried_route(route, shape) : route;
    }
    // The shape is one of elements of the type that codecs need to know if there may be one; else
    // of bytes.
    if (const auto element = uniform_element(a.datatype); element && is_floating(element->type)) {
        const Route route =
            context.route(settings, shape_in(element->type, shape.size_bytes()), question);
        if (route.key.compress || route.key.zips != Zips::nothing) return route;
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
