// nic/agent/agent.hpp - the agent: one thread that waits for ranks of this host and for the agents
// of others.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "nic/agent/session.hpp"
#include "nic/directory.hpp"

namespace gradcoll {

struct AgentOptions {
    std::uint16_t port = 0;             ///< where other agents connect to; 0: any
    std::chrono::seconds idle_exit{0};  ///< ends when nobody was here for this long; 0: never
};

class Agent {
  public:
    /// Errors: io.
    static Result<std::unique_ptr<Agent>> make(NicDoor door, const AgentOptions& options);
    ~Agent();

    /// Runs until a signal asks it to end, or nobody has been here for long. Errors: io.
    Status run();
    std::string status_json() const;

  private:
    /// An Entrance is a socket at which others arrive.
    struct Entrance final : Watched {
        void ready() override { arrive(); }
        Descriptor socket;
        std::function<void()> arrive;
    };
    struct Signals final : Watched {
        void ready() override { came = true; }
        Descriptor descriptor;
        bool came = false;
    };

    explicit Agent(Poller poller);
    Status open(NicDoor door, const AgentOptions& options);
    Status listen_for_agents(std::uint16_t port);
    Status watch_signals();
    void accept_process();
    void accept_agent();
    void greeting_ended(IncomingGreeting& greeting, const Status& status);
    void session_ended(Session& session);
    Result<Group*> find_group(const NicHello& hello, NicRoster roster);
    Group* group_of(const std::array<std::uint8_t, 16>& id);
    const NicGroupKey* key_for(const LinkHello& hello);
    bool work();
    std::chrono::milliseconds patience() const;
    void give_up_late();
    void beat_if_due();
    void clear_ended();
    bool is_idle_for_long();

    Poller poller_;
    AgentCounters counters_;
    std::chrono::seconds idle_exit_{0};
    NicClock::time_point started_ = NicClock::now();
    NicClock::time_point last_busy_ = NicClock::now();
    NicClock::time_point last_beat_ = NicClock::now();
    Descriptor lock_;
    Entrance processes_;
    Entrance agents_;
    Signals signals_;
    Session::Host host_;
    std::vector<std::unique_ptr<Group>> groups_;
    std::vector<std::unique_ptr<Session>> sessions_;
    std::vector<std::unique_ptr<IncomingGreeting>> greetings_;
    std::vector<std::unique_ptr<Session>> ended_sessions_;
    std::vector<std::unique_ptr<IncomingGreeting>> ended_greetings_;
};

}  // namespace gradcoll
