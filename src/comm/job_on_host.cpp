#include "comm/job_on_host.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <climits>
#include <fstream>
#include <string>

#include "base/hash.hpp"
#include "base/mpi/mpi.hpp"
#include "base/options.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

// Variables that a launcher of the other MPI library sets may be about a job around this one.
#ifdef OPEN_MPI
constexpr const char* rank_variable = "OMPI_COMM_WORLD_RANK";
constexpr const char* ranks_variable = "OMPI_COMM_WORLD_SIZE";
constexpr const char* ranks_on_host_variable = "OMPI_COMM_WORLD_LOCAL_SIZE";
#else
constexpr const char* rank_variable = "PMI_RANK";
constexpr const char* ranks_variable = "PMI_SIZE";
constexpr const char* ranks_on_host_variable = "MPI_LOCALNRANKS";
#endif

std::optional<int> number_in(const char* variable, int least) {
    const auto number = parse_integer(foreign_variable(variable), least, INT_MAX);
    return number.ok() ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

#ifdef OPEN_MPI
/// Names the job by its namespace of PMIx and the server of that, as namespaces alone are used
/// again.
std::string name_of_job() {
    const std::string job = foreign_variable("PMIX_NAMESPACE");
    if (job.empty()) return {};
    for (const char* const server : {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3",
                                     "PMIX_SERVER_URI21", "PMIX_SERVER_URI2"})
        if (const std::string uri = foreign_variable(server); !uri.empty()) return job + " " + uri;
    return {};
}
#else
/// Returns when a process was started, as the system counts; empty if that is not known.
std::string start_of(pid_t process) {
    std::string line;
    std::getline(std::ifstream("/proc/" + std::to_string(process) + "/stat"), line);
    std::size_t at = line.rfind(')');  // names may hold anything
    constexpr int fields_between = 20;
    for (int field = 0; field < fields_between && at != std::string::npos; ++field)
        at = line.find(' ', at + 1);
    return at == std::string::npos ? "" : line.substr(at, line.find(' ', at + 1) - at);
}

/// Names the job by the process that made the socket by which ranks reach Hydra: its proxy on this
/// host.
std::string name_of_job() {
    const auto descriptor = number_in("PMI_FD", 0);
    ucred proxy{};
    socklen_t size = sizeof proxy;
    if (!descriptor || getsockopt(*descriptor, SOL_SOCKET, SO_PEERCRED, &proxy, &size) != 0)
        return {};
    const std::string start = start_of(proxy.pid);
    return start.empty() ? "" : std::to_string(proxy.pid) + start;
}
#endif

}  // namespace

int ranks_on_host_by_launcher() {
    return number_in(ranks_on_host_variable, 1).value_or(0);
}

std::optional<JobOnHost> job_on_host() {
    const auto rank = number_in(rank_variable, 0);
    const auto ranks = number_in(ranks_variable, 1);
    const int ranks_on_host = ranks_on_host_by_launcher();
    const std::string name = name_of_job();
    if (!rank || !ranks || ranks_on_host == 0 || name.empty()) return std::nullopt;
    return JobOnHost{Hash().text(name).value(geteuid()).digest(), *rank, *ranks, ranks_on_host};
}

}  // namespace gradcoll
