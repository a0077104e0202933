#include "nic/agent/agent.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <utility>

#include "base/log.hpp"
#include "nic/agent/status.hpp"
#include "nic/agent/system_status.hpp"

namespace gradcoll {
namespace {

/// At most this many agents may be there that have not shown who they are, and this many processes.
constexpr std::size_t most_greetings = 64;
constexpr std::size_t most_sessions = 4096;
constexpr std::chrono::milliseconds tick{100};
constexpr std::chrono::milliseconds for_ever{-1};

/// Moves the object out of the list, to end when nobody is in the middle of it.
template <class Object>
void retire(std::vector<std::unique_ptr<Object>>& from, std::vector<std::unique_ptr<Object>>& to,
            const Object& object) {
    const auto at = std::find_if(from.begin(), from.end(),
                                 [&](const auto& each) { return each.get() == &object; });
    if (at == from.end()) return;
    to.push_back(std::move(*at));
    from.erase(at);
}

bool is_of_this_user(int socket) {
    ucred who{};
    socklen_t size = sizeof who;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == geteuid();
}

/// Says at which addresses other hosts find this one: the IPv4 addresses of interfaces that are up.
/// Addresses of the host's own loop come last.
NicEndpoint endpoint_of_this_host(std::uint16_t port) {
    NicEndpoint endpoint;
    endpoint.port = port;
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return endpoint;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
    for (const bool loop : {false, true})
        for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
            const bool is_loop = (at->ifa_flags & IFF_LOOPBACK) != 0;
            if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET ||
                (at->ifa_flags & IFF_UP) == 0 || is_loop != loop ||
                endpoint.address_count == NicEndpoint::most_addresses)
                continue;
            endpoint.addresses[endpoint.address_count++] =
                reinterpret_cast<const sockaddr_in*>(at->ifa_addr)->sin_addr.s_addr;
        }
    return endpoint;
}

}  // namespace

Agent::Agent(Poller poller)
    : poller_(std::move(poller)), host_{poller_, counters_, {}, {}, {}, {}} {}

/// Ends the sessions first, since they are in groups.
Agent::~Agent() {
    sessions_.clear();
    groups_.clear();
}

Result<std::unique_ptr<Agent>> Agent::make(NicDoor door, const AgentOptions& options) {
    std::unique_ptr<Agent> agent(new Agent(GRADCOLL_VALUE(Poller::make())));
    GRADCOLL_TRY(agent->open(std::move(door), options));
    return agent;
}

Status Agent::open(NicDoor door, const AgentOptions& options) {
    idle_exit_ = options.idle_exit;
    lock_ = std::move(door.lock);
    processes_.socket = std::move(door.socket);
    processes_.arrive = [this] { accept_process(); };
    agents_.arrive = [this] { accept_agent(); };
    host_.find_group = [this](const NicHello& hello, NicRoster roster) {
        return find_group(hello, std::move(roster));
    };
    host_.status = [this] { return status_json(); };
    host_.ended = [this](Session& session) { session_ended(session); };
    GRADCOLL_TRY(listen_for_agents(options.port));
    GRADCOLL_TRY(watch_signals());
    return poller_.add(processes_.socket.number(), processes_);
}

Status Agent::listen_for_agents(std::uint16_t port) {
    Descriptor& made = agents_.socket;
    made = Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!made.is_open()) return system_status(Code::io, "socket");
    const int on = 1;
    setsockopt(made.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    socklen_t size = sizeof address;
    if (bind(made.number(), reinterpret_cast<sockaddr*>(&address), size) != 0)
        return system_status(Code::io, "bind");
    if (listen(made.number(), most_greetings) != 0) return system_status(Code::io, "listen");
    getsockname(made.number(), reinterpret_cast<sockaddr*>(&address), &size);
    host_.endpoint = endpoint_of_this_host(ntohs(address.sin_port));
    return poller_.add(made.number(), agents_);
}

Status Agent::watch_signals() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&wanted, number);
    sigprocmask(SIG_BLOCK, &wanted, nullptr);
    signals_.descriptor = Descriptor(signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC));
    if (!signals_.descriptor.is_open()) return system_status(Code::io, "signalfd");
    return poller_.add(signals_.descriptor.number(), signals_);
}

// ---- who arrives

