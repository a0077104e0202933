// peers/peer.cpp - what all peers share.
#include "peers/peer.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace gradcoll::bench {

const PeerKind* find_peer(std::string_view name) {
    const auto found = std::find_if(peer_kinds().begin(), peer_kinds().end(),
                                    [&](const PeerKind& kind) { return kind.name == name; });
    return found == peer_kinds().end() ? nullptr : &*found;
}

std::string peers_of_this_build() {
    std::string text;
    for (const PeerKind& kind : peer_kinds()) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", kind.name);
    }
    const char* separator = "; not in this build: ";
    for (const MissingPeer& missing : missing_peers()) {
        text += fmt::format("{}{} ({})", separator, missing.name, missing.reason);
        separator = ", ";
    }
    return text;
}

std::string mpi_library() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    std::string all(text.data());
    all.resize(std::min(all.find_first_of(",\n"), all.size()));
    std::replace(all.begin(), all.end(), '\t', ' ');
    return all;
}

void end_job(const std::string& message) {
    fmt::print(stderr, "gc_bench allreduce: {}\n", message);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

}  // namespace gradcoll::bench
