// The checked lane: the contract of a lane, and every flip in a message or its seal is found.
#include "transport/checked_lane.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <random>
#include <string_view>

#include "base/crc32c.hpp"
#include "support/loopback.hpp"
#include "transport/channel_contract.hpp"

namespace gradcoll {
namespace {

/// A CheckedChannel opens checked lanes of another channel; half of the tags are for seals.
class CheckedChannel final : public Channel {
  public:
    explicit CheckedChannel(Channel& channel) : channel_(channel) {}
    int rank() const override { return channel_.rank(); }
    int rank_count() const override { return channel_.rank_count(); }
    int tag_limit() const override { return channel_.tag_limit() / 2; }
    std::unique_ptr<Lane> open_lane(std::size_t capacity) override {
        return make_checked_lane(channel_.open_lane(2 * capacity), capacity, tag_limit() + 1);
    }

  private:
    Channel& channel_;
};

void on_all_ranks(LoopbackWorld& world, int ranks, const std::function<void(Channel&)>& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            CheckedChannel channel(world.channel(rank));
            body(channel);
        });
    for (std::thread& thread : threads) thread.join();
}

template <int Ranks, std::size_t EagerBytes, int DelayPercent>
struct CheckedWorld {
    static bool threads_allowed() { return true; }
    static bool self_messages_checked() { return true; }

    void run(const std::function<void(Channel&)>& body) {
        LoopbackWorld world(Ranks,
                            {.eager_bytes = EagerBytes, .delay_probability = DelayPercent / 100.0});
        on_all_ranks(world, Ranks, body);
    }
};

using Worlds = testing::Types<CheckedWorld<1, 0, 0>, CheckedWorld<2, 0, 0>,
                              CheckedWorld<5, 1000, 0>, CheckedWorld<3, 1000, 70>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Checked, ChannelContract, Worlds);

TEST(Crc32c, OfWhatEverybodyTries) {
    const std::string_view digits = "123456789";
    const auto bytes = std::as_bytes(std::span(digits));
    EXPECT_EQ(~crc32c(~0U, bytes), 0xe3069283U);
    EXPECT_EQ(~crc32c(crc32c(~0U, bytes.first(4)), bytes.subspan(4)), 0xe3069283U);
    EXPECT_EQ(~crc32c(~0U, {}), 0U);
}

/// Returns how many messages are flipped; more if the environment says so.
int flips_wanted(int usual) {
    const char* const wanted = std::getenv("GC_TEST_FLIPS");
    return wanted != nullptr ? std::atoi(wanted) : usual;
}

/// It changes 1 to 4 bits, or a run of bytes.
void flip(std::span<std::byte> bytes, std::mt19937_64& random) {
    if (bytes.empty()) return;
    if (random() % 4 == 0) {
        const std::size_t first = random() % bytes.size();
        const std::size_t count = std::min<std::size_t>(1 + random() % 64, bytes.size() - first);
        for (std::byte& byte : bytes.subspan(first, count))
            byte ^= static_cast<std::byte>(1 + random() % 255);
        return;
    }
    // An even number of flips of one bit would leave it as it was, so the bits are apart.
    const std::size_t bits = bytes.size() * 8;
    const std::size_t count = 1 + random() % 4;
    const std::size_t first = random() % bits;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t bit = (first + i * (bits / 4)) % bits;
        bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    }
}

