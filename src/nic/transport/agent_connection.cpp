#include "nic/transport/agent_connection.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "nic/coded_frame.hpp"
#include "nic/directory.hpp"
#include "nic/rank_memory.hpp"

namespace gradcoll {
namespace {

/// A rank waits for its agent longer than agents wait for each other.
constexpr std::chrono::seconds patience{12};

template <class Packet>
std::span<const std::byte> bytes_of(const Packet& packet) {
    return std::as_bytes(std::span(&packet, 1));
}

}  // namespace

template <class Packet>
Result<NicReceived> AgentConnection::ask(std::span<const std::byte> question,
                                         std::span<const Descriptor* const> files) const {
    GRADCOLL_TRY(send_packet(socket_.number(), question, files));
    NicReceived answer = GRADCOLL_VALUE(receive_packet(socket_.number()));
    if (answer.as<Packet>() != nullptr) return answer;
    if (const auto* refusal = answer.as<NicRefusal>())
        return Status(Code::unsupported, "the NIC agent: " + refusal->message());
    // An agent that was killed just now may still be there for who connects: there is none.
    if (answer.bytes.empty()) return Status(Code::io, "the NIC agent has ended");
    return Status(
        Code::transport,
        fmt::format("the NIC agent answered with {} bytes that say nothing", answer.bytes.size()));
}

Result<AgentConnection> AgentConnection::open(const std::string& directory, const NicHello& hello) {
    AgentConnection made;
    made.socket_ = GRADCOLL_VALUE(connect_to_nic_agent(directory, patience));
    const NicReceived answer = GRADCOLL_VALUE(made.ask<NicWelcome>(bytes_of(hello)));
    made.welcome_ = *answer.as<NicWelcome>();
    if (made.welcome_.version != nic_version)
        return Status(Code::unsupported, fmt::format("the NIC agent speaks version {}, this one {}",
                                                     made.welcome_.version, nic_version));
    return made;
}

bool AgentConnection::has_our_codecs() const {
    return welcome_.codecs == digest_of_codecs();
}

Status AgentConnection::join(const NicRoster& roster) {
    const Descriptor memory = RankMemory::of_this_process();
    reads_memory_ = memory.is_open();
    const Descriptor* const files[] = {&memory};
    NicReceived answer = GRADCOLL_VALUE(
        ask<NicReady>(roster.packed(), std::span(files).first(reads_memory_ ? 1 : 0)));
    const auto shape = NicShape::of(static_cast<std::uint32_t>(roster.host_of_rank.size()));
    if (answer.as<NicReady>()->shape != shape || answer.files.size() != 2)
        return {Code::corrupt, "the NIC agent shares other memory than was asked for"};
    event_ = std::move(answer.files[1]);
    return take(region_, SharedRegion::map(shape, answer.files[0]));
}

Status AgentConnection::connect_hosts() {
    return ask<NicConnected>(bytes_of(NicConnect{})).status();
}

bool AgentConnection::is_alive() const {
    char word = 0;
    const ssize_t count = recv(socket_.number(), &word, 1, MSG_PEEK | MSG_DONTWAIT);
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

/// Wakes the agent once, however many entries are written before it is awake.
void AgentConnection::wake() const {
    std::atomic<std::uint32_t>& sleeps = layout().agent().sleeps;
    if (sleeps.load(std::memory_order_seq_cst) != 0 &&
        sleeps.exchange(0, std::memory_order_seq_cst) != 0)
        eventfd_write(event_.number(), 1);
}

}  // namespace gradcoll
