// mover/execution/machine.cpp - see machine.hpp.
#include "mover/execution/machine.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/clock.hpp"

namespace gradcoll::mover {
namespace {

Status no_bytes() {
    return {Code::out_of_memory, "the process gets no more memory"};
}

constexpr std::int64_t piece_bytes = 1 << 20;

void sleep_until(std::uint64_t ns) {
    const timespec until{static_cast<time_t>(ns / 1'000'000'000),
                         static_cast<long>(ns % 1'000'000'000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
    }
}

/// Stands for a link: it copies no faster than the lane, a piece at a time, so that the processor
/// is free between pieces. Returns how long it took, which is the lane's ticks unless the machine
/// is slower.
Tick paced_copy(std::byte* to, const std::byte* from, std::int64_t bytes, const Lane& lane) {
    const std::uint64_t begin = now_ns();
    for (std::int64_t done = 0; done < bytes;) {
        const std::int64_t piece = std::min(piece_bytes, bytes - done);
        std::memcpy(to + done, from + done, static_cast<std::size_t>(piece));
        done += piece;
        const std::uint64_t due = begin + static_cast<std::uint64_t>(lane.ticks(done));
        if (now_ns() < due) sleep_until(due);
    }
    if (bytes == 0) sleep_until(begin + static_cast<std::uint64_t>(lane.ticks(0)));
    return static_cast<Tick>(now_ns() - begin);
}

class PlainMachine final : public Machine {
  public:
    Result<std::byte*> allocate(std::int64_t bytes) override {
        constexpr std::size_t line = 64;
        const std::size_t size = (static_cast<std::size_t>(bytes) + line) / line * line;
        auto* block = static_cast<std::byte*>(std::aligned_alloc(line, size));
        return block != nullptr ? Result<std::byte*>(block) : no_bytes();
    }
    void release(std::byte* memory) override { std::free(memory); }
    bool is_of_malloc() const override { return true; }
    Result<std::byte*> allocate_pool(std::int64_t bytes) override { return allocate(bytes); }
    void release_pool(std::byte* memory) override { std::free(memory); }

    Result<Tick> move(Way, std::byte* to, const std::byte* from, std::int64_t bytes,
                      const Lane& lane) override {
        return paced_copy(to, from, bytes, lane);
    }
    Status copy(std::byte* to, const std::byte* from, std::int64_t bytes) override {
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
        return {};
    }
    Status zero(std::byte* memory, std::int64_t bytes) override {
        std::memset(memory, 0, static_cast<std::size_t>(bytes));
        return {};
    }
    Status finish_operator() override { return {}; }
};

/// A Line is a stream and the mark behind its last work.
struct Line {
    std::unique_ptr<DeviceStream> stream;
    std::unique_ptr<DeviceMark> mark;

    Status finish() {
        GRADCOLL_TRY(stream->record(*mark));
        return wait_until_passed(*mark);
    }
    Status copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
        if (bytes > 0) GRADCOLL_TRY(stream->copy(to, from, static_cast<std::size_t>(bytes)));
        return finish();
    }
};

class DeviceMachine final : public Machine {
  public:
    static Result<std::unique_ptr<Machine>> make(Device& device, void* compute) {
        std::unique_ptr<DeviceMachine> made(new DeviceMachine(device));
        for (Line* line : {&made->out_, &made->in_, &made->between_}) {
            line->stream = GRADCOLL_VALUE(device.make_stream());
            line->mark = GRADCOLL_VALUE(device.make_mark());
        }
        made->compute_.stream = GRADCOLL_VALUE(device.adopt_stream(compute));
        made->compute_.mark = GRADCOLL_VALUE(device.make_mark());
        void* zeros = GRADCOLL_VALUE(device.allocate_pinned(zeros_bytes));
        made->zeros_ = static_cast<std::byte*>(zeros);
        std::memset(zeros, 0, zeros_bytes);
        return std::unique_ptr<Machine>(std::move(made));
    }
    ~DeviceMachine() override {
        if (zeros_ != nullptr) device_.release_pinned(zeros_);
    }

    Result<std::byte*> allocate(std::int64_t bytes) override {
        return static_cast<std::byte*>(GRADCOLL_VALUE(device_.allocate(size_of(bytes))));
    }
    void release(std::byte* memory) override { device_.release(memory); }
    bool is_of_malloc() const override { return false; }
    Result<std::byte*> allocate_pool(std::int64_t bytes) override {
        return static_cast<std::byte*>(GRADCOLL_VALUE(device_.allocate_pinned(size_of(bytes))));
    }
    void release_pool(std::byte* memory) override { device_.release_pinned(memory); }

    Result<Tick> move(Way way, std::byte* to, const std::byte* from, std::int64_t bytes,
                      const Lane&) override {
        const std::uint64_t begin = now_ns();
        GRADCOLL_TRY((way == Way::out ? out_ : in_).copy(to, from, bytes));
        return static_cast<Tick>(now_ns() - begin);
    }
    Status copy(std::byte* to, const std::byte* from, std::int64_t bytes) override {
        return between_.copy(to, from, bytes);
    }
    Status zero(std::byte* memory, std::int64_t bytes) override {
        for (std::int64_t done = 0; done < bytes; done += zeros_bytes)
            GRADCOLL_TRY(between_.stream->copy(
                memory + done, zeros_,
                static_cast<std::size_t>(std::min<std::int64_t>(zeros_bytes, bytes - done))));
        return between_.finish();
    }
    Status finish_operator() override { return compute_.finish(); }

  private:
    static constexpr std::int64_t zeros_bytes = 1 << 20;

    explicit DeviceMachine(Device& device) : device_(device) {}

    /// Returns at least 1, since devices do not allocate 0 bytes.
    static std::size_t size_of(std::int64_t bytes) {
        return static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
    }

    Device& device_;
    Line out_, in_, between_, compute_;
    std::byte* zeros_ = nullptr;
};

}  // namespace

std::unique_ptr<Machine> plain_machine() {
    return std::make_unique<PlainMachine>();
}

Result<std::unique_ptr<Machine>> device_machine(Device& device, void* compute) {
    return DeviceMachine::make(device, compute);
}

}  // namespace gradcoll::mover
