#include "api/calls/gapped_allreduce.hpp"

#include <cstring>
#include <memory>
#include <span>

#include "api/calls/device_allreduce.hpp"
#include "api/edge/type_mark.hpp"

namespace gradcoll {
namespace {

using Runs = std::span<const ByteRun>;

/// From the first byte of data to the last: what is beyond need not be the program's.
void copy_in(const void* from, const CallShape& shape, Runs data, std::byte* to) {
    const std::size_t begin = data.front().begin;
    const std::size_t last_element = shape.size_bytes() - shape.elem_bytes;
    const std::size_t end = last_element + data.back().begin + data.back().size;
    std::memcpy(to + begin, static_cast<const std::byte*>(from) + begin, end - begin);
}

void copy_out(const std::byte* from, const CallShape& shape, Runs data, void* to) {
    for (std::size_t at = 0; at < shape.size_bytes(); at += shape.elem_bytes)
        for (const ByteRun& run : data)
            std::memcpy(static_cast<std::byte*>(to) + at + run.begin, from + at + run.begin,
                        run.size);
}

/// On the stack if it is short.
class Room {
  public:
    explicit Room(std::size_t size_bytes) {
        if (size_bytes > sizeof short_) long_.reset(new std::byte[size_bytes]);
    }
    std::byte* data() { return long_ != nullptr ? long_.get() : short_; }

  private:
    alignas(64) std::byte short_[2048];
    std::unique_ptr<std::byte[]> long_;
};

}  // namespace

Status run_gapped_on_host(CommContext& context, const CallArguments& arguments,
                          const CallShape& shape) {
    const MarkedType* const mark = mark_of(arguments.datatype);
    if (mark == nullptr) return {Code::transport, "MPI keeps no attributes of the datatype"};
    Room room(shape.size_bytes());
    Binding binding = binding_of(arguments, shape);
    if (shape.count > 0) copy_in(binding.input, shape, mark->data, room.data());
    binding.input = binding.output = room.data();
    GRADCOLL_TRY(context.one_host().allreduce(binding, shape));
    copy_out(room.data(), shape, mark->data, arguments.recvbuf);
    return {};
}

Status run_gapped(const Call& call) {
    CommContext& context = *call.context;
    if (!call.memory.any_device()) return run_gapped_on_host(context, call.arguments, call.shape);
    DeviceArea room;
    const auto twin = twin_of(&context, call.arguments, call.memory, room);
    if (!twin) return twin.status();
    GRADCOLL_TRY(run_gapped_on_host(context, twin->arguments(), call.shape));
    return twin->give_back();
}

}  // namespace gradcoll