/// Sends messages of many lengths from rank 0 to rank 1. Every second message that comes is
/// flipped, or its seal is: which, the tag says.
TEST(CheckedLane, FindsEveryFlipAndNothingElse) {
    const int wanted = flips_wanted(20'000);
    std::mt19937_64 random(5);
    int flipped = 0;
    LoopbackOptions options;
    constexpr int seals = 1 << 30;
    options.tamper = [&](const LoopbackEnvelope& envelope, std::span<std::byte> bytes) {
        const int number = envelope.tag % seals;
        const bool is_seal = envelope.tag >= seals;
        if (number % 2 == 1 && is_seal == (number % 4 == 3) && !bytes.empty()) {
            flip(bytes, random);
            ++flipped;
        }
        return bytes.size();
    };
    LoopbackWorld world(2, options);
    int found = 0, false_alarms = 0, missed = 0;
    on_all_ranks(world, 2, [&](Channel& channel) {
        const auto lane = channel.open_lane(1);
        std::mt19937_64 lengths(7);
        Bytes bytes = pattern(1 << 16, 3);
        for (int number = 0; number < 2 * wanted; ++number) {
            const std::size_t size = 1 + lengths() % (number % 16 == 0 ? bytes.size() : 500);
            const int tag = number % seals;
            const Status started = channel.rank() == 0
                                       ? lane->start_send(1, tag, bytes.data(), size, 0)
                                       : lane->start_recv(0, tag, bytes.data(), bytes.size(), 0);
            ASSERT_TRUE(started.ok()) << started.message();
            const auto done = drain(*lane);
            ASSERT_EQ(done.size(), 1U);
            ASSERT_TRUE(done[0].status.ok());
            if (channel.rank() == 0) continue;
            ASSERT_EQ(done[0].received_bytes, size);
            const bool was_flipped = number % 2 == 1;
            found += was_flipped && done[0].is_damaged ? 1 : 0;
            missed += was_flipped && !done[0].is_damaged ? 1 : 0;
            false_alarms += !was_flipped && done[0].is_damaged ? 1 : 0;
        }
    });
    EXPECT_EQ(flipped, wanted);
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(missed, 0);
    EXPECT_EQ(false_alarms, 0);
    RecordProperty("flips_found", found);
}

/// A message that is cut, or grows a seal too short, is damaged, too.
TEST(CheckedLane, FindsMessagesAndSealsThatAreCut) {
    for (const bool of_seal : {false, true}) {
        LoopbackOptions options;
        options.tamper = [&](const LoopbackEnvelope& envelope, std::span<std::byte> bytes) {
            return (envelope.tag >= 1 << 30) == of_seal ? bytes.size() - 1 : bytes.size();
        };
        LoopbackWorld world(2, options);
        on_all_ranks(world, 2, [&](Channel& channel) {
            const auto lane = channel.open_lane(1);
            Bytes bytes = pattern(100, 3);
            const Status started = channel.rank() == 0
                                       ? lane->start_send(1, 4, bytes.data(), bytes.size(), 0)
                                       : lane->start_recv(0, 4, bytes.data(), bytes.size(), 0);
            ASSERT_TRUE(started.ok());
            const auto done = drain(*lane);
            ASSERT_EQ(done.size(), 1U);
            EXPECT_EQ(done[0].is_damaged, channel.rank() == 1);
        });
    }
}

TEST(CheckedLane, ALaneThatBreaksSaysSoWithoutTheOtherPart) {
    LoopbackOptions options;
    options.tamper = [](const LoopbackEnvelope&, std::span<std::byte>) {
        return LoopbackOptions::breaks;
    };
    LoopbackWorld world(1, options);
    CheckedChannel channel(world.channel(0));
    const auto lane = channel.open_lane(2);
    Bytes bytes = pattern(100, 3), in(100);
    ASSERT_TRUE(lane->start_recv(0, 4, in.data(), in.size(), 7).ok());
    ASSERT_TRUE(lane->start_send(0, 4, bytes.data(), bytes.size(), 8).ok());
    std::array<Completion, 8> done;
    const auto count = lane->poll(done);
    ASSERT_TRUE(count.ok());
    const auto broken = std::find_if(done.begin(), done.end(), [](const Completion& each) {
        return each.status.code() == Code::transport;
    });
    ASSERT_NE(broken, done.end());
    EXPECT_EQ(broken->cookie, 7U);
    lane->abandon();
    EXPECT_EQ(lane->in_flight(), 0U);
}

}  // namespace
}  // namespace gradcoll
