// nic/agent/greeting.hpp - two agents introduce themselves: each proves that it knows the secret of
// the group, before either takes a frame.
#pragma once

#include <netinet/in.h>

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "nic/agent/poller.hpp"
#include "nic/agent/wire.hpp"

namespace gradcoll {

using NicClock = std::chrono::steady_clock;
/// Whoever connects has this long to say and prove who it is.
inline constexpr std::chrono::milliseconds greeting_patience{1000};

/// Greeted is a connection that is as good as made: its frames begin with `first`.
struct Greeted {
    Descriptor socket;
    std::vector<std::byte> first;
};

/// A GreetingSocket is read for messages of known lengths before anything else.
class GreetingSocket {
  public:
    explicit GreetingSocket(Descriptor socket) : socket_(std::move(socket)) {}
    int number() const { return socket_.number(); }
    /// Reads a message, and returns whether there are as many bytes as it has. Errors: transport.
    template <class Message>
    Result<bool> read(Message& message) {
        return read_bytes(&message, sizeof message);
    }
    template <class Message>
    Status write(const Message& message) {
        return write_bytes(&message, sizeof message);
    }
    Greeted give_up() { return {std::move(socket_), std::move(buffer_)}; }

  private:
    Result<bool> read_bytes(void* to, std::size_t size_bytes);
    Status write_bytes(const void* from, std::size_t size_bytes);

    Descriptor socket_;
    std::vector<std::byte> buffer_;
};

/// An IncomingGreeting is somebody who has connected to this agent. It ends as one of the group, or
/// not at all.
class IncomingGreeting final : public Watched {
  public:
    /// FindKey returns null if there is no such group here, or it has no such host, or `to` is not
    /// this one.
    using FindKey = std::function<const NicGroupKey*(const LinkHello& hello)>;
    using Done = std::function<void(IncomingGreeting&, const Status&)>;
    /// `done` is called once, in ready() or give_up_late().
    IncomingGreeting(Poller& poller, Descriptor socket, FindKey find_key, Done done);
    ~IncomingGreeting() override;
    Status begin() { return poller_.add(socket_.number(), *this); }
    void ready() override;
    void give_up_late(NicClock::time_point now);
    const LinkHello& hello() const { return said_.hello; }
    Greeted greeted() { return socket_.give_up(); }

  private:
    Status go_on();
    Status answer_hello();
    void end(const Status& status);

    Poller& poller_;
    GreetingSocket socket_;
    FindKey find_key_;
    Done done_;
    NicClock::time_point deadline_ = NicClock::now() + greeting_patience;
    enum class Step : std::uint8_t { hello, answer, done } step_ = Step::hello;
    LinkIntroduction said_;
    NicProof expected_{};
};

/// An OutgoingGreeting connects this agent to another one's endpoint, by whichever of its addresses
/// leads there.
class OutgoingGreeting final : public Watched {
  public:
    using Done = std::function<void(OutgoingGreeting&, const Status&)>;
    struct Aim {
        NicGroupKey key;
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        NicEndpoint endpoint;
    };
    OutgoingGreeting(Poller& poller, const Aim& aim, Done done);
    ~OutgoingGreeting() override;
    /// Tries the first address.
    void begin() { try_next(Status(Code::transport, "no address is known")); }
    void ready() override;
    void give_up_late(NicClock::time_point now);
    std::uint32_t to() const { return aim_.to; }
    Greeted greeted() { return socket_->give_up(); }

  private:
    enum class Step : std::uint8_t { connecting, challenge, up, done };
    void try_next(const Status& before);
    Status connect_to(std::uint32_t address);
    Status go_on();
    Status say_hello();
    Status answer_challenge();
    void drop_socket();
    void end(const Status& status);

    Poller& poller_;
    Aim aim_;
    Done done_;
    std::size_t next_address_ = 0;
    NicClock::time_point deadline_;
    Step step_ = Step::connecting;
    std::unique_ptr<GreetingSocket> socket_;
    LinkIntroduction said_;
};

}  // namespace gradcoll
