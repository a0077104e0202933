// mpi/boundary.hpp - where the C++ library ends: every GC_ call runs its body through
// at_boundary(). Exceptions and Status become MPI error classes, the message is kept for
// GC_Error_string, and the communicator's error handler is called.
#pragma once

#include <atomic>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"

namespace gradcoll {

int mpi_class_of(Code code);

/// Returns whether errors on the communicator come back as codes (MPI_ERRORS_RETURN).
bool returns_errors(MPI_Comm comm);

/// An Outcome says how a body ended: with our own Status (and the MPI error class it becomes), or
/// with the code of an MPI call that served the whole operation and has called the error handler
/// itself.
struct Outcome {
    Status status;
    int mpi_code = MPI_SUCCESS;

    Outcome(Status s) : status(std::move(s)), mpi_code(mpi_class_of(status.code())) {}  // NOLINT
    static Outcome passed(int code) {
        Outcome outcome{Status()};
        outcome.mpi_code = code;
        return outcome;
    }
    /// Returns a Status for a caller that goes on: an error of the MPI call `call` becomes ours.
    Status as_status(const char* call) const {
        return status.ok() ? from_mpi(mpi_code, call) : status;
    }
    /// Returns the outcome of a bad request handle, for which MPI has an error class of its own.
    static Outcome bad_request(std::string message) {
        Outcome outcome{Status(Code::invalid_argument, std::move(message))};
        outcome.mpi_code = MPI_ERR_REQUEST;
        return outcome;
    }
};

/// Keeps the message for GC_Error_string on this thread; returns the failure's code.
int keep_error(const char* call, const Outcome& failure);

/// Keeps the error as keep_error() does, logs it, calls the error handler of `comm` (of
/// MPI_COMM_WORLD if `comm` is null, as MPI does) and returns a code whose class is the failure's
/// and whose MPI_Error_string is the message (code_with_text()); before MPI_Init and after
/// MPI_Finalize it returns the class.
int raise_error(MPI_Comm comm, const char* call, const Outcome& failure) noexcept;

/// Forgets the message: the MPI library raised the error, and has a text of its own.
int without_message(int mpi_code);

/// Returns the full text of the last failure of this thread if that returned `code`, or a code of
/// that class; else null.
const std::string* last_error_text(int code);

/// This is true only while MPI_Init has ended and MPI_Finalize has not begun, but not all the time
/// between.
extern std::atomic<bool> mpi_surely_runs;
bool ask_whether_mpi_runs();
/// Returns whether MPI can be called now: it is initialised and not yet finalised.
inline bool mpi_is_running() {
    return mpi_surely_runs.load(std::memory_order_relaxed) || ask_whether_mpi_runs();
}

/// Returns the Status of the exception that is being handled.
Status status_of_current_exception();

/// Runs `body` (returning Outcome or Status) and turns what comes out into an MPI return code.
template <class Body>
int at_boundary(MPI_Comm comm, const char* call, Body&& body) noexcept {
    try {
        if (!mpi_is_running())
            return raise_error(
                comm, call,
                Status(Code::transport, "called before MPI_Init or after MPI_Finalize"));
        const Outcome outcome = body();
        if (!outcome.status.ok()) return raise_error(comm, call, outcome);
        return outcome.mpi_code == MPI_SUCCESS ? MPI_SUCCESS : without_message(outcome.mpi_code);
    } catch (...) {
        return raise_error(comm, call, status_of_current_exception());
    }
}

/// Does the same for calls that may be made without a running MPI: `body` returns Status, no error
/// handler is called, the code is returned and the message kept for GC_Error_string.
template <class Body>
int without_mpi(const char* call, Body&& body) noexcept try {
    try {
        const Status status = body();
        return status.ok() ? MPI_SUCCESS : keep_error(call, status);
    } catch (...) {
        return keep_error(call, status_of_current_exception());
    }
} catch (...) {  // no memory left even for the message
    return MPI_ERR_NO_MEM;
}

/// Returns a code of this class whose MPI_Error_string is `text`, as much of it as fits; the class
/// itself if MPI makes no code, or cannot tell it from codes of its own (MPICH 4.0). There is one
/// code for each class (MPI 3 has no way to take codes back), so a code says what its class failed
/// of last. Thread safe. MPI must be running.
int code_with_text(int mpi_class, const std::string& text);

/// Returns the class of calls that fail because a rank has died: MPIX_ERR_PROC_FAILED where MPI has
/// it; else a class of our own, whose text says so; MPI_ERR_OTHER if MPI makes none, or does not
/// run. The same all the time, once MPI runs. Thread safe.
int class_of_death();

}  // namespace gradcoll