void Agent::accept_process() {
    Descriptor socket(
        accept4(processes_.socket.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.is_open()) return;
    if (sessions_.size() >= most_sessions || !is_of_this_user(socket.number())) {
        ++counters_.ranks_refused;
        return;
    }
    sessions_.push_back(std::make_unique<Session>(host_, std::move(socket)));
    if (!sessions_.back()->begin().ok()) sessions_.pop_back();
}

void Agent::accept_agent() {
    Descriptor socket(
        accept4(agents_.socket.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.is_open()) return;
    if (greetings_.size() >= most_greetings) {
        ++counters_.connections_refused;
        return;
    }
    const int on = 1;
    setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    greetings_.push_back(std::make_unique<IncomingGreeting>(
        poller_, std::move(socket), [this](const LinkHello& hello) { return key_for(hello); },
        [this](IncomingGreeting& greeting, const Status& status) {
            greeting_ended(greeting, status);
        }));
    if (!greetings_.back()->begin().ok()) greetings_.pop_back();
}

const NicGroupKey* Agent::key_for(const LinkHello& hello) {
    const Group* group = group_of(hello.group);
    return group != nullptr && hello.to == group->members().host && group->expects(hello.from)
               ? &group->key()
               : nullptr;
}

/// Gives the connection to its group, which may have ended meanwhile, or have got another
/// connection first.
void Agent::greeting_ended(IncomingGreeting& greeting, const Status& status) {
    Group* group = group_of(greeting.hello().group);
    if (status.ok() && group != nullptr && group->expects(greeting.hello().from)) {
        group->take_link(greeting.hello().from, greeting.greeted());
    } else {
        ++counters_.connections_refused;
        log(LogLevel::info, "a connection is refused: {}", status.message());
    }
    retire(greetings_, ended_greetings_, greeting);
}

void Agent::session_ended(Session& session) {
    retire(sessions_, ended_sessions_, session);
}

// ---- groups

Group* Agent::group_of(const std::array<std::uint8_t, 16>& id) {
    const auto at = std::find_if(groups_.begin(), groups_.end(),
                                 [&](const auto& group) { return group->key().id == id; });
    return at == groups_.end() ? nullptr : at->get();
}

Result<Group*> Agent::find_group(const NicHello& hello, NicRoster roster) {
    if (Group* group = group_of(hello.key.id)) {
        const LocalMembers& members = group->members();
        const bool same = group->key().secret == hello.key.secret && members.host == hello.host &&
                          members.roster.host_of_rank == roster.host_of_rank;
        if (!same) return Status(Code::invalid_argument, "a group of that name is another one");
        return group;
    }
    groups_.push_back(std::make_unique<Group>(Group::Around{poller_, counters_}, hello.key,
                                              hello.host, std::move(roster)));
    return groups_.back().get();
}

// ---- turns

/// Does the work of a turn and returns whether ranks have written more meanwhile.
bool Agent::work() {
    const auto wrong = [this](Group& group, std::uint32_t rank, const Status& status) {
        ++counters_.bad_entries;
        const auto at = std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& session) {
            return session->group() == &group && session->rank() == rank;
        });
        if (at != sessions_.end()) (*at)->refuse(status);
    };
    bool more = false;
    for (const auto& group : groups_) {
        group->work([&](std::uint32_t rank, const Status& status) { wrong(*group, rank, status); });
        more |= group->has_work();
    }
    return more;
}

std::chrono::milliseconds Agent::patience() const {
    const bool waits =
        !greetings_.empty() || std::any_of(groups_.begin(), groups_.end(),
                                           [](const auto& group) { return group->is_waiting(); });
    if (waits) return tick;
    if (!groups_.empty()) return nic_beat;
    return idle_exit_.count() > 0 && groups_.empty() ? std::chrono::milliseconds(1000) : for_ever;
}

void Agent::give_up_late() {
    const NicClock::time_point now = NicClock::now();
    for (std::size_t i = greetings_.size(); i-- > 0;) greetings_[i]->give_up_late(now);
    for (const auto& group : groups_)
        if (group->is_waiting()) group->give_up_late(now);
}

/// Beats if it is time. An agent that was stopped itself has one beat behind it, not as many as
/// there would have been.
void Agent::beat_if_due() {
    const NicClock::time_point now = NicClock::now();
    if (now - last_beat_ < nic_beat) return;
    last_beat_ = now;
    for (const auto& group : groups_) group->beat();
}

void Agent::clear_ended() {
    ended_sessions_.clear();
    ended_greetings_.clear();
    for (const auto& group : groups_) group->clear_ended();
    std::erase_if(groups_, [](const auto& group) { return group->is_empty(); });
}

/// Returns whether the agent may end. Whoever only asks how it is does not keep it.
bool Agent::is_idle_for_long() {
    const NicClock::time_point now = NicClock::now();
    if (!groups_.empty()) last_busy_ = now;
    return idle_exit_.count() > 0 && sessions_.empty() && now - last_busy_ >= idle_exit_;
}

/// Runs the turns. Ranks see that the agent is about to sleep before it looks for their entries
/// once more: they wake it for what they write later.
Status Agent::run() {
    while (!signals_.came && !is_idle_for_long()) {
        const bool more = work();
        bool sleeps = !more;
        if (sleeps) {
            for (const auto& group : groups_) group->say_sleeps(true);
            sleeps = std::none_of(groups_.begin(), groups_.end(),
                                  [](const auto& group) { return group->has_work(); });
        }
        if (sleeps) ++counters_.sleeps;
        GRADCOLL_TRY(poller_.turn(sleeps ? patience() : std::chrono::milliseconds(0)));
        for (const auto& group : groups_) group->say_sleeps(false);
        give_up_late();
        beat_if_due();
        clear_ended();
    }
    return {};
}

std::string Agent::status_json() const {
    AgentFacts facts;
    facts.uptime_s = std::chrono::duration<double>(NicClock::now() - started_).count();
    facts.port = host_.endpoint.port;
    facts.counters = counters_;
    for (const auto& group : groups_)
        facts.groups.push_back({group->members().by_rank.size(), group->members().here.size(),
                                group->members().roster.endpoints.size(), group->link_count()});
    return json_of(facts);
}

}  // namespace gradcoll
