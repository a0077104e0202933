#include "api/calls/gapped_allreduce.hpp"

#include <cstring>
#include <vector>

#include "api/calls/device_allreduce.hpp"
#include "api/edge/signature.hpp"

namespace gradcoll {
namespace {

/// Elements as they lie in the program's memory, from the first byte of data to the last: what is
/// beyond need not be the program's.
void copy_in(const CallArguments& arguments, const CallShape& shape, std::byte* to) {
    if (shape.count == 0) return;
    const BufferExtent extent = extent_of(arguments.count, arguments.datatype);
    const void* const from = is_in_place(arguments) ? arguments.recvbuf : arguments.sendbuf;
    std::memcpy(to + extent.shift, extent.first_byte(from), extent.size_bytes);
}

/// In one piece and from there: MPI has no call that copies data without what lies between.
Status copy_out(const CommContext& context, const std::byte* from, const CallArguments& arguments) {
    const MPI_Comm comm = context.identity().private_comm();
    const auto bytes = data_bytes(arguments.datatype);
    if (!bytes) return bytes.status();
    std::vector<std::byte> packed(*bytes * static_cast<std::size_t>(arguments.count));
    GRADCOLL_TRY(pack(from, arguments.count, arguments.datatype, packed.data(), comm));
    return unpack(packed.data(), arguments.count, arguments.datatype, arguments.recvbuf, comm);
}

Status run_on_host(CommContext& context, const CallArguments& arguments, const CallShape& shape) {
    std::vector<std::byte> whole(shape.size_bytes());
    copy_in(arguments, shape, whole.data());
    Binding binding = binding_of(arguments, shape);
    binding.input = binding.output = whole.data();
    GRADCOLL_TRY(context.one_host().allreduce(binding, shape));
    return copy_out(context, whole.data(), arguments);
}

}  // namespace

Status run_gapped(const Call& call) {
    CommContext& context = *call.context;
    if (!call.memory.any_device()) return run_on_host(context, call.arguments, call.shape);
    DeviceArea room;
    const auto twin = twin_of(&context, call.arguments, call.memory, room);
    if (!twin) return twin.status();
    GRADCOLL_TRY(run_on_host(context, twin->arguments(), call.shape));
    return twin->give_back();
}

}  // namespace gradcoll
