// comm/self_message.hpp - an MPI request that we complete and that every call of MPI can wait for:
// the receive of an empty message that this rank sends to itself.
#pragma once

#include <memory>

#include "base/mpi/mpi.hpp"
#include "mpi/boundary.hpp"

namespace gradcoll {

/// A SelfMessage needs MPI_THREAD_MULTIPLE if another thread sends it than waits. It goes over a
/// private communicator of more than one rank (alone on its communicator MPICH 4.0 does not wake
/// MPI_Wait up), in which no rank sends other messages to itself.
class SelfMessage {
  public:
    SelfMessage() = default;
    SelfMessage(MPI_Comm comm, int rank, int tag) : comm_(comm), rank_(rank), tag_(tag) {}

    /// Makes the request. receive() starts it, receive_persistent() does not. Errors: transport.
    Status receive(MPI_Request* request) const;
    Status receive_persistent(MPI_Request* request) const;

    /// A Sender is what a failure is told with.
    struct Sender {
        const char* name = "";  ///< name of the call, as static text
        /// This is the caller's communicator, as its context knows it; MPI_COMM_NULL once it is
        /// freed.
        std::shared_ptr<const MPI_Comm> user_comm;
    };
    /// Completes the started request; never blocks. After a failure the self message is a byte too
    /// long: whoever completes the request gets MPI_ERR_TRUNCATE, and before that the error handler
    /// of the user's communicator is called.
    void send(const Sender& sender, const Outcome& outcome) const noexcept;

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0;
    int tag_ = 0;
};

/// Sets MPI_ERRORS_RETURN for a private communicator, but for what send() says of failures. Where
/// codes do not pass handlers, a failure's handler is set when it is sent, and a user who has
/// MPI_ERRORS_RETURN gets the code, with MPI's text.
Status return_errors(MPI_Comm comm);

/// Returns whether a call of MPI returns the code of an error that a handler of the program's has
/// seen: MPICH 5.0 returns MPI_SUCCESS. MPI is asked once a process, with a message to itself over
/// `comm`, which has such a handler then.
bool codes_pass_handlers(MPI_Comm comm);

}  // namespace gradcoll
