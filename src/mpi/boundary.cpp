#include "mpi/boundary.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "mpi/lifetime.hpp"

namespace gradcoll {
namespace {

struct LastError {
    int error_class = MPI_SUCCESS;
    int code = MPI_SUCCESS;  ///< what the call returned: a code of that class
    std::string text;
};
thread_local LastError last_error;

/// Returns the level at which a failure is logged. MPI's default handlers end the program with
/// little more than the class, so the message has to be on stderr before; a program that asked for
/// return codes gets the text from GC_Error_string.
LogLevel level_for(MPI_Comm comm) {
    return returns_errors(comm) ? LogLevel::debug : LogLevel::error;
}

std::string text_of(const char* call, const Status& failure) {
    return fmt::format("{}: {}", call, failure.message());
}

}  // namespace

std::atomic<bool> mpi_surely_runs{false};

bool returns_errors(MPI_Comm comm) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
    const bool returns = handler == errors_return();
    PMPI_Errhandler_free(&handler);
    return returns;
}

int mpi_class_of(Code code) {
    switch (code) {
        case Code::ok:
            return MPI_SUCCESS;
        case Code::invalid_argument:
            return MPI_ERR_ARG;
        case Code::invalid_count:
            return MPI_ERR_COUNT;
        case Code::invalid_buffer:
            return MPI_ERR_BUFFER;
        case Code::invalid_type:
            return MPI_ERR_TYPE;
        case Code::invalid_op:
            return MPI_ERR_OP;
        case Code::invalid_comm:
            return MPI_ERR_COMM;
        case Code::unsupported:
            return MPI_ERR_UNSUPPORTED_OPERATION;
        case Code::out_of_memory:
            return MPI_ERR_NO_MEM;
        case Code::io:
            return MPI_ERR_IO;
        case Code::corrupt:
        case Code::transport:
        case Code::peer_failed:
            return MPI_ERR_OTHER;
        case Code::peer_died:
            return class_of_death();
        case Code::internal:
            return MPI_ERR_INTERN;
    }
    return MPI_ERR_INTERN;
}

bool ask_whether_mpi_runs() {
    int initialized = 0;
    int finalized = 0;
    PMPI_Initialized(&initialized);
    PMPI_Finalized(&finalized);
    const bool runs = initialized != 0 && finalized == 0;
    if (runs && at_finalize([] { mpi_surely_runs = false; }).ok()) mpi_surely_runs = true;
    return runs;
}

int keep_error(const char* call, const Outcome& failure) {
    last_error.code = last_error.error_class = failure.mpi_code;
    last_error.text = text_of(call, failure.status);
    return failure.mpi_code;
}

int raise_error(MPI_Comm comm, const char* call, const Outcome& failure) noexcept try {
    keep_error(call, failure);
    if (!mpi_is_running()) {
        log(LogLevel::error, "{}", last_error.text);
        return failure.mpi_code;
    }
    const MPI_Comm handler_of = comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm;
    log(level_for(handler_of), "{}", last_error.text);
    last_error.code = code_with_text(failure.mpi_code, last_error.text);
    const int code = last_error.code;
    PMPI_Comm_call_errhandler(handler_of, code);
    return code;
} catch (...) {  // no memory left even for the message
    return failure.mpi_code;
}

int without_message(int mpi_code) {
    last_error = {};
    return mpi_code;
}

const std::string* last_error_text(int code) {
    if (code == MPI_SUCCESS) return nullptr;
    const bool is_it = code == last_error.code || code == last_error.error_class;
    return is_it ? &last_error.text : nullptr;
}

Status status_of_current_exception() {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return {Code::out_of_memory, "not enough memory"};
    } catch (const std::exception& e) {
        return {Code::internal, std::string("unexpected exception: ") + e.what()};
    } catch (...) {
        return {Code::internal, "unexpected exception"};
    }
}

}  // namespace gradcoll
