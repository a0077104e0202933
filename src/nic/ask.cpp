#include "nic/ask.hpp"

#include <cstring>

#include "nic/control.hpp"
#include "nic/directory.hpp"

namespace gradcoll {
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
