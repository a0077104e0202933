#include "transport/mpi/mpi_lane.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>

#include "transport/mpi/byte_type.hpp"

namespace gradcoll {
namespace {

constexpr std::chrono::seconds abandon_patience{1};

/// All our messages are bytes, whatever derived type carried them.
std::size_t bytes_in(const MPI_Status& status) {
    MPI_Count count = 0;
    if (PMPI_Get_elements_x(&status, MPI_BYTE, &count) != MPI_SUCCESS || count < 0) return 0;
    return static_cast<std::size_t>(count);
}

}  // namespace

MpiLane::MpiLane(const MpiChannel& channel, std::size_t capacity)
    : channel_(channel),
      requests_(capacity, MPI_REQUEST_NULL),
      messages_(capacity),
      indices_(capacity),
      statuses_(capacity) {}

MpiLane::~MpiLane() {
    MpiLane::abandon();
}

/// `post(count, type, request)` is the MPI call.
template <class Post>
Status MpiLane::start(const Message& message, Post post) {
    if (active_ == requests_.size()) return lane_full(requests_.size());
    GRADCOLL_TRY(check_envelope(channel_, message.peer, message.tag));
    const Result<ByteType> bytes = ByteType::of(message.size_bytes);
    if (!bytes.ok()) return bytes.status();
    MPI_Request request = MPI_REQUEST_NULL;
    GRADCOLL_TRY(from_mpi(post(bytes->count(), bytes->type(), &request), call_of(message)));
    requests_[active_] = request;
    messages_[active_] = message;
    ++active_;
    return {};
}

Status MpiLane::start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                           std::uint32_t cookie) {
    return start({size_bytes, cookie, peer, tag, false},
                 [&](int count, MPI_Datatype type, MPI_Request* request) {
                     return PMPI_Isend(data, count, type, peer, tag, channel_.comm(), request);
                 });
}

Status MpiLane::start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                           std::uint32_t cookie) {
    return start({size_bytes, cookie, peer, tag, true},
                 [&](int count, MPI_Datatype type, MPI_Request* request) {
                     return PMPI_Irecv(data, count, type, peer, tag, channel_.comm(), request);
                 });
}

const char* MpiLane::call_of(const Message& message) {
    return message.receives ? "MPI_Irecv" : "MPI_Isend";
}

Completion MpiLane::completion_of(const Message& message, const MPI_Status& status,
                                  bool failed) const {
    Completion completion{message.cookie, 0, {}};
    const std::size_t arrived = message.receives ? bytes_in(status) : 0;
    int error_class = MPI_SUCCESS;
    if (failed) PMPI_Error_class(status.MPI_ERROR, &error_class);
    if (error_class == MPI_ERR_TRUNCATE)
        completion.status = too_long(message.peer, message.tag, message.size_bytes, arrived);
    else if (error_class != MPI_SUCCESS)
        completion.status = from_mpi(status.MPI_ERROR, call_of(message));
    else
        completion.received_bytes = arrived;
    return completion;
}

Result<std::size_t> MpiLane::poll(std::span<Completion> out) {
    if (active_ == 0) return std::size_t{0};
    const std::size_t tested = std::min(active_, out.size());
    int count = 0;
    const int code = PMPI_Testsome(static_cast<int>(tested), requests_.data(), &count,
                                   indices_.data(), statuses_.data());
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return from_mpi(code, "MPI_Testsome");
    const std::size_t finished = count == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < finished; ++i) {
        const auto index = static_cast<std::size_t>(indices_[i]);
        out[i] = completion_of(messages_[index], statuses_[i], code == MPI_ERR_IN_STATUS);
        // A failed request may be left allocated by the MPI library.
        if (requests_[index] != MPI_REQUEST_NULL) PMPI_Request_free(&requests_[index]);
    }
    const bool all_tested = tested == active_;
    if (finished > 0) compact();
    if (!all_tested) rotate(tested - finished);
    return finished;
}

/// Closes the gaps that finished requests left, keeping the order.
void MpiLane::compact() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < active_; ++i) {
        if (requests_[i] == MPI_REQUEST_NULL) continue;
        requests_[kept] = requests_[i];
        messages_[kept] = messages_[i];
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
    std::rotate(messages_.begin(), messages_.begin() + by, messages_.begin() + end);
}

void MpiLane::cancel_receives() {
    for (std::size_t i = 0; i < active_; ++i) {
        if (!messages_[i].receives) continue;
        PMPI_Cancel(&requests_[i]);
        PMPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
        requests_[i] = MPI_REQUEST_NULL;
    }
    compact();
}

/// Only sends are left. Peers that are alive take them soon; nothing else can be waited for.
void MpiLane::give_up_sends() {
    const auto deadline = std::chrono::steady_clock::now() + abandon_patience;
    while (active_ > 0 && std::chrono::steady_clock::now() < deadline) {
        int done = 0;
        if (PMPI_Testall(static_cast<int>(active_), requests_.data(), &done, MPI_STATUSES_IGNORE) !=
            MPI_SUCCESS)
            break;
        if (done)
            active_ = 0;
        else
            sched_yield();
    }
    for (std::size_t i = 0; i < active_; ++i)
        if (requests_[i] != MPI_REQUEST_NULL) PMPI_Request_free(&requests_[i]);
    active_ = 0;
}

void MpiLane::abandon() {
    if (active_ == 0) return;
    cancel_receives();
    give_up_sends();
}

}  // namespace gradcoll
