// tests/topology/probe_program.cpp - measures between the hosts that its ranks are on, and prints
// the tree: `mpirun ... probe_program [quick | thorough [CACHE-FILE]]`. For the lab and for people.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "topology/sources/cluster/exchange.hpp"
#include "topology/sources/cluster/probe.hpp"

namespace gradcoll {
namespace {

std::vector<ProbeHost> hosts_of(MPI_Comm comm) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    std::uint32_t first = 0;
    if (!find_first_on_host(comm, rank, first).ok()) MPI_Abort(comm, 1);
    std::vector<std::uint32_t> firsts(static_cast<std::size_t>(size));
    MPI_Allgather(&first, 1, MPI_UINT32_T, firsts.data(), 1, MPI_UINT32_T, comm);
    constexpr int name_bytes = MPI_MAX_PROCESSOR_NAME;
    std::vector<char> names(static_cast<std::size_t>(size) * name_bytes);
    char name[name_bytes] = "";
    int length = 0;
    MPI_Get_processor_name(name, &length);
    MPI_Allgather(name, name_bytes, MPI_CHAR, names.data(), name_bytes, MPI_CHAR, comm);
    std::vector<ProbeHost> hosts;
    for (int r = 0; r < size; ++r)
        if (firsts[static_cast<std::size_t>(r)] == static_cast<std::uint32_t>(r))
            hosts.push_back({r, names.data() + static_cast<std::ptrdiff_t>(r) * name_bytes});
    return hosts;
}

/// Returns a text such as "(a1 a2 (b1 b2))": what is below a switch, by name.
std::string outline(const SwitchTree& tree, const std::vector<ProbeHost>& hosts, int at) {
    std::vector<std::string> parts;
    for (const ProbeHost& host : hosts)
        if (tree.hosts.at(std::to_string(host.lowest_rank)).at == at) parts.push_back(host.name);
    for (std::size_t s = 0; s < tree.switches.size(); ++s)
        if (tree.switches[s].parent == at)
            parts.push_back(outline(tree, hosts, static_cast<int>(s)));
    std::sort(parts.begin(), parts.end());
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
    return "(" + text + ")";
}

void print(const SwitchTree& tree, const std::vector<ProbeHost>& hosts) {
    std::printf("%s\n", outline(tree, hosts, 0).c_str());
    for (std::size_t s = 1; s < tree.switches.size(); ++s)
        std::printf("  %s: %.4f GB/s, %.1f us\n", outline(tree, hosts, static_cast<int>(s)).c_str(),
                    tree.switches[s].uplink.bandwidth_gbytes_per_s,
                    tree.switches[s].uplink.latency_us);
    for (const ProbeHost& host : hosts) {
        const Uplink& uplink = tree.hosts.at(std::to_string(host.lowest_rank)).uplink;
        std::printf("  %s: %.4f GB/s, %.1f us\n", host.name.c_str(), uplink.bandwidth_gbytes_per_s,
                    uplink.latency_us);
    }
    for (const std::string& note : tree.notes) std::printf("  %s\n", note.c_str());
}

int run(ProbeEffort effort, const char* cache_file) {
    const std::vector<ProbeHost> hosts = hosts_of(MPI_COMM_WORLD);
    const Result<SwitchTree> tree =
        probe_switches(MPI_COMM_WORLD, hosts, {cache_file, effort, "probe_program"});
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && tree.ok()) print(*tree, hosts);
    if (rank == 0 && !tree.ok()) std::fprintf(stderr, "%s\n", tree.status().message().c_str());
    return tree.ok() ? 0 : 1;
}

}  // namespace
}  // namespace gradcoll

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const bool is_quick = argc > 1 && std::strcmp(argv[1], "quick") == 0;
    const int status =
        gradcoll::run(is_quick ? gradcoll::ProbeEffort::quick : gradcoll::ProbeEffort::thorough,
                      argc > 2 ? argv[2] : "");
    MPI_Finalize();
    return status;
}
