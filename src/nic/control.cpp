#include "nic/control.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "nic/directory.hpp"

namespace gradcoll {

namespace {

/// FilesRoom has room for the files beside a packet, aligned as the system wants it.
struct FilesRoom {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(most_nic_files * sizeof(int))> bytes{};
};

Status failed(const char* step) {
    return {Code::transport,
            fmt::format("socket of the NIC agent: {}: {}", step,
                        errno == EAGAIN ? "no answer in time" : std::strerror(errno))};
}

void put_files(msghdr& message, FilesRoom& room, std::span<const Descriptor* const> files) {
    if (files.empty()) return;
    std::array<int, most_nic_files> numbers{};
    std::transform(files.begin(), files.end(), numbers.begin(),
                   [](const Descriptor* file) { return file->number(); });
    message.msg_control = room.bytes.data();
    message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(head), numbers.data(), files.size() * sizeof(int));
}

std::vector<Descriptor> files_of(msghdr& message) {
    std::vector<Descriptor> files;
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
         head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(head) + i * sizeof number, sizeof number);
            files.emplace_back(number);
        }
    }
    return files;
}

}  // namespace

std::vector<std::byte> NicRoster::packed() const {
    NicRosterHead head;
    head.rank_count = static_cast<std::uint32_t>(host_of_rank.size());
    head.host_count = static_cast<std::uint32_t>(endpoints.size());
    const std::size_t ranks_bytes = host_of_rank.size() * sizeof(std::uint32_t);
    const std::size_t hosts_bytes = endpoints.size() * sizeof(NicEndpoint);
    std::vector<std::byte> packet(sizeof head + ranks_bytes + hosts_bytes);
    std::memcpy(packet.data(), &head, sizeof head);
    if (ranks_bytes > 0) std::memcpy(packet.data() + sizeof head, host_of_rank.data(), ranks_bytes);
    if (hosts_bytes > 0)
        std::memcpy(packet.data() + sizeof head + ranks_bytes, endpoints.data(), hosts_bytes);
    return packet;
}

Result<NicRoster> NicRoster::unpacked(std::span<const std::byte> packet) {
    NicRosterHead head;
    if (packet.size() < sizeof head || packet.size() > largest_nic_packet)
        return Status(Code::corrupt, fmt::format("roster of {} bytes", packet.size()));
    std::memcpy(&head, packet.data(), sizeof head);
    const std::size_t ranks_bytes = std::size_t{head.rank_count} * sizeof(std::uint32_t);
    const std::size_t expected =
        sizeof head + ranks_bytes + std::size_t{head.host_count} * sizeof(NicEndpoint);
    if (head.packet != NicPacket::roster || packet.size() != expected)
        return Status(Code::corrupt,
                      fmt::format("roster of {} bytes: {} ranks and {} hosts take "
                                  "{}",
                                  packet.size(), head.rank_count, head.host_count, expected));
    NicRoster roster;
    roster.host_of_rank.resize(head.rank_count);
    roster.endpoints.resize(head.host_count);
    if (ranks_bytes > 0)
        std::memcpy(roster.host_of_rank.data(), packet.data() + sizeof head, ranks_bytes);
    if (head.host_count > 0)
        std::memcpy(roster.endpoints.data(), packet.data() + sizeof head + ranks_bytes,
                    expected - sizeof head - ranks_bytes);
    for (const std::uint32_t host : roster.host_of_rank)
        if (host >= head.host_count)
            return Status(Code::corrupt,
                          fmt::format("roster: host {} of {}", host, head.host_count));
    for (const NicEndpoint& endpoint : roster.endpoints)
        if (endpoint.address_count > NicEndpoint::most_addresses)
            return Status(Code::corrupt,
                          fmt::format("roster: {} addresses", endpoint.address_count));
    return roster;
}

NicRefusal NicRefusal::of(std::string_view text) {
    NicRefusal refusal;
    std::memcpy(refusal.text.data(), text.data(), std::min(text.size(), refusal.text.size() - 1));
    return refusal;
}

std::string NicRefusal::message() const {
    return with_plain_characters({text.data(), strnlen(text.data(), text.size())});
}

Status send_packet(int socket, std::span<const std::byte> bytes,
                   std::span<const Descriptor* const> files) {
    iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    FilesRoom room;
    put_files(message, room, files);
    for (;;) {
        if (sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return {};
        if (errno != EINTR) return failed("send");
    }
}

Result<NicReceived> receive_packet(int socket) {
    NicReceived received;
    received.bytes.resize(largest_nic_packet);
    iovec part{received.bytes.data(), received.bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    FilesRoom room;
    message.msg_control = room.bytes.data();
    message.msg_controllen = room.bytes.size();
    ssize_t count = -1;
    do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    if (count < 0 && errno == ECONNRESET) count = 0;  // it ended with something unread
    if (count < 0) return failed("receive");
    received.files = files_of(message);
    if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
        return Status(Code::corrupt, "socket of the NIC agent: a packet that is too long");
    received.bytes.resize(static_cast<std::size_t>(count));
    return received;
}

namespace {

constexpr std::chrono::seconds patience{2};

}  // namespace

Result<std::string> status_of_nic_agent(const std::string& directory) {
    const Descriptor socket = GRADCOLL_VALUE(connect_to_nic_agent(directory, patience));
    NicHello hello;
    hello.purpose = NicPurpose::status;
    GRADCOLL_TRY(send_packet(socket.number(), hello));
    std::string text;
    for (NicTextHead head; head.is_last == 0;) {
        const NicReceived packet = GRADCOLL_VALUE(receive_packet(socket.number()));
        if (const auto* refusal = packet.as<NicRefusal>())
            return Status(Code::unsupported, "the NIC agent: " + refusal->message());
        if (packet.bytes.size() < sizeof head)
            return Status(Code::corrupt, "the NIC agent sent no text");
        std::memcpy(&head, packet.bytes.data(), sizeof head);
        if (head.packet != NicPacket::text)
            return Status(Code::corrupt, "the NIC agent sent no text");
        text.append(reinterpret_cast<const char*>(packet.bytes.data()) + sizeof head,
                    packet.bytes.size() - sizeof head);
    }
    return text;
}

}  // namespace gradcoll
