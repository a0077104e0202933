// device_memory.cpp - memory of a device: allocated, filled and read through the plug-in alone, as
// the CPU cannot reach it.
#include "memory.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "device/devices.hpp"
#include "peers/peer.hpp"

namespace gradcoll::bench {
namespace {

constexpr int usage_error = 2;

void require(const Status& status, const char* what) {
    if (!status.ok()) {
        end_job(fmt::format("device: {}: {}", what, status.message()));
    }
}
template <class T>
T required(Result<T> result, const char* what) {
    require(result.status(), what);
    return std::move(*result);
}

/// PinnedMemory is host memory that the device copies from and to by itself.
class PinnedMemory : public Memory {
  public:
    explicit PinnedMemory(Device& device) : device_(device) {}

    std::string description() const override { return "pinned host memory"; }
    void* allocate(std::size_t size_bytes) override {
        return required(device_.allocate_pinned(size_bytes), "allocating pinned memory");
    }
    void release(void* memory) override { device_.release_pinned(memory); }
    void copy(void* to, const void* from, std::size_t size_bytes) override {
        std::memcpy(to, from, size_bytes);
    }
    Memory& host_side() override { return *this; }

  private:
    Device& device_;
};

class DeviceMemory : public Memory {
  public:
    DeviceMemory(Device& device, std::string description)
        : device_(device),
          description_(std::move(description)),
          pinned_(device),
          stream_(required(device.make_stream(), "making a stream")),
          done_(required(device.make_mark(), "making a mark")) {}

    std::string description() const override { return description_; }
    void* allocate(std::size_t size_bytes) override {
        return required(device_.allocate(size_bytes), "allocating memory");
    }
    void release(void* memory) override { device_.release(memory); }
    void copy(void* to, const void* from, std::size_t size_bytes) override {
        require(stream_->copy(to, from, size_bytes), "copying");
        require(stream_->record(*done_), "recording a mark");
        // This yields as scripts/mpirun makes MPI do: ranks may outnumber cores.
        while (!required(done_->passed(), "waiting for a copy")) {
            sched_yield();
        }
    }
    Memory& host_side() override { return pinned_; }

  private:
    Device& device_;
    std::string description_;
    PinnedMemory pinned_;
    std::unique_ptr<DeviceStream> stream_;
    std::unique_ptr<DeviceMark> done_;
};

int rank_on_host() {
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int rank = 0;
    MPI_Comm_rank(host, &rank);
    MPI_Comm_free(&host);
    return rank;
}

std::string lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

OpenedMemory refused(const std::string& name, int exit_status, const std::string& why) {
    return {nullptr, fmt::format("gc_bench allreduce: --device {}: {}\n", name, why), exit_status};
}

OpenedMemory open_numbered(const DevicePlugin& plugin, const std::string& name, int number) {
    const Result<Device*> device = plugin.device(number);
    if (!device.ok()) {
        return refused(name, no_device_status, device.status().message());
    }
    std::string description = fmt::format("memory of {} device {} of {} ({})", plugin.name, number,
                                          plugin.device_count(), (*device)->place().name);
    return {std::make_unique<DeviceMemory>(**device, std::move(description)), {}, 0};
}

}  // namespace

OpenedMemory open_device_memory(const std::string& name) {
    const int rank = rank_on_host();
    const DevicePlugin* plugin = Devices::of_process().look_for_plugin();
    if (plugin == nullptr) {
        return refused(name, no_device_status,
                       "no such device: " + Devices::of_process().why_inactive());
    }
    if (lower_case(plugin->name) != name) {
        return refused(name, usage_error,
                       fmt::format("must be host or {}, the plug-in that GC_DEVICE says",
                                   lower_case(plugin->name)));
    }
    const int devices = plugin->device_count();
    if (devices < 1) {
        return refused(name, no_device_status, "there is no device");
    }
    return open_numbered(*plugin, name, rank % devices);
}

}  // namespace gradcoll::bench
