// Two agents introduce themselves over a connection of this host.
#include "nic/agent/greeting.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <string>

namespace gradcoll {
namespace {

NicGroupKey key_of(std::uint8_t secret) {
    NicGroupKey key;
    key.id[0] = 1;
    key.secret[0] = secret;
    return key;
}

/// An agent that listens, knows one group, and takes one connection.
class Listener final : public Watched {
  public:
    Listener(Poller& poller, const NicGroupKey& key) : poller_(poller), key_(key) {
        socket_ = Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(bind(socket_.number(), reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(listen(socket_.number(), 4), 0);
        getsockname(socket_.number(), reinterpret_cast<sockaddr*>(&address), &size);
        endpoint.port = ntohs(address.sin_port);
        endpoint.address_count = 1;
        endpoint.addresses[0] = address.sin_addr.s_addr;
        EXPECT_TRUE(poller.add(socket_.number(), *this).ok());
    }
    ~Listener() override { poller_.remove(socket_.number(), *this); }

    void ready() override {
        greeting_ = std::make_unique<IncomingGreeting>(
            poller_, Descriptor(accept(socket_.number(), nullptr, nullptr)),
            [this](const LinkHello& hello) {
                return hello.group == key_.id && hello.to == 5 ? &key_ : nullptr;
            },
            [this](IncomingGreeting&, const Status& status) { outcome = status; });
        EXPECT_TRUE(greeting_->begin().ok());
    }
    void give_up_late(NicClock::time_point now) {
        if (greeting_) greeting_->give_up_late(now);
    }

    NicEndpoint endpoint;
    std::optional<Status> outcome;

  private:
    Poller& poller_;
    NicGroupKey key_;
    Descriptor socket_;
    std::unique_ptr<IncomingGreeting> greeting_;
};

struct Outcomes {
    Status connected;
    std::optional<Status> accepted;
};

Outcomes greet(const NicGroupKey& theirs, const OutgoingGreeting::Aim& mine) {
    Poller poller = std::move(Poller::make()).value();
    Listener listener(poller, theirs);
    OutgoingGreeting::Aim aim = mine;
    aim.endpoint = listener.endpoint;
    std::optional<Status> connected;
    OutgoingGreeting greeting(poller, aim,
                              [&](OutgoingGreeting&, const Status& status) { connected = status; });
    greeting.begin();
    for (int turn = 0; turn < 500 && !connected; ++turn) {
        EXPECT_TRUE(poller.turn(std::chrono::milliseconds(10)).ok());
        greeting.give_up_late(NicClock::now());
    }
    return {connected.value_or(Status(Code::internal, "never")), listener.outcome};
}

TEST(Greeting, OfTwoThatKnowTheSecretSucceedsOnBothSides) {
    const Outcomes outcomes = greet(key_of(7), {key_of(7), 2, 5, {}});
    EXPECT_TRUE(outcomes.connected.ok()) << outcomes.connected.message();
    ASSERT_TRUE(outcomes.accepted.has_value());
    EXPECT_TRUE(outcomes.accepted->ok()) << outcomes.accepted->message();
}

TEST(Greeting, WithAnotherSecretIsRefused) {
    const Outcomes outcomes = greet(key_of(8), {key_of(7), 2, 5, {}});
    EXPECT_NE(outcomes.connected.message().find("secret"), std::string::npos)
        << outcomes.connected.message();
    EXPECT_FALSE(outcomes.accepted && outcomes.accepted->ok());
}

TEST(Greeting, ForAnotherHostOrGroupIsRefusedWithoutAnAnswer) {
    const Outcomes host = greet(key_of(7), {key_of(7), 2, 4, {}});
    EXPECT_FALSE(host.connected.ok());
    ASSERT_TRUE(host.accepted.has_value());
    EXPECT_EQ(host.accepted->code(), Code::invalid_argument);
    NicGroupKey other = key_of(7);
    other.id[0] = 2;
    const Outcomes group = greet(key_of(7), {other, 2, 5, {}});
    EXPECT_FALSE(group.connected.ok());
    ASSERT_TRUE(group.accepted.has_value());
    EXPECT_EQ(group.accepted->code(), Code::invalid_argument);
}

/// Returns the error for whoever connects and says this.
Status refused_after(const void* bytes, std::size_t size_bytes) {
    Poller poller = std::move(Poller::make()).value();
    Listener listener(poller, key_of(7));
    const Descriptor stranger(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(listener.endpoint.port);
    address.sin_addr.s_addr = listener.endpoint.addresses[0];
    EXPECT_EQ(connect(stranger.number(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_GE(send(stranger.number(), bytes, size_bytes, MSG_NOSIGNAL), 0);
    for (int turn = 0; turn < 10; ++turn)
        EXPECT_TRUE(poller.turn(std::chrono::milliseconds(5)).ok());
    if (!listener.outcome) listener.give_up_late(NicClock::now() + greeting_patience);
    return listener.outcome.value_or(Status(Code::internal, "never"));
}

TEST(Greeting, OfAStrangerIsRefused) {
    EXPECT_NE(refused_after(nullptr, 0).message().find("in time"), std::string::npos);
    LinkHello hello;
    EXPECT_NE(refused_after(&hello, 10).message().find("in time"), std::string::npos);
    hello.magic = 1;
    EXPECT_EQ(refused_after(&hello, sizeof hello).code(), Code::corrupt);
    hello = LinkHello();
    hello.version = 99;
    const Status status = refused_after(&hello, sizeof hello);
    EXPECT_NE(status.message().find("99"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(std::to_string(nic_version)), std::string::npos);
}

}  // namespace
}  // namespace gradcoll
