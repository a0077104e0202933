#include "transport/mpi/mpi_lane.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <utility>

namespace gradcoll {
namespace {

constexpr std::chrono::seconds abandon_patience{1};
/// One message has at most this many pieces in flight: enough for what a fast link carries between
/// two looks at it.
constexpr std::size_t most_pieces_in_flight = 16;

/// Returns the length of a message. All our messages are bytes, whatever derived type carried them.
std::size_t bytes_in(const MPI_Status& status) {
    MPI_Count count = 0;
    if (PMPI_Get_elements_x(&status, MPI_BYTE, &count) != MPI_SUCCESS || count < 0) return 0;
    return static_cast<std::size_t>(count);
}

}  // namespace

MpiLane::MpiLane(const Channel& channel, MPI_Comm comm, PeerWatch* peers, std::size_t unasked_bytes,
                 std::size_t capacity)
    : channel_(channel),
      comm_(comm),
      peers_(peers),
      unasked_bytes_(unasked_bytes),
      requests_(capacity, MPI_REQUEST_NULL),
      pieces_(capacity),
      messages_(capacity),
      free_(capacity),
      indices_(capacity),
      statuses_(capacity) {
    std::iota(free_.begin(), free_.end(), 0U);
}

MpiLane::~MpiLane() {
    MpiLane::abandon();
}

void MpiLane::cut_messages(std::vector<int> peers, CutEnd end) {
    cut_peers_ = std::move(peers);
    cut_end_ = end;
    const std::size_t pieces = messages_.size() * most_pieces_in_flight;
    requests_.resize(pieces, MPI_REQUEST_NULL);
    pieces_.resize(pieces);
    indices_.resize(pieces);
    statuses_.resize(pieces);
}

Status MpiLane::start(Message message) {
    if (free_.empty()) return lane_full(messages_.size());
    GRADCOLL_TRY(check_envelope(channel_, message.peer, message.tag));
    const bool cut = std::binary_search(cut_peers_.begin(), cut_peers_.end(), message.peer);
    message.piece_bytes = unasked_bytes_;
    message.ends_short = cut && cut_end_ == CutEnd::by_short_piece;
    // The receiver counts pieces only where the length says how many there are.
    if (!message.receives && (!cut || message.ends_short)) message.size_bytes = message.data_bytes;
    if (!cut) message.piece_bytes = message.size_bytes;
    const std::uint32_t place = free_.back();
    const Message& started = messages_[place] = message;
    do {
        GRADCOLL_TRY(start_piece(place, active_));
        ++active_;
    } while (!started.all_started && started.pieces_in_flight < most_pieces_in_flight);
    free_.pop_back();
    return {};
}

/// Starts the next piece of the message at `place`, with the request at `index`.
Status MpiLane::start_piece(std::uint32_t place, std::size_t index) {
    Message& message = messages_[place];
    MPI_Request& request = requests_[index];
    const std::size_t size =
        std::min(message.piece_bytes, message.size_bytes - message.started_bytes);
    const std::size_t begin = message.started_bytes;
    const std::size_t left = message.data_bytes - std::min(begin, message.data_bytes);
    const Result<ByteType> bytes = ByteType::of(message.receives ? size : std::min(size, left));
    if (!bytes.ok()) return bytes.status();
    std::byte* data = message.receives || left > 0 ? message.data + begin : message.data;
    GRADCOLL_TRY(from_mpi(message.receives ? PMPI_Irecv(data, bytes->count(), bytes->type(),
                                                        message.peer, message.tag, comm_, &request)
                                           : PMPI_Isend(data, bytes->count(), bytes->type(),
                                                        message.peer, message.tag, comm_, &request),
                          call_of(message)));
    message.started_bytes += size;
    message.all_started = message.ends_short ? size < message.piece_bytes
                                             : message.started_bytes == message.size_bytes;
    ++message.pieces_in_flight;
    pieces_[index] = {place, message.pieces_started++};
    return {};
}

Status MpiLane::start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                           std::uint32_t cookie) {
    return start_short_send(peer, tag, data, size_bytes, size_bytes, cookie);
}

Status MpiLane::start_short_send(int peer, int tag, const void* data, std::size_t size_bytes,
                                 std::size_t whole_bytes, std::uint32_t cookie) {
    auto* bytes = const_cast<std::byte*>(static_cast<const std::byte*>(data));
    return start({.data = bytes,
                  .size_bytes = whole_bytes,
                  .data_bytes = size_bytes,
                  .cookie = cookie,
                  .peer = peer,
                  .tag = tag});
}

Status MpiLane::start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                           std::uint32_t cookie) {
    return start({.data = static_cast<std::byte*>(data),
                  .size_bytes = size_bytes,
                  .cookie = cookie,
                  .peer = peer,
                  .tag = tag,
                  .receives = true});
}

const char* MpiLane::call_of(const Message& message) {
    return message.receives ? "MPI_Irecv" : "MPI_Isend";
}

Status MpiLane::problem_of(const Message& message, const MPI_Status& status) const {
    int error_class = MPI_SUCCESS;
    PMPI_Error_class(status.MPI_ERROR, &error_class);
    if (error_class == MPI_SUCCESS) return {};
    // Other pieces of a message in pieces may still come: then the lane cannot go on.
    if (error_class == MPI_ERR_TRUNCATE && message.pieces_started == 1)
        return too_long(message.peer, message.tag, message.size_bytes, bytes_in(status));
    return from_mpi(status.MPI_ERROR, call_of(message));
}

