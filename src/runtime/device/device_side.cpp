#include "runtime/device/device_side.hpp"

#include <utility>

#include "memory/device.hpp"

namespace gradcoll {

DeviceSide::DeviceSide(const DevicePlugin& plugin, Device& device, int number, Ways ways)
    : plugin_(plugin), device_(device), number_(number), ways_(std::move(ways)), peers_(device) {}

Result<std::shared_ptr<DeviceSide>> DeviceSide::make(const DevicePlugin& plugin, int number,
                                                     Ways ways) {
    const Result<Device*> device = plugin.device(number);
    if (!device.ok()) return device.status();
    std::shared_ptr<DeviceSide> side(new DeviceSide(plugin, **device, number, std::move(ways)));
    for (auto* stream : {&side->work_, &side->out_, &side->in_})
        GRADCOLL_TRY(take(*stream, (*device)->make_stream()));
    GRADCOLL_TRY(take(side->mark_, (*device)->make_mark()));
    GRADCOLL_TRY(side->set_user_stream(nullptr));
    return side;
}

Status DeviceSide::set_user_stream(void* native) {
    return take(user_, device_.adopt_stream(native));
}

Status DeviceSide::follow_user() {
    GRADCOLL_TRY(user_->record(*mark_));
    return work_->wait_for(*mark_);
}

Status DeviceSide::finish_work() {
    GRADCOLL_TRY(work_->record(*mark_));
    return wait_until_passed(*mark_);
}

Result<std::byte*> DeviceSide::staging(std::size_t size_bytes) {
    if (staging_.size_bytes() < size_bytes)
        GRADCOLL_TRY(
            take(staging_, DeviceArea::make(device_, DeviceArea::Kind::pinned, size_bytes)));
    return staging_.data();
}

Status copy_and_finish(DeviceSide& side, void* to, const void* from, std::size_t size_bytes) {
    const auto lock = side.lock();
    GRADCOLL_TRY(side.follow_user());
    GRADCOLL_TRY(side.work().copy(to, from, size_bytes));
    return side.finish_work();
}

}  // namespace gradcoll
