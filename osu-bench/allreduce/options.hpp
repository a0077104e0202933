// options.hpp - the options of the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line/command_line.hpp"
#include "element.hpp"
#include "peers/peer.hpp"
#include "start_line.hpp"

namespace gradcoll::bench {

struct Options {
    std::vector<std::size_t> sizes_bytes;  ///< ascending, multiples of the element's size
    std::optional<int> iterations;         ///< unset: chosen by size
    std::optional<int> warmup;             ///< unset: a tenth of the iterations
    std::optional<int> batch;              ///< unset: a tenth of the iterations
    int repeats = 9;
    Sync sync = Sync::none;
    std::string peer = "mpi";
    double peer_error_bound = 1e-3;  ///< for one compression of the peer
    std::string device = "host";     ///< memory of the vectors, a name for open_memory()
    const Element* element = nullptr;
    std::string op = "sum";
    std::vector<std::string> codecs{"exact"};
    std::string tree;  ///< as GC_TOPOLOGY; empty: as the library chooses
    std::string data = "gradient";
    std::uint64_t seed = 1;
    std::vector<std::pair<std::string, std::string>> settings;  ///< info key, value
    bool in_place = false;
    bool feedback = false;
    bool full = false;
    bool check = false;
    bool print_tree = false;
    bool progress = false;  ///< shown even if stderr is no terminal
    std::string csv_path;
    std::string json_path;

    PeerWorkload peer_workload() const;
    int iterations_for(std::size_t size_bytes) const;
    int warmup_for(std::size_t size_bytes) const;
    int batch_for(std::size_t size_bytes) const;
    /// Returns the work of a size, for progress: a call costs as much as moving a fixed number of
    /// bytes more.
    double work_of(std::size_t size_bytes) const;
};

using CommandLine = gradcoll::CommandLine<Options>;
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace gradcoll::bench
