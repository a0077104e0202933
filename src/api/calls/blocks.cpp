#include "api/calls/blocks.hpp"

#include <vector>

#include "api/calls/blocking.hpp"
#include "api/calls/device_allreduce.hpp"
#include "api/edge/signature.hpp"

namespace gradcoll {
namespace {

/// Derived types go through packed copies: only this rank knows, and only it pays.
class GatherBuffers {
  public:
    explicit GatherBuffers(const Call& call)
        : a_(call.arguments),
          comm_(call.context->identity().private_comm()),
          rank_(call.context->identity().rank()),
          rank_count_(call.context->identity().rank_count()),
          block_bytes_(call.shape.size_bytes() / static_cast<std::size_t>(rank_count_)) {
        if (!is_plain(a_.datatype)) out_.resize(call.shape.size_bytes());
        if (!is_in_place(a_) && !is_plain(a_.sendtype)) in_.resize(block_bytes_);
    }

    Status pack_input() {
        if (!in_.empty()) return pack(a_.sendbuf, a_.sendcount, a_.sendtype, in_.data(), comm_);
        if (!is_in_place(a_) || out_.empty()) return {};
        MPI_Aint lower_bound = 0;
        MPI_Aint extent = 0;
        PMPI_Type_get_extent(a_.datatype, &lower_bound, &extent);
        const char* mine = static_cast<const char*>(a_.recvbuf) + extent * a_.count * rank_;
        return pack(mine, a_.count, a_.datatype,
                    &out_[block_bytes_ * static_cast<std::size_t>(rank_)], comm_);
    }
    Status unpack_output() {
        if (out_.empty()) return {};
        return unpack(out_.data(), a_.count * rank_count_, a_.datatype, a_.recvbuf, comm_);
    }
    Binding binding() {
        Binding binding;
        binding.output = out_.empty() ? a_.recvbuf : out_.data();
        if (is_in_place(a_))
            binding.input = binding.output;
        else
            binding.input = in_.empty() ? a_.sendbuf : in_.data();
        return binding;
    }

  private:
    const CallArguments& a_;
    MPI_Comm comm_;
    int rank_;
    int rank_count_;
    std::size_t block_bytes_;
    std::vector<std::byte> in_;
    std::vector<std::byte> out_;
};

}  // namespace

Status run_reduce_scatter(const Call& call) {
    if (call.alone)
        return reduce_alone(*call.context, call.entry->kind, call.arguments, call.shape,
                            call.memory);
    return run_blocking(*call.context, call.entry->kind, call.route.key,
                        binding_of(call.arguments, call.shape));
}

Status run_allgather(const Call& call) {
    GatherBuffers buffers(call);
    GRADCOLL_TRY(buffers.pack_input());
    GRADCOLL_TRY(run_blocking(*call.context, call.entry->kind, call.route.key, buffers.binding()));
    return buffers.unpack_output();
}

}  // namespace gradcoll
