#include "nic/transport/mpi_detour.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <array>
#include <chrono>
#include <cstring>
#include <utility>

namespace gradcoll {
namespace {

constexpr std::chrono::seconds give_up_after{1};

/// The head of a message stands in front of the bytes.
struct Head {
    std::uint64_t group = 0;
    std::uint64_t number = 0;
    NicNote note;
    NicCoding coding = NicCoding::none;
    std::array<std::uint8_t, 7> unused{};
};

}  // namespace

MpiDetour::MpiDetour(MPI_Comm comm, int tag, std::uint64_t group)
    : comm_(comm), tag_(tag), group_(group) {
    const int size = comm_size(comm);
    under_way_.resize(static_cast<std::size_t>(size));
}

MpiDetour::~MpiDetour() {
    const auto deadline = std::chrono::steady_clock::now() + give_up_after;
    while (!leaving_.empty() && std::chrono::steady_clock::now() < deadline) {
        if (!finish_sends().ok()) break;
        sched_yield();
    }
    // The library may still read what it could not take back.
    for (Message& message : leaving_) {
        PMPI_Request_free(&message.request);
        static_cast<void>(message.bytes.release());
    }
}

Status MpiDetour::send(std::uint32_t peer, const OutgoingFrame& frame,
                       std::span<const std::byte> bytes) {
    Message message;
    message.peer = peer;
    const std::size_t size = sizeof(Head) + bytes.size();
    message.bytes = std::make_unique<std::byte[]>(size);
    const Head head{group_, frame.number, frame.note, frame.coding, {}};
    std::memcpy(message.bytes.get(), &head, sizeof head);
    if (!bytes.empty()) std::memcpy(message.bytes.get() + sizeof head, bytes.data(), bytes.size());
    leaving_.push_back(std::move(message));
    Message& kept = leaving_.back();
    ++under_way_[peer];
    return from_mpi(PMPI_Isend(kept.bytes.get(), static_cast<int>(size), MPI_BYTE,
                               static_cast<int>(peer), tag_, comm_, &kept.request),
                    "MPI_Isend");
}

/// Frees the sends that have ended, in any order: a peer that has a frame by its agent already may
/// not take it for long.
Status MpiDetour::finish_sends() {
    for (auto message = leaving_.begin(); message != leaving_.end();) {
        int done = 0;
        GRADCOLL_TRY(from_mpi(PMPI_Test(&message->request, &done, MPI_STATUS_IGNORE), "MPI_Test"));
        if (!done) {
            ++message;
            continue;
        }
        --under_way_[message->peer];
        message = leaving_.erase(message);
    }
    return {};
}

Result<bool> MpiDetour::receive(DetouredFrame& out) {
    GRADCOLL_TRY(finish_sends());
    for (;;) {
        int found = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        GRADCOLL_TRY(from_mpi(PMPI_Improbe(MPI_ANY_SOURCE, tag_, comm_, &found, &message, &status),
                              "MPI_Improbe"));
        if (!found) return false;
        int count = 0;
        PMPI_Get_count(&status, MPI_BYTE, &count);
        out.peer = static_cast<std::uint32_t>(status.MPI_SOURCE);
        out.bytes.resize(static_cast<std::size_t>(count));
        GRADCOLL_TRY(
            from_mpi(PMPI_Mrecv(out.bytes.data(), count, MPI_BYTE, &message, MPI_STATUS_IGNORE),
                     "MPI_Mrecv"));
        if (const bool is_ours = GRADCOLL_VALUE(take_head(out)); is_ours) return true;
    }
}

Result<bool> MpiDetour::take_head(DetouredFrame& frame) const {
    Head head;
    if (frame.bytes.size() < sizeof head)
        return Status(Code::corrupt, fmt::format("a frame of {} bytes in all", frame.bytes.size()));
    std::memcpy(&head, frame.bytes.data(), sizeof head);
    frame.bytes.erase(frame.bytes.begin(), frame.bytes.begin() + sizeof head);
    frame.number = head.number;
    frame.note = head.note;
    frame.coding = head.coding;
    return head.group == group_;
}

}  // namespace gradcoll
