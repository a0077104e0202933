// Messages of data on a device, one at a time, over a lane that only takes them.
#include "runtime/device/device_messages.hpp"

#include <gtest/gtest.h>

#include "runtime/device/device_ranks.hpp"

namespace gradcoll {
namespace {

/// In an OpenLane nothing that was started ever ends.
class OpenLane final : public Lane {
  public:
    Status start_send(int, int, const void* data, std::size_t size_bytes, std::uint32_t) override {
        const auto* values = static_cast<const float*>(data);
        sent.assign(values, values + size_bytes / sizeof(float));
        return {};
    }
    Status start_recv(int, int, void*, std::size_t, std::uint32_t) override { return {}; }
    Result<std::size_t> poll(std::span<Completion>) override { return std::size_t{0}; }
    std::size_t in_flight() const override { return 0; }
    void abandon() override { sent.clear(); }

    Floats sent;  ///< the last message
};

Step message_step(StepKind kind) {
    Step step;
    step.kind = kind;
    step.peer = 1;
    step.from = Slot::input();
    step.to = Slot::output();
    step.range = {0, 4};
    return step;
}

/// MessagesOfADevice is one rank of two, whose sends all leave from the same range.
class MessagesOfADevice : public testing::Test {
  protected:
    void start(const Step& step, DeviceFloats& data) {
        DeviceMessage message;
        message.step = &step;
        message.data = reinterpret_cast<std::byte*>(data.data());
        message.mirror = mirror_.data() + (message.is_send() ? 0 : 16);
        message.size_bytes = 16;
        ASSERT_TRUE(messages_->start(message, operation_).ok());
    }
    Floats wait_for_send() {
        Completion done[4];
        while (lane_.sent.empty()) EXPECT_TRUE(messages_->poll(operation_, done).ok());
        return lane_.sent;
    }

    const Plan plan_;
    OpenLane lane_;
    PackersInUse packers_;
    Operation operation_{.plan = plan_,
                         .lane = lane_,
                         .tags = *TagLayout::make(32767, 1),
                         .codecs = {},
                         .packers = packers_};
    std::shared_ptr<DeviceSide> side_ = make_side(2, false);
    DeviceArea mirror_ = DeviceArea::make(side_->device(), DeviceArea::Kind::pinned, 32).value();
    DeviceMessages::Room room_{
        .places = 1, .messages = 2, .slots = 0, .data_on_device = true, .direct = {false, false}};
    std::unique_ptr<DeviceMessages> messages_ =
        std::move(DeviceMessages::make(*side_, lane_, room_)).value();
};

TEST_F(MessagesOfADevice, WhatAnAbandonedOperationLeftInAMirrorIsNotSentByTheNext) {
    const Step send = message_step(StepKind::send);
    const Step recv = message_step(StepKind::recv);
    const Floats first{1, 2, 3, 4}, second{5, 6, 7, 8};
    DeviceFloats first_dev(*side_, first), second_dev(*side_, second);
    start(recv, first_dev);
    start(send, first_dev);
    EXPECT_EQ(wait_for_send(), first);
    lane_.abandon();
    messages_->abandon();
    messages_->begin_operation();
    start(send, second_dev);
    EXPECT_EQ(wait_for_send(), second);
}

}  // namespace
}  // namespace gradcoll
