// nic/agent/group.hpp - a communicator as an agent sees it: its ranks here, and links to the agents
// of its other hosts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "nic/agent/greeting.hpp"
#include "nic/agent/link.hpp"

namespace gradcoll {

class Group {
  public:
    /// The references have to be valid as long as the group.
    struct Around {
        Poller& poller;
        AgentCounters& counters;
    };
    Group(const Around& around, const NicGroupKey& key, std::uint32_t host, NicRoster roster);

    const NicGroupKey& key() const { return key_; }
    LocalMembers& members() { return members_; }
    const LocalMembers& members() const { return members_; }
    NicShape shape() const {
        return NicShape::of(static_cast<std::uint32_t>(members_.roster.host_of_rank.size()));
    }

    /// Errors: invalid_argument if the rank belongs to another host, or is here already.
    Status join(std::shared_ptr<NicMember> member);
    /// Removes a rank, whose memory stays as long as something of it is under way.
    void leave(std::uint32_t rank);
    bool is_empty() const { return members_.here.empty(); }

    /// Connects to hosts with higher numbers, once, and waits for the others. `done` is told when
    /// all are linked, or one cannot be.
    using Connected = std::function<void(const Status&)>;
    void connect(Connected done);
    /// Returns whether it waits for a connection of that host.
    bool expects(std::uint32_t host) const;
    void take_link(std::uint32_t host, Greeted greeted);
    std::size_t link_count() const { return links_.size(); }

    /// Takes entries of all ranks, as many as go in one turn, and sends. Ranks whose entries are
    /// wrong are given to `wrong`.
    void work(const std::function<void(std::uint32_t rank, const Status&)>& wrong);
    bool has_work() const;
    void say_sleeps(bool sleeps);
    /// Shows ranks here and other agents that this one works, and looks whether those do. Called
    /// once in nic_beat.
    void beat();
    void give_up_late(NicClock::time_point now);
    /// Returns whether give_up_late() is waited for.
    bool is_waiting() const { return !greetings_.empty() || connected_ != nullptr; }
    /// Frees what ended in this turn, which nobody uses any longer.
    void clear_ended() {
        ended_.clear();
        ended_greetings_.clear();
    }

  private:
    void send_all();
    void begin_greeting(std::uint32_t host);
    void greeting_ended(OutgoingGreeting& greeting, const Status& status);
    void link_lost(std::uint32_t host, const Status& status);
    void answer_if_linked();
    void answer(const Status& status);
    Status take_entries(const std::shared_ptr<NicMember>& member);
    void send_of_sum(std::uint32_t host, const LinkFrame& frame, SumBytes bytes);

    Around around_;
    NicGroupKey key_;
    LocalMembers members_;
    GroupSums sums_;
    std::map<std::uint32_t, std::unique_ptr<Link>> links_;  ///< one per host
    std::vector<std::unique_ptr<OutgoingGreeting>> greetings_;
    std::vector<std::unique_ptr<Link>> ended_;
    std::vector<std::unique_ptr<OutgoingGreeting>> ended_greetings_;
    bool was_connected_ = false;  ///< whether connect() has been called
    bool lost_any_ = false;
    std::vector<Link::Wrong> wrong_;  ///< wrong ranks of this turn
    Connected connected_;
    NicClock::time_point connect_deadline_;
};

}  // namespace gradcoll
