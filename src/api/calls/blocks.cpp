#include "api/calls/blocks.hpp"

#include <fmt/format.h>

#include <vector>

#include "api/calls/blocking.hpp"
#include "api/edge/signature.hpp"

namespace gradcoll {
namespace {

/// Derived types go through packed copies: only this rank knows, and only it pays.
class GatherBuffers {
  public:
    GatherBuffers(const GatherArguments& a, const CommContext& context, std::size_t block_bytes)
        : a_(a),
          comm_(context.identity().private_comm()),
          rank_(context.identity().rank()),
          rank_count_(context.identity().rank_count()) {
        if (!is_plain(a.recvtype)) out_.resize(block_bytes * static_cast<std::size_t>(rank_count_));
        if (!a.in_place() && !is_plain(a.sendtype)) in_.resize(block_bytes);
    }

    Status pack_input(std::size_t block_bytes) {
        if (!in_.empty()) return pack(a_.sendbuf, a_.sendcount, a_.sendtype, in_.data(), comm_);
        if (!a_.in_place() || out_.empty()) return {};
        MPI_Aint lower_bound = 0;
        MPI_Aint extent = 0;
        PMPI_Type_get_extent(a_.recvtype, &lower_bound, &extent);
        const char* mine = static_cast<const char*>(a_.recvbuf) + extent * a_.recvcount * rank_;
        return pack(mine, a_.recvcount, a_.recvtype,
                    &out_[block_bytes * static_cast<std::size_t>(rank_)], comm_);
    }
    Status unpack_output() {
        if (out_.empty()) return {};
        return unpack(out_.data(), static_cast<MPI_Count>(a_.recvcount) * rank_count_, a_.recvtype,
                      a_.recvbuf, comm_);
    }
    Binding binding() {
        Binding binding;
        binding.output = out_.empty() ? a_.recvbuf : out_.data();
        if (a_.in_place())
            binding.input = binding.output;
        else
            binding.input = in_.empty() ? a_.sendbuf : in_.data();
        return binding;
    }

  private:
    const GatherArguments& a_;
    MPI_Comm comm_;
    int rank_;
    int rank_count_;
    std::vector<std::byte> in_;
    std::vector<std::byte> out_;
};

}  // namespace

BufferPair buffers_of_reduce_scatter(const ReduceArguments& arguments, int rank_count) {
    const auto known = known_type(arguments.datatype);
    const std::size_t block_bytes =
        static_cast<std::size_t>(arguments.count) * (known ? element_bytes(known->type) : 0);
    const std::size_t vector_bytes = block_bytes * static_cast<std::size_t>(rank_count);
    if (is_in_place(arguments))
        return {{"sendbuf", nullptr, 0}, {"recvbuf", arguments.recvbuf, vector_bytes}};
    return {{"sendbuf", arguments.sendbuf, vector_bytes},
            {"recvbuf", arguments.recvbuf, block_bytes}};
}

Status check_reduce_scatter_but_overlap(const ReduceArguments& arguments, int rank_count) {
    GRADCOLL_TRY(check_op(arguments.op));
    GRADCOLL_TRY(check_datatype("datatype", arguments.datatype));
    GRADCOLL_TRY(check_count("recvcount", arguments.count));
    const BufferPair buffers = buffers_of_reduce_scatter(arguments, rank_count);
    GRADCOLL_TRY(check_buffer(buffers.receive));
    return check_buffer(buffers.send);
}

Route route_reduce_scatter(CommContext& context, const CallShape& shape, bool in_place) {
    return context.route(context.settings().current(), shape,
                         {.collective = Collective::reduce_scatter_block,
                          .in_place = in_place,
                          .step = context.settings().step(),
                          .sums = shape.op == ReduceOp::sum});
}

Status check_gather_types(const GatherArguments& a) {
    GRADCOLL_TRY(check_comm(a.comm));
    GRADCOLL_TRY(check_datatype("recvtype", a.recvtype));
    GRADCOLL_TRY(check_count("recvcount", a.recvcount));
    if (a.in_place()) return {};
    GRADCOLL_TRY(check_datatype("sendtype", a.sendtype));
    return check_count("sendcount", a.sendcount);
}

Result<std::size_t> block_bytes_of(const GatherArguments& a) {
    auto receive = data_bytes(a.recvtype);
    if (!receive) return receive;
    const std::size_t block = *receive * static_cast<std::size_t>(a.recvcount);
    if (a.in_place()) return block;
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

BufferPair buffers_of_gather(const GatherArguments& a, std::size_t block_bytes, int rank_count) {
    const bool plain = is_plain(a.recvtype) && (a.in_place() || is_plain(a.sendtype));
    const std::size_t vector_bytes = plain ? block_bytes * static_cast<std::size_t>(rank_count) : 0;
    if (a.in_place() || !plain)
        return {{"sendbuf", nullptr, 0}, {"recvbuf", a.recvbuf, vector_bytes}};
    return {{"sendbuf", a.sendbuf, block_bytes}, {"recvbuf", a.recvbuf, vector_bytes}};
}

Route route_allgather(CommContext& context, const GatherArguments& a, std::size_t block_bytes,
                      bool always_exact) {
    const RouteQuestion question{.collective = Collective::allgather,
                                 .in_place = a.in_place(),
                                 .step = context.settings().step(),
                                 .always_exact = always_exact};
    const auto vector_bytes =
        static_cast<std::int64_t>(block_bytes) * context.identity().rank_count();
    CallShape bytes{vector_bytes, ElementType::u8, 1, ReduceOp::sum, {}};
    if (const auto element = uniform_element(a.recvtype); element && is_floating(element->type)) {
        const std::size_t elem_bytes = element_bytes(element->type);
        const auto count = vector_bytes / static_cast<std::int64_t>(elem_bytes);
        const CallShape floats{count, element->type, elem_bytes, ReduceOp::sum, {}};
        const Route route = context.route(context.settings().current(), floats, question);
        if (route.key.compress) return route;
    }
    return route_of(context.settings().current(), bytes, question);
}

Status check_gather_alike(const CommContext& context, const char* call, std::size_t block_bytes) {
    if (!context.settings().checks_calls()) return {};
    return context.settings().check_alike(
        {{"the call", call}, {"the size of a block", std::to_string(block_bytes)}});
}

Status gather_on_tree(CommContext& context, const GatherArguments& a, const CallKey& key,
                      std::size_t block_bytes) {
    GatherBuffers buffers(a, context, block_bytes);
    GRADCOLL_TRY(buffers.pack_input(block_bytes));
    GRADCOLL_TRY(run_blocking(context, CallKind::allgather, key, buffers.binding()));
    return buffers.unpack_output();
}

}  // namespace gradcoll
