#include "nic/transport/nic_meeting.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/hash.hpp"
#include "base/mpi/exchange.hpp"
#include "base/mpi/mpi.hpp"
#include "nic/coded_frame.hpp"

namespace gradcoll {
namespace {

/// Returns ok, or on all ranks the error of the lowest that has one.
Status agree(MPI_Comm comm, const Status& mine) {
    const int teller =
        GRADCOLL_VALUE(combined(comm, MPI_MIN, mine.ok() ? comm_size(comm) : comm_rank(comm)));
    if (teller == comm_size(comm)) return {};
    std::array<char, 256> text{};
    std::memcpy(text.data(), mine.message().data(),
                std::min(mine.message().size(), text.size() - 1));
    Code code = mine.code();
    GRADCOLL_TRY(broadcast(comm, text, teller));
    GRADCOLL_TRY(broadcast(comm, code, teller));
    return {code, fmt::format("rank {}: {}", teller, text.data())};
}

Status fill_at_random(void* to, std::size_t size_bytes) {
    if (getrandom(to, size_bytes, 0) == static_cast<ssize_t>(size_bytes)) return {};
    return {Code::io, "the system has no random numbers"};
}

/// Returns the key, which rank 0 makes up. It travels in messages of the MPI library, as the data
/// do without agents.
Result<NicGroupKey> key_for_all(MPI_Comm comm) {
    NicGroupKey key;
    Status made;
    if (comm_rank(comm) == 0) {
        made = fill_at_random(key.id.data(), key.id.size());
        if (made.ok()) made = fill_at_random(key.secret.data(), key.secret.size());
    }
    GRADCOLL_TRY(agree(comm, made));
    GRADCOLL_TRY(broadcast(comm, key));
    return key;
}

NicHello hello_of(MPI_Comm comm, const NicPlacement& placement, const NicGroupKey& key) {
    NicHello hello;
    hello.rank = static_cast<std::uint32_t>(comm_rank(comm));
    hello.rank_count = static_cast<std::uint32_t>(comm_size(comm));
    hello.host = placement.host_of_rank[hello.rank];
    hello.host_count = placement.host_count();
    hello.key = key;
    return hello;
}

Result<AgentConnection> open_or_start(const NicPlacement& placement, const NicHello& hello) {
    Result<AgentConnection> agent = AgentConnection::open(placement.directory, hello);
    if (agent.ok() || agent.status().code() != Code::io || !placement.starts_agent) return agent;
    GRADCOLL_TRY(start_nic_agent(placement.directory));
    return AgentConnection::open(placement.directory, hello);
}

/// Opens the connections. The first rank of each host starts the agent, if anybody does; then the
/// others come.
Result<AgentConnection> open_connections(MPI_Comm comm, const NicPlacement& placement,
                                         const NicHello& hello) {
    const bool first = placement.is_first_of_host(hello.rank);
    Result<AgentConnection> agent =
        first ? open_or_start(placement, hello) : Result<AgentConnection>(AgentConnection());
    GRADCOLL_TRY(agree(comm, agent.status()));
    if (!first) agent = AgentConnection::open(placement.directory, hello);
    GRADCOLL_TRY(agree(comm, agent.status()));
    return agent;
}

Result<NicRoster> roster_of_all(MPI_Comm comm, const NicPlacement& placement,
                                const NicEndpoint& mine) {
    const auto all = GRADCOLL_VALUE(gathered(comm, mine));
    NicRoster roster{placement.host_of_rank, std::vector<NicEndpoint>(placement.host_count())};
    for (std::size_t rank = all.size(); rank-- > 0;)
        roster.endpoints[placement.host_of_rank[rank]] = all[rank];
    return roster;
}

/// Returns whether every agent encodes for every rank: frames have room for a block, and all know
/// the same codecs. (Those of two ranks differ where somebody has added some to one's library.)
Result<bool> all_encode(MPI_Comm comm, const AgentConnection& agent) {
    const bool mine =
        agent.has_our_codecs() && agent.layout().shape().slot_bytes >= least_coded_frame_bytes;
    const std::uint64_t codecs = digest_of_codecs();
    const std::array<std::uint64_t, 3> own = {mine ? 1U : 0U, codecs, ~codecs};
    const auto least = GRADCOLL_VALUE(combined(comm, MPI_MIN, own));
    return least[0] == 1 && least[1] == ~least[2];
}

/// Returns ranks as the communicator calls them.
std::vector<std::uint32_t> ranks_of_other_hosts(const NicPlacement& placement, std::uint32_t host) {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < placement.host_of_rank.size(); ++rank)
        if (placement.host_of_rank[rank] != host) ranks.push_back(rank);
    return ranks;
}

}  // namespace

std::uint32_t NicPlacement::host_count() const {
    return host_of_rank.empty() ? 0
                                : *std::max_element(host_of_rank.begin(), host_of_rank.end()) + 1;
}

bool NicPlacement::is_first_of_host(std::uint32_t rank) const {
    return std::find(host_of_rank.begin(), host_of_rank.end(), host_of_rank[rank]) ==
           host_of_rank.begin() + rank;
}

Result<NicPlacement> nic_placement(MPI_Comm comm) {
    const HostComm host = GRADCOLL_VALUE(HostComm::make(comm));
    const auto first_of = GRADCOLL_VALUE(gathered(comm, host.ranks.front()));
    NicPlacement placement;
    std::uint32_t hosts = 0;
    for (std::size_t rank = 0; rank < first_of.size(); ++rank) {
        const auto leader = static_cast<std::size_t>(first_of[rank]);
        placement.host_of_rank.push_back(leader == rank ? hosts++ : placement.host_of_rank[leader]);
    }
    return placement;
}

Result<std::unique_ptr<NicChannel>> make_nic_channel(MPI_Comm comm, const NicPlacement& placement,
                                                     std::size_t least_summed_bytes) {
    const NicGroupKey key = GRADCOLL_VALUE(key_for_all(comm));
    const NicHello hello = hello_of(comm, placement, key);
    AgentConnection agent = GRADCOLL_VALUE(open_connections(comm, placement, hello));
    const NicRoster roster = GRADCOLL_VALUE(roster_of_all(comm, placement, agent.endpoint()));
    GRADCOLL_TRY(agree(comm, agent.join(roster)));
    GRADCOLL_TRY(
        agree(comm, placement.is_first_of_host(hello.rank) ? agent.connect_hosts() : Status()));
    const bool encodes = GRADCOLL_VALUE(all_encode(comm, agent));
    auto channel = NicChannel::make(
        std::move(agent), {comm, hello.rank, Hash().bytes(key.id.data(), key.id.size()).digest(),
                           ranks_of_other_hosts(placement, hello.host), placement.host_count(),
                           encodes, least_summed_bytes});
    GRADCOLL_TRY(agree(comm, channel.status()));
    return channel;
}

}  // namespace gradcoll
