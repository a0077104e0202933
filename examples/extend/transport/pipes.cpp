// pipes.cpp - each rank makes a folder with a pipe for each peer; all open them by their names, and
// then the names are removed.
#include "pipes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace gradcoll::fifo {
namespace {

using FolderName = std::array<char, 64>;  ///< empty: the rank has none

Status failed(const char* step, const std::string& path) {
    return {Code::io, fmt::format("named pipe {}: {}: {}", path, step, std::strerror(errno))};
}

/// Opens a pipe for both directions, so that it has readers while a rank writes, whoever has left.
Status open_pipe(const std::string& path, std::vector<Pipe>& pipes) {
    pipes.emplace_back(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    return pipes.back().descriptor() < 0 ? failed("open", path) : Status();
}

std::string path_of(const FolderName& folder, int peer) {
    return fmt::format("{}/{}", folder.data(), peer);
}

/// A Folder removes itself and its pipes' names.
class Folder {
  public:
    explicit Folder(int pipes) : pipes_(pipes) {}
    ~Folder() {
        if (name_[0] == '\0') return;
        for (int peer = 0; peer < pipes_; ++peer) unlink(path_of(name_, peer).c_str());
        rmdir(name_.data());
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const FolderName& name() const { return name_; }
    Status make(std::vector<Pipe>& from) {
        FolderName name{"/tmp/gradcoll-fifo-XXXXXX"};
        if (mkdtemp(name.data()) == nullptr) return failed("mkdtemp", name.data());
        name_ = name;
        for (int peer = 0; peer < pipes_; ++peer) {
            const std::string path = path_of(name_, peer);
            if (mkfifo(path.c_str(), 0600) != 0) return failed("mkfifo", path);
            GRADCOLL_TRY(open_pipe(path, from));
        }
        return {};
    }

  private:
    int pipes_;
    FolderName name_{};
};

Status open_pipes_of_peers(const HostComm& host, const std::vector<FolderName>& folders,
                           std::vector<Pipe>& to) {
    for (const FolderName& folder : folders) {
        if (folder[0] == '\0') return {Code::io, "named pipes: another rank of the host has none"};
        GRADCOLL_TRY(open_pipe(path_of(folder, host.rank), to));
    }
    return {};
}

}  // namespace

Pipe::~Pipe() {
    if (descriptor_ >= 0) close(descriptor_);
}

Result<Pipes> make_pipes(const HostComm& host) {
    Pipes pipes;
    Folder own(host.size);
    Status status = own.make(pipes.from);
    std::vector<FolderName> folders(static_cast<std::size_t>(host.size));
    const FolderName mine = status.ok() ? own.name() : FolderName{};
    GRADCOLL_TRY(from_mpi(PMPI_Allgather(mine.data(), sizeof mine, MPI_CHAR, folders.data(),
                                         sizeof mine, MPI_CHAR, host.comm.handle),
                          "MPI_Allgather"));
    if (status.ok()) status = open_pipes_of_peers(host, folders, pipes.to);
    // All ranks have opened what they could, so the names may be removed.
    GRADCOLL_TRY(from_mpi(PMPI_Barrier(host.comm.handle), "MPI_Barrier"));
    GRADCOLL_TRY(status);
    return pipes;
}

}  // namespace gradcoll::fifo
