#include "mpi/mpi_reach.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "base/mpi/mpi.hpp"
#include "device/devices.hpp"
#include "mpi/lifetime.hpp"

namespace gradcoll {
namespace {

/// A message of this size has a count that every MPI takes.
constexpr std::size_t most_bytes_at_once = std::size_t{1} << 30;

Status only_copies(const char* what) {
    return {Code::unsupported,
            std::string("no plug-in serves this device, and the MPI library only copies its "
                        "memory: ") +
                what};
}

/// Returns this process's own communicator, where no message of the program can be taken for ours.
Result<MPI_Comm> own_comm() {
    static std::mutex mutex;
    static MPI_Comm comm = MPI_COMM_NULL;
    const std::scoped_lock lock(mutex);
    if (comm != MPI_COMM_NULL) return comm;
    GRADCOLL_TRY(at_finalize([] { PMPI_Comm_free(&comm); }));
    auto made = make_own_comm();
    if (!made) return made.status();
    comm = std::exchange(made->handle, MPI_COMM_NULL);
    return comm;
}

Status copy(std::byte* to, const std::byte* from, std::size_t size_bytes) {
    static std::mutex one_at_a_time;
    const MPI_Comm comm = GRADCOLL_VALUE(own_comm());
    const std::scoped_lock lock(one_at_a_time);
    while (size_bytes > 0) {
        const std::size_t bytes = std::min(size_bytes, most_bytes_at_once);
        const int count = static_cast<int>(bytes);
        GRADCOLL_TRY(from_mpi(PMPI_Sendrecv(from, count, MPI_BYTE, 0, 0, to, count, MPI_BYTE, 0, 0,
                                            comm, MPI_STATUS_IGNORE),
                              "MPI_Sendrecv"));
        to += bytes;
        from += bytes;
        size_bytes -= bytes;
    }
    return {};
}

class PassedMark final : public DeviceMark {
  public:
    Result<bool> passed() override { return true; }
};

class CopyingStream final : public DeviceStream {
  public:
    Status copy(void* to, const void* from, std::size_t size_bytes) override {
        return gradcoll::copy(static_cast<std::byte*>(to), static_cast<const std::byte*>(from),
                              size_bytes);
    }
    Status record(DeviceMark&) override { return {}; }
    Status wait_for(DeviceMark&) override { return {}; }
    void* native() override { return nullptr; }
};

class CopiedDevice final : public Device {
  public:
    const DevicePlace& place() const override { return place_; }
    Result<void*> allocate(std::size_t) override { return only_copies("there is no room on it"); }
    void release(void*) override {}
    Result<void*> allocate_pinned(std::size_t size_bytes) override {
        void* const memory = ::operator new(size_bytes, std::nothrow);
        if (memory != nullptr) return memory;
        return Status(Code::out_of_memory,
                      "no memory for a copy of " + std::to_string(size_bytes) + " bytes");
    }
    void release_pinned(void* memory) override { ::operator delete(memory); }
    Result<std::unique_ptr<DeviceStream>> make_stream() override {
        return std::unique_ptr<DeviceStream>(std::make_unique<CopyingStream>());
    }
    Result<std::unique_ptr<DeviceStream>> adopt_stream(void*) override { return make_stream(); }
    Result<std::unique_ptr<DeviceMark>> make_mark() override {
        return std::unique_ptr<DeviceMark>(std::make_unique<PassedMark>());
    }
    Result<DeviceAllocation> allocation_of(const void*) override {
        return only_copies("its allocations are not known");
    }
    Result<DeviceHandle> share(const DeviceAllocation&) override {
        return only_copies("it is not shared");
    }
    Result<void*> open(const DeviceHandle&) override { return only_copies("it is not shared"); }
    void close(void*) override {}

  private:
    DevicePlace place_{"", {}, "a device that only the MPI library reaches"};
};

CopiedDevice& copied_device() {
    static CopiedDevice device;
    return device;
}

}  // namespace

const DevicePlugin& copies_by_mpi() {
    static const DevicePlugin plugin{
        .abi = device_plugin_abi,
        .build = device_plugin_build(),
        .name = "MPI",
        .start = [] { return Status(); },
        .device_count = [] { return 1; },
        .device = [](int) -> Result<Device*> { return &copied_device(); },
        .device_of = [](const void*) { return unserved_device; },
        .current_device = [] { return unserved_device; },
        .runs_codec = [](CodecId, const CodecParameters&, ElementType) { return false; },
        .launch_codec = [](const auto&, auto) { return only_copies("it runs no codec"); },
        .move_blocks = [](auto, auto) { return only_copies("it moves no blocks"); },
        .launch_reduce = [](const auto&, auto) { return only_copies("it adds nothing"); },
    };
    return plugin;
}

}  // namespace gradcoll
