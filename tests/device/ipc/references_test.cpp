// References between two devices of one process: what they mean, what is kept, what is refused.
#include <random>

#include "device/contract.hpp"
#include "device/ipc/peer_device_memory.hpp"
#include "device/ipc/watched_device.hpp"

namespace gradcoll::test {
namespace {

using Reference = std::array<std::byte, reference_bytes>;
constexpr std::size_t offset_field = 8, size_field = 16, allocation_size_field = 40, id_field = 48,
                      handle_field = 56;

class References : public DeviceTest {
  protected:
    void SetUp() override {
        DeviceTest::SetUp();
        ASSERT_EQ(plugin_->device_count(), 2);
        ASSERT_EQ(number_, 0);
        sender_ = std::make_unique<WatchedDevice>(*device_);
        receiver_ = std::make_unique<WatchedDevice>(**plugin_->device(1));
        sent_ = std::make_unique<PeerDeviceMemory>(*sender_);
        received_ = std::make_unique<PeerDeviceMemory>(*receiver_);
    }
    void TearDown() override { received_.reset(); }

    Reference refer(const void* data, std::size_t size_bytes) {
        Reference reference{};
        EXPECT_TRUE(succeeds(sent_->refer(data, size_bytes, reference)));
        return reference;
    }
    std::vector<std::byte> read(const Reference& reference, std::size_t size_bytes) {
        const auto bytes = received_->resolve(reference, size_bytes);
        EXPECT_TRUE(succeeds(bytes.status()));
        if (!bytes.ok()) return {};
        EXPECT_EQ(plugin_->device_of(*bytes), 1);
        return content(static_cast<const std::byte*>(*bytes), size_bytes);
    }
    /// Expects that three allocations, one after the other, at the same place are each read.
    void expect_each_read_at_one_address() {
        void* first = nullptr;
        for (unsigned i = 0; i < 3; ++i) {
            const DeviceBuffer buffer(*device_, 5000 + i);
            if (i == 0) first = buffer.data();
            ASSERT_EQ(buffer.data(), first) << "the emulated device no longer reuses addresses";
            fill(buffer.data(), pattern(5000, i));
            EXPECT_EQ(read(refer(buffer.data(), 5000), 5000), pattern(5000, i));
        }
    }
    Code refusal(Reference reference, std::size_t expected_bytes) {
        return received_->resolve(reference, expected_bytes).status().code();
    }
    static Reference with(Reference reference, std::size_t field, std::uint64_t value) {
        std::memcpy(reference.data() + field, &value, sizeof value);
        return reference;
    }

