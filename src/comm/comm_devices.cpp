#include "comm/comm_devices.hpp"

#include <algorithm>
#include <array>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/mpi/exchange.hpp"
#include "base/text.hpp"
#include "device/devices.hpp"
#include "device/ipc/peers_that_share.hpp"
#include "mpi/mpi_reach.hpp"
#include "runtime/device/device_area.hpp"

namespace gradcoll {

namespace {

/// The number of rounds is odd, because the median counts; the first ones load what the kernel
/// needs.
constexpr int measured_rounds = 9;
/// A call takes about four launches one after the other, and in a microsecond of each the host
/// would have added 3072 bytes.
constexpr double host_bytes_a_launch_us = 4.0 * 3072;
/// The measured size is at most this, as other work may have disturbed it.
constexpr std::uint64_t most_auto_bytes = 5 << 19;

/// A ShortestWork runs a kernel over a few elements, until the host knows that it has ended. Where
/// several processes have one device, it waits for their turns, as each step of an allreduce does.
class ShortestWork {
  public:
    static Result<std::unique_ptr<ShortestWork>> make(DeviceSide& side) {
        std::unique_ptr<ShortestWork> work(new ShortestWork(side));
        GRADCOLL_TRY(take(work->room_, DeviceArea::make(side.device(), DeviceArea::Kind::on_device,
                                                        sizeof(float) * elements)));
        return work;
    }
    Status run() {
        const auto lock = side_.lock();
        const ReduceJob job{room_.data(), room_.data(), room_.data(), elements};
        GRADCOLL_TRY(side_.plugin().launch_reduce(
            {ReduceOp::max, ElementType::f32, side_.work().native()}, {&job, 1}));
        return side_.finish_work();
    }

  private:
    static constexpr std::size_t elements = 32;
    explicit ShortestWork(DeviceSide& side) : side_(side) {}

    DeviceSide& side_;
    DeviceArea room_;
};

}  // namespace

Device* device_in_use() {
    const DevicePlugin* plugin = Devices::of_process().plugin_if_in_use();
    if (plugin == nullptr) return nullptr;
    const auto current = plugin->device(plugin->current_device());
    return current.ok() ? *current : nullptr;
}

Status CommDevices::share(const CommIdentity& comm) {
    any_in_use_ = !GRADCOLL_VALUE(all_ranks(comm.private_comm(), device_in_use() == nullptr));
    GRADCOLL_TRY(take(shares_, peers_that_share(comm.private_comm(), device_in_use())));
    for (const auto& side : sides_) side->set_shares(shares_);
    if (any_in_use_) {
        const auto others = static_cast<std::ptrdiff_t>(shares_.size()) - 1;
        const bool with_all = std::count(shares_.begin(), shares_.end(), true) == others;
        GRADCOLL_TRY(take(all_share_, all_ranks(comm.private_comm(), with_all)));
        GRADCOLL_TRY(measure(comm));
    }
    if (std::find(shares_.begin(), shares_.end(), true) == shares_.end()) return {};
    const DevicePlugin& plugin = *Devices::of_process().plugin();
    return take(reader_, side(plugin, plugin.current_device()));
}

Status CommDevices::measure(const CommIdentity& comm) {
    std::unique_ptr<ShortestWork> work;
    if (device_in_use() != nullptr) {
        const DevicePlugin& plugin = *Devices::of_process().plugin();
        // A device that cannot even do that is an error of the call that needs it.
        if (auto own = side(plugin, plugin.current_device()); own.ok())
            (void)take(work, ShortestWork::make(**own));
    }
    std::array<double, measured_rounds> took_us{};
    for (double& us : took_us) {
        GRADCOLL_TRY(from_mpi(PMPI_Barrier(comm.private_comm()), "MPI_Barrier"));
        const std::uint64_t begin_ns = now_ns();
        if (work != nullptr) (void)work->run();
        us = static_cast<double>(now_ns() - begin_ns) * 1e-3;
    }
    took_us = GRADCOLL_VALUE(combined(comm.private_comm(), MPI_MAX, took_us));
    std::sort(took_us.begin(), took_us.end());
    const double median_us = took_us[measured_rounds / 2];
    least_bytes_ = std::clamp(static_cast<std::uint64_t>(median_us * host_bytes_a_launch_us),
                              least_auto_bytes, most_auto_bytes);
    log(comm.rank() == 0 ? LogLevel::info : LogLevel::debug,
        "communicator '{}': the shortest work takes devices {:.1f} us: vectors from {} on stay "
        "there",
        comm.name(), median_us, bytes_text(least_bytes_));
    return {};
}

Result<std::shared_ptr<DeviceSide>> CommDevices::side(const DevicePlugin& plugin, int number) {
    for (const auto& side : sides_)
        if (side->number() == number) return side;
    auto side = DeviceSide::make(plugin, number, {shares_, mpi_takes_memory_of(plugin)});
    if (!side) return side.status();
    GRADCOLL_TRY((*side)->set_user_stream(user_stream_));
    sides_.push_back(*side);
    return side;
}

Status CommDevices::set_user_stream(void* native) {
    for (const auto& side : sides_) GRADCOLL_TRY(side->set_user_stream(native));
    user_stream_ = native;
    return {};
}

}  // namespace gradcoll
