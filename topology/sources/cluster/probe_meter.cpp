// topology/sources/cluster/probe_meter.cpp - the messages of one pair.
#include "topology/sources/cluster/probe_meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "base/clock.hpp"

namespace gradcoll {

namespace {

constexpr int tag = 1;
constexpr std::uint64_t time_for_pings_ns = 4'000'000;
constexpr int least_pings = 8;
constexpr int most_pings = 64;
constexpr int first_pings = 2;  ///< these may open a connection
constexpr std::uint64_t time_of_message_ns = 5'000'000;
constexpr std::uint64_t time_wanted_ns = 7'000'000;
constexpr std::int32_t least_bytes = 16 << 10;
constexpr std::int32_t longest_message_bytes = 16 << 20;
constexpr std::uint64_t time_of_stream_ns = 30'000'000;
constexpr std::int32_t stream_bytes = 128 << 10;

Status send(MPI_Comm comm, const void* data, int bytes, int peer) {
    return from_mpi(PMPI_Send(data, bytes, MPI_BYTE, peer, tag, comm), "MPI_Send");
}
Status receive(MPI_Comm comm, void* data, int bytes, int peer) {
    return from_mpi(PMPI_Recv(data, bytes, MPI_BYTE, peer, tag, comm, MPI_STATUS_IGNORE),
                    "MPI_Recv");
}

std::uint64_t since(std::uint64_t before_ns) {
    return std::max<std::uint64_t>(now_ns() - before_ns, 1);
}

}  // namespace

Status wait_gently(MPI_Request& request) {
    while (true) {
        int done = 0;
        GRADCOLL_TRY(from_mpi(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test"));
        if (done != 0) return {};
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

Result<double> ProbeMeter::ping(int peer) const {
    std::uint64_t shortest_ns = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t start_ns = now_ns();
    for (int i = 0;; ++i) {
        if (i == first_pings) start_ns = now_ns();
        const std::uint64_t before_ns = now_ns();
        const bool late = i >= first_pings && before_ns - start_ns > time_for_pings_ns;
        char last = (i >= least_pings && late) || i + 1 >= most_pings ? 1 : 0;
        const char said = last;
        GRADCOLL_TRY(send(comm_, &said, 1, peer));
        GRADCOLL_TRY(receive(comm_, &last, 1, peer));
        shortest_ns = std::min(shortest_ns, now_ns() - before_ns);
        if (said != 0) break;
    }
    return std::max(static_cast<double>(shortest_ns), 1.0) / 2e3;
}

Status ProbeMeter::answer_pings(int peer) const {
    for (char last = 0; last == 0;) {
        GRADCOLL_TRY(receive(comm_, &last, 1, peer));
        GRADCOLL_TRY(send(comm_, &last, 1, peer));
    }
    return {};
}

/// What comes next.
struct ProbeMeter::Announcement {
    std::int32_t bytes = 0;  ///< of each message
    std::int32_t count = 0;
    std::int32_t answered = 0;  ///< 1: after these messages the receiver answers
    std::int32_t last = 0;      ///< 1: nothing comes after these
};

Status ProbeMeter::send_messages(int peer, const Announcement& announced) {
    buffer_.resize(std::max(buffer_.size(), static_cast<std::size_t>(announced.bytes)));
    GRADCOLL_TRY(send(comm_, &announced, sizeof announced, peer));
    for (int i = 0; i < announced.count; ++i)
        GRADCOLL_TRY(send(comm_, buffer_.data(), announced.bytes, peer));
    char answer = 0;
    return announced.answered != 0 ? receive(comm_, &answer, 1, peer) : Status();
}

Status ProbeMeter::receive_messages(int peer) {
    for (bool last = false; !last;) {
        Announcement announced;
        GRADCOLL_TRY(receive(comm_, &announced, sizeof announced, peer));
        if (announced.bytes < 1 || announced.bytes > longest_message_bytes)
            return {Code::corrupt, fmt::format("probe: rank {} announced a message of {} bytes",
                                               peer, announced.bytes)};
        buffer_.resize(std::max(buffer_.size(), static_cast<std::size_t>(announced.bytes)));
        for (int i = 0; i < announced.count; ++i)
            GRADCOLL_TRY(receive(comm_, buffer_.data(), announced.bytes, peer));
        const char answer = 0;
        if (announced.answered != 0) GRADCOLL_TRY(send(comm_, &answer, 1, peer));
        last = announced.last != 0;
    }
    return {};
}

Result<std::uint64_t> ProbeMeter::send_three(int peer, std::int32_t bytes) {
    std::uint64_t shortest_ns = std::numeric_limits<std::uint64_t>::max();
    for (int i = 0; i < 3; ++i) {
        const std::uint64_t before_ns = now_ns();
        GRADCOLL_TRY(send_messages(peer, {bytes, 1, 1, 0}));
        shortest_ns = std::min(shortest_ns, since(before_ns));
    }
    return shortest_ns;
}

Result<double> ProbeMeter::send_bulk(int peer) {
    std::int32_t bytes = least_bytes;
    while (true) {
        const std::uint64_t took_ns = GRADCOLL_VALUE(send_three(peer, bytes));
        if (took_ns >= time_of_message_ns || bytes == longest_message_bytes) {
            GRADCOLL_TRY(send_messages(peer, {least_bytes, 0, 0, 1}));
            return static_cast<double>(took_ns) / bytes;
        }
        const auto factor =
            std::clamp<std::int64_t>(static_cast<std::int64_t>(time_wanted_ns / took_ns), 2, 8);
        bytes = static_cast<std::int32_t>(
            std::min<std::int64_t>(bytes * factor, longest_message_bytes));
    }
}

Result<double> ProbeMeter::send_stream(int peer) {
    const std::uint64_t before_ns = now_ns();
    double sent_bytes = 0;
    for (bool last = false; !last; sent_bytes += stream_bytes) {
        last = since(before_ns) > time_of_stream_ns;
        GRADCOLL_TRY(send_messages(peer, {stream_bytes, 1, last, last}));
    }
    return static_cast<double>(since(before_ns)) / sent_bytes;
}

}  // namespace gradcoll
