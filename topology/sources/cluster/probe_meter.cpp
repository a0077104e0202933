// topology/sources/cluster/probe_meter.cpp - exchanges the messages of one pair.
#include "topology/sources/cluster/probe_meter.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "base/clock.hpp"

namespace gradcoll {

namespace {

constexpr int tag = 1;
constexpr int most_pings = 64;
constexpr int first_pings = 2;  ///< the first ones may open a connection
constexpr std::size_t least_bytes = 16 << 10;
constexpr std::size_t most_bytes = 1 << 20;
constexpr std::uint64_t fast_answer_ns = 60'000;  ///< a faster answer is to a message that is too
                                                  ///< short for the link
/// What else runs on a core takes it for longer than this; other ranks that measure do not.
constexpr std::uint64_t lost_core_ns = 2'500'000;

Status send(MPI_Comm comm, const void* data, int bytes, int peer) {
    return from_mpi(PMPI_Send(data, bytes, MPI_BYTE, peer, tag, comm), "MPI_Send");
}
Status receive(MPI_Comm comm, void* data, int bytes, int peer) {
    return from_mpi(PMPI_Recv(data, bytes, MPI_BYTE, peer, tag, comm, MPI_STATUS_IGNORE),
                    "MPI_Recv");
}

/// CoreWatch notices that this rank could not look at its messages for a while, as something else
/// had its core.
class CoreWatch {
  public:
    Status wait(MPI_Request& request, MPI_Status* status) {
        for (int done = 0; done == 0;) {
            GRADCOLL_TRY(from_mpi(PMPI_Test(&request, &done, status), "MPI_Test"));
            const std::uint64_t now = now_ns();
            lost_ = lost_ || now - looked_ns_ > lost_core_ns;
            looked_ns_ = now;
        }
        return {};
    }
    /// Returns whether the core was lost since the last call of this.
    bool take_lost() { return std::exchange(lost_, false); }

  private:
    std::uint64_t looked_ns_ = now_ns();
    bool lost_ = false;
};

/// Flow is the sender's end of a flow. The flow ends with an empty message.
class Flow {
  public:
    Flow(MPI_Comm comm, int peer, std::vector<char>& buffer)
        : comm_(comm), peer_(peer), buffer_(buffer) {
        buffer_.resize(most_bytes);
    }

    Status send(std::size_t bytes) {
        Message& message = sent_[next_++ % most_under_way];
        message.bytes = bytes;
        return from_mpi(PMPI_Isend(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, peer_, tag,
                                   comm_, &message.request),
                        "MPI_Isend");
    }
    /// An Arrival is what is known of a message that was answered.
    struct Arrival {
        std::size_t bytes = 0;
        bool disturbed = false;  ///< whether either rank lost its core since the one before
    };
    /// Receives the answer to the oldest message under way.
    Result<Arrival> take_answer() {
        Message& message = sent_[answered_++ % most_under_way];
        char has_lost_core = 0;
        MPI_Request answer = MPI_REQUEST_NULL;
        GRADCOLL_TRY(from_mpi(PMPI_Irecv(&has_lost_core, 1, MPI_BYTE, peer_, tag, comm_, &answer),
                              "MPI_Irecv"));
        GRADCOLL_TRY(core_.wait(answer, MPI_STATUS_IGNORE));
        GRADCOLL_TRY(from_mpi(PMPI_Wait(&message.request, MPI_STATUS_IGNORE), "MPI_Wait"));
        return Arrival{message.bytes, core_.take_lost() || has_lost_core != 0};
    }
    std::size_t under_way() const { return next_ - answered_; }
    bool is_full() const { return under_way() == most_under_way; }

  private:
    static constexpr std::size_t most_under_way = 2;
    struct Message {
        MPI_Request request = MPI_REQUEST_NULL;
        std::size_t bytes = 0;
    };

    MPI_Comm comm_;
    int peer_;
    std::vector<char>& buffer_;
    CoreWatch core_;
    std::array<Message, most_under_way> sent_;
    std::size_t next_ = 0;
    std::size_t answered_ = 0;
};

}  // namespace

MeterTimes MeterTimes::of(ProbeEffort effort) {
    if (effort == ProbeEffort::thorough) return {};
    return {.least_pings = 4,
            .pings_ns = 500'000,
            .lead_in_ns = 1'000'000,
            .bulk_ns = 2'000'000,
            .stream_ns = 8'000'000};
}

Status wait_gently(MPI_Request& request) {
    while (true) {
        int done = 0;
        GRADCOLL_TRY(from_mpi(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test"));
        if (done != 0) return {};
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

Result<double> ProbeMeter::ping(int peer) const {
    std::uint64_t shortest_ns = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t start_ns = now_ns();
    for (int i = 0;; ++i) {
        if (i == first_pings) start_ns = now_ns();
        const std::uint64_t before_ns = now_ns();
        const bool late = i >= first_pings && before_ns - start_ns > times_.pings_ns;
        char last = (i >= times_.least_pings && late) || i + 1 >= most_pings ? 1 : 0;
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

Result<Measured> ProbeMeter::send_flow(int peer, std::uint64_t counted_ns) {
    Flow flow(comm_, peer, buffer_);
    std::size_t bytes = least_bytes;
    std::size_t counted_bytes = 0;
    bool disturbed = false;
    std::uint64_t count_from_ns = 0;  // 0: still leading in
    std::uint64_t last_ns = now_ns();
    const std::uint64_t lead_in_end_ns = last_ns + times_.lead_in_ns;
    for (bool sends = true; sends || flow.under_way() > 0;) {
        while (sends && !flow.is_full()) GRADCOLL_TRY(flow.send(bytes));
        const Flow::Arrival arrived = GRADCOLL_VALUE(flow.take_answer());
        const std::uint64_t now = now_ns();
        if (now - last_ns < fast_answer_ns) bytes = std::min(2 * bytes, most_bytes);
        last_ns = now;
        if (count_from_ns != 0) {
            counted_bytes += arrived.bytes;
            disturbed = disturbed || arrived.disturbed;
        } else if (now >= lead_in_end_ns) {
            count_from_ns = now;
        }
        sends = count_from_ns == 0 || now - count_from_ns < counted_ns;
    }
    GRADCOLL_TRY(send(comm_, nullptr, 0, peer));
    const std::uint64_t took_ns = std::max<std::uint64_t>(last_ns - count_from_ns, 1);
    return Measured{static_cast<double>(took_ns) / static_cast<double>(counted_bytes), disturbed};
}

Status ProbeMeter::receive_flow(int peer) {
    buffer_.resize(most_bytes);
    CoreWatch core;
    while (true) {
        MPI_Status said;
        MPI_Request message = MPI_REQUEST_NULL;
        GRADCOLL_TRY(from_mpi(PMPI_Irecv(buffer_.data(), static_cast<int>(most_bytes), MPI_BYTE,
                                         peer, tag, comm_, &message),
                              "MPI_Irecv"));
        GRADCOLL_TRY(core.wait(message, &said));
        int bytes = 0;
        GRADCOLL_TRY(from_mpi(PMPI_Get_count(&said, MPI_BYTE, &bytes), "MPI_Get_count"));
        if (bytes == 0) return {};
        const char has_lost_core = core.take_lost() ? 1 : 0;
        GRADCOLL_TRY(send(comm_, &has_lost_core, 1, peer));
    }
}

}  // namespace gradcoll
