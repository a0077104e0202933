#include "runtime/device/device_side.hpp"

#include <utility>

namespace gradcoll {

DeviceSide::DeviceSide(const DevicePlugin& plugin, Device& device, int number,
                       std::vector<bool> shares)
    : plugin_(plugin),
      device_(device),
      number_(number),
      shares_(std::move(shares)),
      peers_(device) {}

Result<std::shared_ptr<DeviceSide>> DeviceSide::make(const DevicePlugin& plugin, int number,
                                                     std::vector<bool> shares) {
    const Result<Device*> device = plugin.device(number);
    if (!device.ok()) return device.status();
    std::shared_ptr<DeviceSide> side(new DeviceSide(plugin, **device, number, std::move(shares)));
    for (auto* stream : {&side->work_, &side->out_, &side->in_}) {
        auto made = (*device)->make_stream();
        if (!made.ok()) return made.status();
        *stream = std::move(made).value();
    }
    auto mark = (*device)->make_mark();
    if (!mark.ok()) return mark.status();
    side->user_mark_ = std::move(mark).value();
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
    GRADCOLL_TRY(user_->record(*user_mark_));
    return work_->wait_for(*user_mark_);
}

}  // namespace gradcoll
