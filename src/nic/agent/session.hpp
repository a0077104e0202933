// nic/agent/session.hpp - a process of this host that has connected to the agent: a rank of a
// group, or somebody who asks how the agent is.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "nic/agent/group.hpp"
#include "nic/control.hpp"

namespace gradcoll {

class Session final : public Watched {
  public:
    /// Host is what the agent does for its sessions.
    struct Host {
        Poller& poller;
        AgentCounters& counters;
        NicEndpoint endpoint;
        /// Returns the group of that key, which the first of its ranks makes. Errors:
        /// invalid_argument if the roster is not that of the others, or the key is not.
        std::function<Result<Group*>(const NicHello& hello, NicRoster roster)> find_group;
        std::function<std::string()> status;
        /// Is told that the session is of no use any more.
        std::function<void(Session&)> ended;
    };

    Session(const Host& host, Descriptor socket);
    ~Session() override;
    Status begin();
    void ready() override;

    /// Returns null before it has joined.
    Group* group() const { return group_; }
    std::uint32_t rank() const { return hello_.rank; }
    /// Tells the process why, and ends.
    void refuse(const Status& why);

  private:
    /// An Event wakes the agent, for this rank alone. That it has been written is all that it says.
    struct Event final : Watched {
        void ready() override {}
        Descriptor descriptor;
    };

    Status take(NicReceived packet);
    Status take_hello(const NicHello& hello);
    Status take_roster(NicReceived packet);
    Status tell_status();
    bool take_down();
    void end();

    const Host& host_;
    Descriptor socket_;
    enum class Step : std::uint8_t { hello, roster, joined, ended } step_ = Step::hello;
    NicHello hello_;
    Group* group_ = nullptr;
    Event event_;
    std::shared_ptr<bool> is_there_ = std::make_shared<bool>(
        true);  ///< lets answers that come late see whether the session is there
};

}  // namespace gradcoll