/// Ends a piece. The next piece, if there is one, takes the place of its request.
Status MpiLane::finish_piece(std::size_t index, const MPI_Status& status, bool failed) {
    const std::uint32_t place = pieces_[index].message;
    Message& message = messages_[place];
    --message.pieces_in_flight;
    if (failed) GRADCOLL_TRY(problem_of(message, status));
    if (message.receives) {
        const std::size_t bytes = bytes_in(status);
        message.moved_bytes += bytes;
        message.arrived = message.ends_short && bytes < message.piece_bytes;
        if (message.arrived) message.all_started = true;
    }
    return message.all_started ? Status() : start_piece(place, index);
}

/// Drops receives of a message that has ended sooner than its receive would have: nothing comes for
/// what is posted behind `last`. Returns how many of these requests are among the first `tested`.
std::size_t MpiLane::drop_receives_behind(Piece last, std::size_t tested) {
    std::size_t dropped = 0;
    for (std::size_t i = 0; i < active_; ++i) {
        const Piece& piece = pieces_[i];
        if (requests_[i] == MPI_REQUEST_NULL || piece.message != last.message ||
            piece.number < last.number)
            continue;
        PMPI_Cancel(&requests_[i]);
        PMPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
        requests_[i] = MPI_REQUEST_NULL;
        --messages_[last.message].pieces_in_flight;
        if (i < tested) ++dropped;
    }
    return dropped;
}

Result<std::size_t> MpiLane::poll(std::span<Completion> out) {
    if (active_ == 0) return std::size_t{0};
    const std::size_t tested = std::min(active_, out.size());
    int count = 0;
    const int code = PMPI_Testsome(static_cast<int>(tested), requests_.data(), &count,
                                   indices_.data(), statuses_.data());
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return from_mpi(code, "MPI_Testsome");
    const std::size_t finished = count == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(count);
    std::size_t completed = 0;
    std::size_t ended = 0;
    for (std::size_t i = 0; i < finished; ++i) {
        const auto index = static_cast<std::size_t>(indices_[i]);
        // A failed request may be left allocated by the MPI library.
        if (requests_[index] != MPI_REQUEST_NULL) {
            if (peers_ != nullptr) peers_->look();
            let_go(requests_[index]);
        }
        Status status = finish_piece(index, statuses_[i], code == MPI_ERR_IN_STATUS);
        const std::uint32_t place = pieces_[index].message;
        Message& message = messages_[place];
        if (requests_[index] == MPI_REQUEST_NULL) ++ended;
        if (std::exchange(message.arrived, false))
            ended += drop_receives_behind(pieces_[index], tested);
        if (status.ok() && message.pieces_in_flight > 0) continue;
        out[completed++] = {message.cookie, message.moved_bytes, std::move(status)};
        if (message.pieces_in_flight == 0) free_.push_back(place);
    }
    const bool all_tested = tested == active_;
    if (ended > 0) compact();
    if (!all_tested) rotate(tested - ended);
    return completed;
}

/// Closes the gaps that finished requests left, keeping the order.
void MpiLane::compact() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < active_; ++i) {
        if (requests_[i] == MPI_REQUEST_NULL) continue;
        requests_[kept] = requests_[i];
        pieces_[kept] = pieces_[i];
        ++kept;
    }
    active_ = kept;
}

/// Moves the first `count` requests to the end: those that were not tested in this poll come first
/// in the next.
void MpiLane::rotate(std::size_t count) {
    const auto by = static_cast<std::ptrdiff_t>(count);
    const auto end = static_cast<std::ptrdiff_t>(active_);
    std::rotate(requests_.begin(), requests_.begin() + by, requests_.begin() + end);
    std::rotate(pieces_.begin(), pieces_.begin() + by, pieces_.begin() + end);
}

/// Cancels receives. One that has begun to come cannot be cancelled, and is waited for; but whoever
/// has died sends no more of it.
void MpiLane::cancel_receives() {
    SlowWait slow;
    const auto what = [] { return std::string("for the rest of messages that nobody needs"); };
    for (std::size_t i = 0; i < active_; ++i) {
        if (!messages_[pieces_[i].message].receives) continue;
        PMPI_Cancel(&requests_[i]);
        int done = 0;
        while (PMPI_Test(&requests_[i], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0 &&
               !slow.is_in_vain(peers_, what))
            sched_yield();
        let_go(requests_[i]);
    }
    compact();
}

/// Frees a request that is under way. One of a rank that has died is left to the MPI library: Open
/// MPI ends the job when a message fails whose request was freed.
void MpiLane::let_go(MPI_Request& request) const {
    const bool may_fail = peers_ != nullptr && peers_->has_fault();
    if (request != MPI_REQUEST_NULL && !may_fail) PMPI_Request_free(&request);
    request = MPI_REQUEST_NULL;
}

/// Waits for the sends, which alone are left, and gives up what remains. Peers that are alive take
/// them soon; nothing else can be waited for.
void MpiLane::give_up_sends() {
    SlowWait slow;
    const auto what = [] { return std::string("for ranks to take messages of a failed call"); };
    const auto deadline = std::chrono::steady_clock::now() + abandon_patience;
    while (active_ > 0 && std::chrono::steady_clock::now() < deadline &&
           !slow.is_in_vain(peers_, what)) {
        int done = 0;
        if (PMPI_Testall(static_cast<int>(active_), requests_.data(), &done, MPI_STATUSES_IGNORE) !=
            MPI_SUCCESS)
            break;
        if (done)
            active_ = 0;
        else
            sched_yield();
    }
    for (std::size_t i = 0; i < active_; ++i) let_go(requests_[i]);
    active_ = 0;
}

void MpiLane::abandon() {
    if (active_ == 0) return;
    cancel_receives();
    give_up_sends();
    free_.resize(messages_.size());
    std::iota(free_.begin(), free_.end(), 0U);
}

}  // namespace gradcoll
