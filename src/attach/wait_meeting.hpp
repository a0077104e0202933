// attach/wait_meeting.hpp - how a communicator with nonblocking calls alone is attached. Attaching
// waits for all ranks, so no call that must not wait can do it; but ranks that happen to wait for
// requests at the same time can. They find out in the memory of the host, and a rank that does not
// find all others there soon goes on (docs/decisions/016-attach-by-use.md).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "attach/attach_account.hpp"

namespace gradcoll {

/// A WaitMeeting is wanted by all ranks of a communicator whose account is paid. It belongs to the
/// account, and ends with it.
class WaitMeeting {
  public:
    /// Is called on every rank once all are inside a call of MPI that completes requests, with as
    /// many calls made on the communicator. It may wait for the others, and end the account.
    using WhenMet = void (*)(MPI_Comm comm, AttachAccount& account);

    /// Begins one, in a nonblocking collective call, the same on every rank: rank 0 gives the
    /// communicator a number by a nonblocking broadcast over it. Does nothing where ranks cannot
    /// meet, which all know alike. Does not wait.
    static void begin(MPI_Comm comm, AttachAccount& account, WhenMet when_met);
    /// Waits for the broadcast, which all ranks have begun.
    ~WaitMeeting();
    WaitMeeting(const WaitMeeting&) = delete;
    WaitMeeting& operator=(const WaitMeeting&) = delete;

    static constexpr std::uint64_t not_known = ~std::uint64_t{0};
    /// Returns the communicator's number, if it has come and this call has not been tried enough.
    std::uint64_t number();
    /// Lets the ranks meet, which know the number, if all are there within some microseconds.
    void try_once();
    bool is_given_up() const;

  private:
    WaitMeeting(MPI_Comm comm, AttachAccount& account, WhenMet when_met);

    MPI_Comm comm_;
    AttachAccount& account_;
    WhenMet when_met_;
    std::vector<int> places_;  ///< of the ranks, on the sheet
    std::size_t own_rank_ = 0;
    std::uint64_t number_ = 0;
    MPI_Request request_ = MPI_REQUEST_NULL;
    int calls_tried_ = 0;
    int tries_of_call_ = 0;
    int idle_looks_ = 0;  ///< since then
    std::uint64_t last_try_ns_ = 0;
    std::uint64_t last_calls_ = ~std::uint64_t{0};
};

/// Lets ranks meet that want to. Called while the program waits for requests, on its thread.
/// Returns whether some still want to.
bool meet_while_waiting();

}  // namespace gradcoll
