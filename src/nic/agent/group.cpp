#include "nic/agent/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "base/refusals.hpp"

namespace gradcoll {
namespace {

/// All links of a group together may take this long: an agent that is connected to may have to wait
/// for its own ranks.
constexpr std::chrono::seconds connect_patience{8};
/// One rank has this many entries before the next has its turn.
constexpr int entries_a_turn = 64;

}  // namespace

Group::Group(const Around& around, const NicGroupKey& key, std::uint32_t host, NicRoster roster)
    : around_(around),
      key_(key),
      sums_(
          {members_, around.counters},
          [this](std::uint32_t to, const LinkFrame& frame, SumBytes bytes) {
              send_of_sum(to, frame, std::move(bytes));
          },
          [this](std::uint32_t to) {
              const auto link = links_.find(to);
              return link == links_.end() ? std::uint64_t{0} : link->second->spare_ns();
          }) {
    members_.by_rank.resize(roster.host_of_rank.size());
    members_.gone.resize(roster.host_of_rank.size());
    members_.host = host;
    members_.roster = std::move(roster);
}

Status Group::join(std::shared_ptr<NicMember> member) {
    const std::uint32_t rank = member->rank();
    if (rank >= members_.by_rank.size() || members_.roster.host_of_rank[rank] != members_.host)
        return {Code::invalid_argument, fmt::format("rank {} is not of this host", rank)};
    if (members_.by_rank[rank])
        return {Code::invalid_argument, fmt::format("rank {} is here already", rank)};
    members_.by_rank[rank] = std::move(member);
    members_.here.push_back(rank);
    return {};
}

void Group::leave(std::uint32_t rank) {
    sums_.rank_leaves(rank);
    members_.by_rank[rank] = nullptr;
    std::erase(members_.here, rank);
    for (const auto& [host, link] : links_) link->tell_gone(rank);
    send_all();
}

void Group::send_of_sum(std::uint32_t host, const LinkFrame& frame, SumBytes bytes) {
    if (const auto link = links_.find(host); link != links_.end())
        link->second->line_up(frame, std::move(bytes));
}

/// Lets all links send. A link that fails meanwhile leaves the map.
void Group::send_all() {
    std::vector<Link*> links;
    for (const auto& [host, link] : links_) links.push_back(link.get());
    for (Link* link : links) link->send();
}

// ---- links

bool Group::expects(std::uint32_t host) const {
    return host < members_.host && links_.find(host) == links_.end() && !lost_any_;
}

void Group::connect(Connected done) {
    connected_ = std::move(done);
    connect_deadline_ = NicClock::now() + connect_patience;
    if (!std::exchange(was_connected_, true))
        for (std::uint32_t host = members_.host + 1; host < members_.roster.endpoints.size();
             ++host)
            begin_greeting(host);
    answer_if_linked();
}

void Group::begin_greeting(std::uint32_t host) {
    greetings_.push_back(std::make_unique<OutgoingGreeting>(
        around_.poller,
        OutgoingGreeting::Aim{key_, members_.host, host, members_.roster.endpoints[host]},
        [this](OutgoingGreeting& greeting, const Status& status) {
            greeting_ended(greeting, status);
        }));
    greetings_.back()->begin();
}

void Group::greeting_ended(OutgoingGreeting& greeting, const Status& status) {
    if (status.ok())
        take_link(greeting.to(), greeting.greeted());
    else
        answer(status);
    const auto at = std::find_if(greetings_.begin(), greetings_.end(),
                                 [&](const auto& each) { return each.get() == &greeting; });
    if (at == greetings_.end()) return;
    ended_greetings_.push_back(std::move(*at));
    greetings_.erase(at);
}

void Group::take_link(std::uint32_t host, Greeted greeted) {
    auto link = std::make_unique<Link>(
        Link::Around{around_.poller, around_.counters, members_, sums_}, host,
        std::move(greeted.socket), [this, host](const Status& status) { link_lost(host, status); });
    Link& made = *link;
    links_[host] = std::move(link);
    ++around_.counters.links_made;
    if (const Status begun = made.begin(greeted.first); !begun.ok()) return link_lost(host, begun);
    answer_if_linked();
}

/// Removes a link that has failed. Ranks find out by themselves, and go another way.
void Group::link_lost(std::uint32_t host, const Status& status) {
    const auto at = links_.find(host);
    if (at == links_.end()) return;
    ended_.push_back(std::move(at->second));
    links_.erase(at);
    lost_any_ = true;
    bool was_left = true;
    for (std::uint32_t rank = 0; rank < members_.by_rank.size(); ++rank) {
        if (members_.roster.host_of_rank[rank] != host) continue;
        was_left &= members_.gone[rank];
        for (const std::uint32_t here : members_.here)
            members_.by_rank[here]->lose(rank, NicPeerState::lost);
    }
    if (!was_left) ++around_.counters.links_lost;
    if (status.code() == Code::corrupt) ++around_.counters.bad_frames;
    log(was_left ? LogLevel::debug : LogLevel::warn, "link to host {} is lost: {}", host,
        status.message());
    sums_.end("an agent is lost");
    answer({Code::transport, fmt::format("link to host {}: {}", host, status.message())});
}

void Group::answer_if_linked() {
    if (links_.size() + 1 == members_.roster.endpoints.size()) answer({});
}

void Group::answer(const Status& status) {
    if (const Connected done = std::exchange(connected_, nullptr)) done(status);
}

void Group::give_up_late(NicClock::time_point now) {
    for (std::size_t i = greetings_.size(); i-- > 0;) greetings_[i]->give_up_late(now);
    if (connected_ && now >= connect_deadline_)
        answer({Code::transport, fmt::format("{} of {} other hosts are linked in time",
                                             links_.size(), members_.roster.endpoints.size() - 1)});
}

// ---- work

Status Group::take_entries(const std::shared_ptr<NicMember>& member) {
    for (int i = 0; i < entries_a_turn; ++i) {
        const std::optional<NicMember::Taken> taken = GRADCOLL_VALUE(member->take_entry());
        if (!taken) return {};
        if (taken->peer == member->rank()) continue;
        const std::uint32_t host = members_.roster.host_of_rank[taken->peer];
        if (host == members_.host) return corrupt("entry for rank {} of this host", taken->peer);
        if (const auto link = links_.find(host); link != links_.end())
            link->second->line_up(member, taken->peer);
    }
    return {};
}

void Group::work(const std::function<void(std::uint32_t, const Status&)>& wrong) {
    for (std::size_t i = members_.here.size(); i-- > 0;) {
        const std::uint32_t rank = members_.here[i];
        if (const Status status = take_entries(members_.by_rank[rank]); !status.ok())
            wrong(rank, status);
    }
    for (bool more = true; more;) {
        more = sums_.work();
        send_all();
    }
    for (const auto& [host, link] : links_)
        for (const Link::Wrong& each : link->take_wrong()) wrong_.push_back(each);
    for (const Link::Wrong& each : std::exchange(wrong_, {})) wrong(each.rank, each.why);
}

bool Group::has_work() const {
    return std::any_of(members_.here.begin(), members_.here.end(), [this](std::uint32_t rank) {
        return members_.by_rank[rank]->has_entries();
    });
}

void Group::beat() {
    for (const std::uint32_t rank : members_.here) members_.by_rank[rank]->beats();
    std::vector<Link*> links;
    for (const auto& [host, link] : links_) links.push_back(link.get());
    for (Link* link : links) link->beat();
}

void Group::say_sleeps(bool sleeps) {
    for (const std::uint32_t rank : members_.here) members_.by_rank[rank]->says_sleeps(sleeps);
}

}  // namespace gradcoll
