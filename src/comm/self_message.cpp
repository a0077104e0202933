#include "comm/self_message.hpp"

#include <mutex>
#include <string>
#include <vector>

#include "base/log.hpp"

namespace gradcoll {
namespace {

/// A LateFailure is one whose error handler has not been called yet: that is for the thread that
/// completes the request.
struct LateFailure {
    MPI_Comm comm = MPI_COMM_NULL;
    SelfMessage::Sender sender;
    std::string message;
};
std::mutex failures_mutex;
std::vector<LateFailure> failures;  // guarded by failures_mutex

void add_failure(LateFailure failure) {
    const std::scoped_lock lock(failures_mutex);
    failures.push_back(std::move(failure));
}

bool take_failure(MPI_Comm comm, LateFailure& out) {
    const std::scoped_lock lock(failures_mutex);
    for (auto at = failures.begin(); at != failures.end(); ++at) {
        if (at->comm != comm) continue;
        out = std::move(*at);
        failures.erase(at);
        return true;
    }
    return false;
}

MPI_Comm user_of(const SelfMessage::Sender& sender) {
    const MPI_Comm user = *sender.user_comm;
    return user == MPI_COMM_NULL ? MPI_COMM_WORLD : user;
}

/// Raises a failure with the user's handler. This is the error handler of private communicators.
void raise_failure(MPI_Comm* comm, int* code, ...) {  // NOLINT: the signature is MPI's
    int error_class = MPI_SUCCESS;
    PMPI_Error_class(*code, &error_class);
    LateFailure failure;
    if (error_class != MPI_ERR_TRUNCATE || !take_failure(*comm, failure)) return;
    Outcome outcome{Status(Code::internal, std::move(failure.message))};
    outcome.mpi_code = *code;
    keep_error(failure.sender.name, outcome);  // it is in the log already
    PMPI_Comm_call_errhandler(user_of(failure.sender), *code);
}

/// Tokens are received here, but they are empty.
char nothing = 0;

Status set_raising_handler(MPI_Comm comm) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_create_errhandler(raise_failure, &handler),
                          "MPI_Comm_create_errhandler"));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_set_errhandler(comm, handler), "MPI_Comm_set_errhandler"));
    return from_mpi(PMPI_Errhandler_free(&handler), "MPI_Errhandler_free");
}

/// Returns the code of a receive from itself whose message is a byte too long.
int code_of_a_long_message(MPI_Comm comm) {
    constexpr int tag = 0;
    const int rank = comm_rank(comm);
    char byte = 0;
    MPI_Request sent = MPI_REQUEST_NULL;
    PMPI_Isend(&byte, 1, MPI_BYTE, rank, tag, comm, &sent);
    const int code = PMPI_Recv(&nothing, 0, MPI_BYTE, rank, tag, comm, MPI_STATUS_IGNORE);
    PMPI_Wait(&sent, MPI_STATUS_IGNORE);
    return code;
}

/// Returns whether a failure over `comm` will be raised with the user's handler. Where that handler
/// cannot be set all the time it is set now, unless the user wants codes.
bool will_be_raised(MPI_Comm comm, MPI_Comm user) {
    if (codes_pass_handlers(comm)) return true;
    const bool raised = !returns_errors(user);
    const Status status = raised ? set_raising_handler(comm)
                                 : from_mpi(PMPI_Comm_set_errhandler(comm, errors_return()),
                                            "MPI_Comm_set_errhandler");
    if (!status.ok()) log(LogLevel::error, "{}", status.message());
    return raised;
}

}  // namespace

bool codes_pass_handlers(MPI_Comm comm) {
    static const bool pass = code_of_a_long_message(comm) != MPI_SUCCESS;
    return pass;
}

Status SelfMessage::receive(MPI_Request* request) const {
    return from_mpi(PMPI_Irecv(&nothing, 0, MPI_BYTE, rank_, tag_, comm_, request), "MPI_Irecv");
}

Status SelfMessage::receive_persistent(MPI_Request* request) const {
    return from_mpi(PMPI_Recv_init(&nothing, 0, MPI_BYTE, rank_, tag_, comm_, request),
                    "MPI_Recv_init");
}

void SelfMessage::send(const Sender& sender, const Outcome& outcome) const noexcept try {
    const bool failed = outcome.mpi_code != MPI_SUCCESS;
    if (failed) {
        log(LogLevel::error, "{}: {}", sender.name, outcome.status.message());
        if (will_be_raised(comm_, user_of(sender)))
            add_failure({comm_, sender, outcome.status.message()});
    }
    const Status sent =
        from_mpi(PMPI_Send(&nothing, failed ? 1 : 0, MPI_BYTE, rank_, tag_, comm_), "MPI_Send");
    if (!sent.ok()) log(LogLevel::error, "{}: {}", sender.name, sent.message());
} catch (...) {
    log(LogLevel::error, "{}: {}", sender.name, status_of_current_exception().message());
}

Status return_errors(MPI_Comm comm) {
    GRADCOLL_TRY(set_raising_handler(comm));
    if (codes_pass_handlers(comm)) return {};
    return from_mpi(PMPI_Comm_set_errhandler(comm, errors_return()), "MPI_Comm_set_errhandler");
}

}  // namespace gradcoll
