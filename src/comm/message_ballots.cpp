#include "comm/message_ballots.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "comm/started_calls.hpp"

namespace gradcoll {
namespace {

constexpr int ballot_tag = 0;
constexpr std::uint64_t patience_at_end_ns = 1'000'000'000;

}  // namespace

MessageBallots::MessageBallots(PrivateComm comm, std::shared_ptr<PeerWatch> peers)
    : traffic_(new Traffic{std::move(comm)}),
      peers_(std::move(peers)),
      rank_(comm_rank(traffic_->comm.handle())),
      rank_count_(comm_size(traffic_->comm.handle())),
      flood_(rank_, rank_count_) {
    traffic_->receives.resize(static_cast<std::size_t>(rank_count_));
    for (int rank = 0; rank < rank_count_; ++rank)
        if (rank != rank_) expect(rank);
}

/// Takes what others still say, or a later communicator might get it. Requests of ranks that have
/// died are never freed: Open MPI ends the job when a message fails whose request was.
MessageBallots::~MessageBallots() {
    const std::uint64_t end_ns = now_ns() + patience_at_end_ns;
    const auto is_settled = [this] { return traffic_->sent.empty() && flood_.all_have_said_all(); };
    while (!is_settled() && !peers_->has_fault() && now_ns() < end_ns) {
        for (int rank = 0; rank < rank_count_; ++rank)
            if (rank != rank_) hear(rank);
        send();
        sched_yield();
    }
    const bool may_fail = peers_->has_fault() || !is_settled();
    for (Receive& receive : traffic_->receives) {
        if (may_fail || receive.request == MPI_REQUEST_NULL) continue;
        PMPI_Cancel(&receive.request);
        PMPI_Wait(&receive.request, MPI_STATUS_IGNORE);
    }
    if (may_fail) (void)traffic_.release();
}

/// Expects the next message of a rank; a longer one ends it for this rank.
void MessageBallots::expect(int rank) {
    Receive& receive = traffic_->receives[static_cast<std::size_t>(rank)];
    receive.message.resize(flood_.message_words());
    if (PMPI_Irecv(receive.message.data(), static_cast<int>(receive.message.size()), MPI_UINT64_T,
                   rank, ballot_tag, traffic_->comm.handle(), &receive.request) != MPI_SUCCESS)
        lose(rank);
}

/// Takes note that a rank has died, as the MPI library has no more of it.
void MessageBallots::lose(int rank) {
    Receive& receive = traffic_->receives[static_cast<std::size_t>(rank)];
    receive.request = MPI_REQUEST_NULL;
    receive.is_over = true;
    peers_->look();
    if (!peers_->knows_of(rank))
        peers_->note(
            rank, fmt::format("rank {} has died, as the MPI library says", peers_->in_job(rank)));
    flood_.note_death(rank);
}

/// Takes all messages of a rank that have come.
void MessageBallots::hear(int rank) {
    Receive& receive = traffic_->receives[static_cast<std::size_t>(rank)];
    while (!receive.is_over) {
        int done = 0;
        MPI_Status status;
        if (PMPI_Test(&receive.request, &done, &status) != MPI_SUCCESS) return lose(rank);
        if (done == 0) return;
        int words = 0;
        PMPI_Get_count(&status, MPI_UINT64_T, &words);
        slow_.goes_on();
        flood_.take(rank, std::span(receive.message)
                              .first(static_cast<std::size_t>(
                                  std::clamp(words, 0, static_cast<int>(receive.message.size())))));
        expect(rank);
    }
}

/// Sends what is to be said. Messages are so short that they leave at once.
void MessageBallots::send() {
    for (VoteFlood::Message& message : flood_.take_messages()) {
        Sent& sent = traffic_->sent.emplace_back(std::move(message), std::vector<MPI_Request>());
        for (int rank = 0; rank < rank_count_; ++rank) {
            if (rank == rank_ || traffic_->receives[static_cast<std::size_t>(rank)].is_over)
                continue;
            MPI_Request request = MPI_REQUEST_NULL;
            if (PMPI_Isend(sent.message.data(), static_cast<int>(sent.message.size()), MPI_UINT64_T,
                           rank, ballot_tag, traffic_->comm.handle(), &request) == MPI_SUCCESS)
                sent.requests.push_back(request);
        }
    }
    for (Sent& sent : traffic_->sent)
        std::erase_if(sent.requests, [](MPI_Request& request) {
            int done = 0;
            return PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
        });
    traffic_->sent.remove_if([](const Sent& sent) { return sent.requests.empty(); });
}

void MessageBallots::cast(std::uint64_t question, unsigned vote) {
    slow_ = {};
    flood_.cast(question, vote);
    send();
}

std::optional<unsigned> MessageBallots::answer() {
    for (int rank = 0; rank < rank_count_ && !flood_.answer(); ++rank) {
        if (rank == rank_) continue;
        hear(rank);
        if (peers_->has_fault() && peers_->knows_of(rank)) flood_.note_death(rank);
    }
    send();
    if (flood_.answer())
        slow_.goes_on();
    else
        (void)slow_.is_in_vain(peers_.get(), [] { return std::string("for votes on a sum"); });
    return flood_.answer();
}

void MessageBallots::rest() {
    if (!advance_started_calls()) sched_yield();
}

}  // namespace gradcoll
