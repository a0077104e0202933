#include "call/blocking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/round.hpp"
#include "call/device_allreduce.hpp"
#include "mpi/signature.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t line_bytes = 64;

std::size_t whole_lines(std::size_t size_bytes) {
    return rounded_up(size_bytes, line_bytes);
}

/// Room is memory that is on the stack if it is short.
class Room {
  public:
    explicit Room(std::size_t size_bytes) {
        if (size_bytes > sizeof short_)
            long_.reset(
                static_cast<std::byte*>(std::aligned_alloc(line_bytes, whole_lines(size_bytes))));
        data_ = size_bytes > sizeof short_ ? long_.get() : short_;
    }
    /// Returns null if there is no memory; else what it returns begins a cache line.
    std::byte* data() { return data_; }

  private:
    struct Free {
        void operator()(std::byte* data) const { std::free(data); }  // NOLINT: from aligned_alloc
    };
    alignas(line_bytes) std::byte short_[4096];
    std::unique_ptr<std::byte, Free> long_;
    std::byte* data_ = nullptr;
};

/// PackedRoom is where a reduction keeps its packed vector, and a few elements as the datatype has
/// them.
class PackedRoom {
  public:
    PackedRoom(MPI_Comm comm, const CallArguments& arguments, const CallShape& shape)
        : elements_(elements_at_a_time(arguments, shape)),
          extent_(extent_of(elements_, arguments.datatype)),
          vector_bytes_(whole_lines(shape.size_bytes())),
          room_(size_bytes()),
          unpacked_{comm, static_cast<std::size_t>(elements_), nullptr, nullptr} {
        if (room_.data() == nullptr) return;
        unpacked_.in = origin_of(room_.data() + vector_bytes_);
        unpacked_.inout = origin_of(room_.data() + vector_bytes_ + area_bytes());
    }

    std::size_t size_bytes() const { return vector_bytes_ + 2 * area_bytes(); }
    /// Returns null if there is no memory.
    std::byte* vector() { return room_.data(); }
    const UnpackedRoom& unpacked() const { return unpacked_; }

  private:
    /// Returns how many unpacked elements are kept: as many as fit into a cache, at least one.
    static MPI_Count elements_at_a_time(const CallArguments& arguments, const CallShape& shape) {
        constexpr std::size_t cached_bytes = 16 << 10;
        const std::size_t one =
            std::max(shape.elem_bytes, extent_of(2, arguments.datatype).size_bytes);
        return std::clamp<MPI_Count>(static_cast<MPI_Count>(cached_bytes / one), 1,
                                     std::max<MPI_Count>(arguments.count, 1));
    }
    std::size_t area_bytes() const { return whole_lines(extent_.size_bytes) + line_bytes; }
    /// Returns the address that the datatype counts from if its data are in the area. It is
    /// aligned.
    void* origin_of(std::byte* area) const {
        const auto shift = static_cast<std::uintptr_t>(extent_.shift);
        const std::uintptr_t origin = reinterpret_cast<std::uintptr_t>(area) - shift;
        return reinterpret_cast<void*>(whole_lines(origin));  // NOLINT: the area's own
    }

    MPI_Count elements_;
    BufferExtent extent_;
    std::size_t vector_bytes_;
    Room room_;
    UnpackedRoom unpacked_;
};

Status refuse_packed(CommContext& context, const CallShape& shape, Status why) {
    context.one_host().refuse(CallKind::allreduce, shape, why.code());
    return why;
}

}  // namespace

Status run_packed_on_host(CommContext& context, const CallArguments& arguments,
                          const CallShape& shape) {
    const MPI_Comm comm = context.identity().private_comm();
    PackedRoom room(comm, arguments, shape);
    if (room.vector() == nullptr)
        return refuse_packed(
            context, shape,
            {Code::out_of_memory, fmt::format("no memory for the vector without its gaps: {} bytes",
                                              room.size_bytes())});
    const void* const input = is_in_place(arguments) ? arguments.recvbuf : arguments.sendbuf;
    if (Status packed = pack(input, arguments.count, arguments.datatype, room.vector(), comm);
        !packed.ok())
        return refuse_packed(context, shape, std::move(packed));
    CallShape unpacking = shape;
    unpacking.mpi.room = &room.unpacked();
    Binding binding = binding_of(arguments, unpacking);
    binding.input = binding.output = room.vector();
    GRADCOLL_TRY(context.one_host().allreduce(binding, unpacking));
    return unpack(room.vector(), arguments.count, arguments.datatype, arguments.recvbuf, comm);
}

Status run_packed(const Call& call) {
    CommContext& context = *call.context;
    if (!call.memory.any_device()) return run_packed_on_host(context, call.arguments, call.shape);
    DeviceArea room;
    const auto twin = twin_of(&context, call.arguments, call.memory, room);
    if (!twin) return refuse_packed(context, call.shape, twin.status());
    GRADCOLL_TRY(run_packed_on_host(context, twin->arguments(), call.shape));
    return twin->give_back();
}

}  // namespace gradcoll
