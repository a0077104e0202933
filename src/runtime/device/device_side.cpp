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
    for (auto* stream : {&side->work_, &side->out_, &side->in_}) {
        auto made = (*device)->make_stream();
        if (!made.ok()) return made.status();
        *stream = std::move(made).value();
    }
    auto mark = (*device)->make_mark();
    if (!mark.ok()) return mark.status();
    side->mark_ = std::move(mark).value();
    GRADCOLL_TRY(side->set_user_stream(nullptr));
    return side;
}

Status DeviceSide::set_user_stream(void* native) {
    auto stream = device_.adopt_stream(native);
    if (!stream.ok()) return stream.status();
    user_ = std::move(stream).value();
    return {};
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
    if (staging_.size_bytes() < size_bytes) {
        auto area = DeviceArea::make(device_, DeviceArea::Kind::pinned, size_bytes);
        if (!area.ok()) return area.status();
        staging_ = std::move(area).value();
    }
    return staging_.data();
}

}  // namespace gradcoll