    std::unique_ptr<WatchedDevice> sender_, receiver_;
    std::unique_ptr<PeerDeviceMemory> sent_, received_;
};

TEST_F(References, MeanTheBytesWhereverTheyLieInAnAllocation) {
    const DeviceBuffer buffer(*device_, 5000);
    const auto bytes = pattern(5000);
    fill(buffer.data(), bytes);
    EXPECT_EQ(read(refer(buffer.data(), 5000), 5000), bytes);
    const std::vector<std::byte> part(bytes.begin() + 1001, bytes.begin() + 1008);
    EXPECT_EQ(read(refer(buffer.data() + 1001, 7), 7), part);
    EXPECT_EQ(read(refer(buffer.data() + 4999, 1), 1).at(0), bytes[4999]);
}

TEST_F(References, OfOneAllocationShareItOnceAndOpenItOnce) {
    const DeviceBuffer buffer(*device_, 5000);
    fill(buffer.data(), pattern(5000));
    for (std::size_t i = 0; i < 10; ++i) read(refer(buffer.data() + i, 10), 10);
    EXPECT_EQ(sender_->shared, 1);
    EXPECT_EQ(receiver_->opened, 1);
    EXPECT_EQ(receiver_->closed, 0);
    received_.reset();
    EXPECT_EQ(receiver_->closed, 1);
}

TEST_F(References, OfMemoryThatCameToAnOldAddressMeanTheNewMemory) {
    expect_each_read_at_one_address();
    EXPECT_EQ(sender_->shared, 3);
    EXPECT_EQ(receiver_->opened, 3);
    EXPECT_EQ(receiver_->closed, 2) << "what was released stays open";
}

TEST_F(References, OfOneAllocationAreOneMappingForAllCommunicatorsAndItGoesWhenItsMemoryDid) {
    PeerDeviceMemory other(*receiver_);
    {
        const DeviceBuffer buffer(*device_, 5000);
        const Reference reference = refer(buffer.data(), 5000);
        read(reference, 5000);
        EXPECT_TRUE(succeeds(other.resolve(reference, 5000).status()));
        EXPECT_EQ(receiver_->opened, 1);
    }
    const DeviceBuffer next(*device_, 5000);  // at the same address
    fill(next.data(), pattern(5000, 2));
    EXPECT_EQ(read(refer(next.data(), 5000), 5000), pattern(5000, 2));
    EXPECT_EQ(receiver_->opened, 2);
    EXPECT_EQ(receiver_->closed, 1) << "the other one keeps it open";
}

TEST_F(References, KeepABoundedNumberOfMappings) {
    std::vector<std::unique_ptr<DeviceBuffer>> buffers;
    constexpr std::size_t count = PeerDeviceMemory::most_mappings + 5;
    for (std::size_t i = 0; i < count; ++i) {
        buffers.push_back(std::make_unique<DeviceBuffer>(*device_, 100));
        fill(buffers.back()->data(), pattern(100, static_cast<unsigned>(i)));
        read(refer(buffers.back()->data(), 100), 100);
        if (i > 0) read(refer(buffers[0]->data(), 100), 100);  // in use all the time
    }
    EXPECT_EQ(receiver_->opened, static_cast<int>(count));
    EXPECT_EQ(receiver_->closed, 5);
    EXPECT_EQ(read(refer(buffers[0]->data(), 100), 100), pattern(100, 0));
    EXPECT_EQ(receiver_->opened, static_cast<int>(count)) << "the one in use was closed";
    EXPECT_EQ(read(refer(buffers[1]->data(), 100), 100), pattern(100, 1));
    EXPECT_EQ(receiver_->opened, static_cast<int>(count) + 1);
}

TEST_F(References, ToOtherBytesThanExpectedOrOutsideOfTheAllocationAreCorrupt) {
    const DeviceBuffer buffer(*device_, 5000);
    const Reference good = refer(buffer.data() + 1000, 4000);
    EXPECT_EQ(refusal(good, 4000), Code::ok);
    EXPECT_EQ(refusal(good, 3999), Code::corrupt);
    EXPECT_EQ(refusal(with(good, offset_field, 1001), 4000), Code::corrupt);
    EXPECT_EQ(refusal(with(good, offset_field, ~std::uint64_t{0}), 4000), Code::corrupt);
    EXPECT_EQ(refusal(with(good, offset_field, std::uint64_t{0} - 4000), 4000), Code::corrupt);
    const Reference huge = with(good, size_field, ~std::uint64_t{0});
    EXPECT_EQ(refusal(huge, ~std::size_t{0}), Code::corrupt);
    // A reference that lies about its allocation: the device knows how large it is.
    const Reference larger = with(with(good, allocation_size_field, 1 << 20), size_field, 1 << 19);
    EXPECT_EQ(refusal(larger, 1 << 19), Code::corrupt);
    EXPECT_EQ(received_->resolve(std::span(good).first(127), 4000).status().code(), Code::corrupt);
    EXPECT_EQ(received_->resolve({}, 4000).status().code(), Code::corrupt);
    EXPECT_EQ(refusal(Reference{}, 0), Code::corrupt);
}

TEST_F(References, ThatAreCorruptDoAwayWithNothing) {
    std::vector<std::unique_ptr<DeviceBuffer>> buffers;
    std::vector<Reference> good;
    for (std::size_t i = 0; i < PeerDeviceMemory::most_mappings; ++i) {
        buffers.push_back(std::make_unique<DeviceBuffer>(*device_, 100));
        good.push_back(refer(buffers.back()->data(), 100));
        EXPECT_EQ(refusal(good.back(), 100), Code::ok);
    }
    for (const Reference& reference : good) {
        // Another allocation at the same address, with a handle that is none; and too large.
        const Reference other = with(reference, id_field, 12345);
        EXPECT_EQ(refusal(with(other, handle_field, 0), 100), Code::corrupt);
        EXPECT_EQ(refusal(with(other, allocation_size_field, 101), 100), Code::corrupt);
    }
    for (const Reference& reference : good) EXPECT_EQ(refusal(reference, 100), Code::ok);
    const auto count = static_cast<int>(buffers.size());
    EXPECT_EQ(receiver_->opened, 2 * count);
    EXPECT_EQ(receiver_->closed, count) << "those that were too large, and no other";
}

/// The receiver maps one allocation at a time, as drivers do.
TEST_F(References, AreOpenedWhereSomethingThatWasReleasedIsInTheWay) {
    receiver_->one_at_a_time = true;
    expect_each_read_at_one_address();
    EXPECT_EQ(receiver_->closed, 2);
}

TEST_F(References, OfAnyBytesAreRefusedOrMeanBytesOfADevice) {
    const DeviceBuffer buffer(*device_, 5000);
    const Reference good = refer(buffer.data(), 4000);
    std::mt19937 random(6);
    for (int i = 0; i < 5000; ++i) {
        Reference changed = good;
        for (auto n = 1 + random() % 4; n > 0; --n)
            changed[random() % changed.size()] = static_cast<std::byte>(random());
        const auto bytes = received_->resolve(changed, 4000);
        if (!bytes.ok()) continue;
        const auto* const first = static_cast<const std::byte*>(*bytes);
        EXPECT_EQ(plugin_->device_of(first), 1);
        EXPECT_EQ(plugin_->device_of(first + 3999), 1);
    }
}

TEST_F(References, ToMemoryOfTheHostOrThatIsNotSharedAreRefused) {
    int on_stack = 0;
    Reference reference{};
    EXPECT_EQ(sent_->refer(&on_stack, sizeof on_stack, reference).code(), Code::invalid_buffer);
    const DeviceBuffer buffer(*device_, 5000);
    sender_->may_share = false;
    EXPECT_EQ(sent_->refer(buffer.data(), 100, reference).code(), Code::unsupported);
    sender_->may_share = true;
    receiver_->may_open = false;
    EXPECT_EQ(refusal(refer(buffer.data(), 100), 100), Code::unsupported);
}

}  // namespace
}  // namespace gradcoll::test
