#include "device.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "settings.hpp"

namespace gradcoll::emulated {
namespace {

class EmulatedMark final : public DeviceMark {
  public:
    Result<bool> passed() override { return state_->reached.load() >= state_->recorded.load(); }
    const std::shared_ptr<MarkState>& state() const { return state_; }

  private:
    std::shared_ptr<MarkState> state_ = std::make_shared<MarkState>();
};

class EmulatedStream final : public DeviceStream {
  public:
    explicit EmulatedStream(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}

    Status copy(void* to, const void* from, std::size_t size_bytes) override {
        if (size_bytes == 0) return {};
        const auto target = Memory::of_process().reach(to, size_bytes, Access::copy);
        if (!target.ok()) return target.status();
        const auto source = Memory::of_process().reach(from, size_bytes, Access::copy);
        if (!source.ok()) return source.status();
        queue_->push([&](Task& task) {
            task.kind = Task::Kind::copy;
            task.to = *target;
            task.from = *source;
            task.size_bytes = size_bytes;
        });
        return {};
    }
    Status record(DeviceMark& mark) override {
        const auto& state = static_cast<EmulatedMark&>(mark).state();
        push_mark(Task::Kind::record, state, ++state->recorded);
        return {};
    }
    Status wait_for(DeviceMark& mark) override {
        const auto& state = static_cast<EmulatedMark&>(mark).state();
        push_mark(Task::Kind::wait, state, state->recorded.load());
        return {};
    }
    void* native() override { return queue_.get(); }

  private:
    void push_mark(Task::Kind kind, const std::shared_ptr<MarkState>& mark, std::uint64_t ticket) {
        queue_->push([&](Task& task) {
            task.kind = kind;
            task.mark = mark;
            task.ticket = ticket;
        });
    }

    std::shared_ptr<Queue> queue_;
};

}  // namespace

EmulatedDevice::EmulatedDevice(int number) : number_(number) {
    place_.bus_id = fmt::format("0000:{:02x}:00.0", 0xe0 + number);
    place_.name = fmt::format("emulated device {}", number);
    const std::string uuid = fmt::format("emulated {:07}", number);
    std::memcpy(place_.uuid.data(), uuid.data(), place_.uuid.size());
}

Result<void*> EmulatedDevice::allocate(std::size_t size_bytes) {
    return Memory::of_process().allocate(number_, size_bytes);
}

void EmulatedDevice::release(void* memory) {
    drain_all_queues();
    Memory::of_process().release(memory);
}

Result<void*> EmulatedDevice::allocate_pinned(std::size_t size_bytes) {
    return Memory::of_process().allocate_pinned(size_bytes);
}

void EmulatedDevice::release_pinned(void* memory) {
    drain_all_queues();
    Memory::of_process().release_pinned(memory);
}

Result<std::unique_ptr<DeviceStream>> EmulatedDevice::make_stream() {
    auto queue = make_queue();
    if (!queue) return queue.status();
    return std::unique_ptr<DeviceStream>(std::make_unique<EmulatedStream>(std::move(*queue)));
}

Result<std::unique_ptr<DeviceStream>> EmulatedDevice::adopt_stream(void* native) {
    auto queue = queue_behind(native);
    if (!queue) return queue.status();
    return std::unique_ptr<DeviceStream>(std::make_unique<EmulatedStream>(std::move(*queue)));
}

Result<std::unique_ptr<DeviceMark>> EmulatedDevice::make_mark() {
    return std::unique_ptr<DeviceMark>(std::make_unique<EmulatedMark>());
}

Result<DeviceAllocation> EmulatedDevice::allocation_of(const void* pointer) {
    return Memory::of_process().allocation_of(number_, pointer);
}

Result<DeviceHandle> EmulatedDevice::share(const DeviceAllocation& allocation) {
    return Memory::of_process().share(number_, allocation.base);
}

Result<void*> EmulatedDevice::open(const DeviceHandle& handle) {
    return Memory::of_process().open(number_, handle);
}

void EmulatedDevice::close(void* opened) {
    release(opened);
}

Result<std::shared_ptr<Queue>> EmulatedDevice::default_queue() {
    const std::scoped_lock lock(mutex_);
    if (default_queue_ == nullptr) GRADCOLL_TRY(take(default_queue_, make_queue()));
    return default_queue_;
}

Result<std::shared_ptr<Queue>> EmulatedDevice::queue_behind(void* native_stream) {
    if (native_stream == nullptr) return default_queue();
    auto queue = queue_of(native_stream);
    if (queue == nullptr)
        return Status(Code::transport,
                      fmt::format("{} is no stream of an emulated device", native_stream));
    return queue;
}

/// Returns the device, which is never destroyed: the default streams' workers wait for work until
/// the process ends.
EmulatedDevice& device_of_process(int number) {
    static auto& devices = *new auto([] {
        std::vector<std::unique_ptr<EmulatedDevice>> made;
        for (int i = 0; i < settings().count; ++i)
            made.push_back(std::make_unique<EmulatedDevice>(i));
        return made;
    }());
    return *devices[static_cast<std::size_t>(number)];
}

}  // namespace gradcoll::emulated
