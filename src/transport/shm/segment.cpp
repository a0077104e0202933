// transport/shm/segment.cpp - a file in memory that rank 0 makes and the others open through /proc.
#include "transport/shm/segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>

#include "base/descriptor.hpp"
#include "base/mpi/exchange.hpp"

namespace gradcoll {
namespace {

/// Address tells the others where rank 0's file is. The inode proves that they found the same one:
/// in another process namespace the path leads elsewhere.
struct Address {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size_bytes = 0;
};

Status failed(const char* step, std::size_t size_bytes) {
    const Code code = errno == ENOMEM || errno == ENOSPC ? Code::out_of_memory : Code::io;
    return Status(code, fmt::format("shared segment of {} bytes: {}: {}", size_bytes, step,
                                    std::strerror(errno)));
}

/// Makes a file whose size can no longer change: a rank that shrank it would crash the others.
Result<Descriptor> create(std::size_t size_bytes) {
    Descriptor file(memfd_create("gradcoll", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file.is_open()) return failed("memfd_create", size_bytes);
    if (ftruncate(file.number(), static_cast<off_t>(size_bytes)) != 0)
        return failed("ftruncate", size_bytes);
    if (fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return failed("fcntl(F_ADD_SEALS)", size_bytes);
    return file;
}

Result<Address> address_of(const Descriptor& file, std::size_t size_bytes) {
    struct stat facts = {};
    if (fstat(file.number(), &facts) != 0) return failed("fstat", size_bytes);
    return Address{getpid(), file.number(), facts.st_dev, facts.st_ino, size_bytes};
}

Result<Descriptor> open_at(const Address& address) {
    const std::string path = fmt::format("/proc/{}/fd/{}", address.process, address.descriptor);
    Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!file.is_open()) return failed("opening what rank 0 made", address.size_bytes);
    const auto found = address_of(file, address.size_bytes);
    if (!found) return found.status();
    if (found->device != address.device || found->inode != address.inode)
        return Status(Code::io,
                      "shared segment: rank 0's file is not visible here (another "
                      "process namespace?)");
    return file;
}

// This is of Linux 5.14; headers may be older.
constexpr int populate_write = 23;  // MADV_POPULATE_WRITE

/// Returns whether the system can allocate pages of a mapping without its file: it is asked about
/// no pages.
bool allocates_later() {
    return madvise(nullptr, 0, populate_write) == 0;
}

/// Maps the file. The rank allocates its own pages by itself, near its core.
Result<std::byte*> map(const Descriptor& file, std::size_t size_bytes, std::size_t own_offset,
                       std::size_t own_bytes) {
    if (const int error = posix_fallocate(file.number(), static_cast<off_t>(own_offset),
                                          static_cast<off_t>(own_bytes));
        error != 0) {
        errno = error;
        return failed("posix_fallocate", size_bytes);
    }
    void* data = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
    if (data == MAP_FAILED) return failed("mmap", size_bytes);
    return static_cast<std::byte*>(data);
}

/// Returns ok on all ranks, or on none: a rank that is well names nobody else's reason.
Status agreed(MPI_Comm comm, const Status& mine) {
    const bool all_good = GRADCOLL_VALUE(all_ranks(comm, mine.ok()));
    if (all_good || !mine.ok()) return mine;
    return Status(Code::io, "shared segment: another rank of the host could not map it");
}

}  // namespace

Result<std::unique_ptr<SharedSegment>> SharedSegment::make(MPI_Comm comm, std::size_t bytes_a_rank,
                                                           std::size_t first_bytes) {
    const int rank = comm_rank(comm);
    const int rank_count = comm_size(comm);
    const std::size_t size_bytes = bytes_a_rank * static_cast<std::size_t>(rank_count);
    if (!allocates_later()) first_bytes = bytes_a_rank;

    Result<Descriptor> file = rank == 0 ? create(size_bytes) : Result<Descriptor>(Descriptor(-1));
    Address address;
    if (rank == 0 && file.ok())
        if (const auto made = address_of(*file, size_bytes); made.ok()) address = *made;
    GRADCOLL_TRY(broadcast(comm, address));
    if (rank != 0) file = open_at(address);
    Result<std::byte*> data =
        file.ok()
            ? map(*file, size_bytes, bytes_a_rank * static_cast<std::size_t>(rank), first_bytes)
            : Result<std::byte*>(file.status());
    std::unique_ptr<SharedSegment> segment;
    if (data.ok())
        segment.reset(new SharedSegment(*data, bytes_a_rank, size_bytes, rank, first_bytes));
    GRADCOLL_TRY(agreed(comm, data.status()));
    return segment;
}

Status SharedSegment::allocate(std::size_t offset, std::size_t size_bytes) {
    if (offset + size_bytes <= first_bytes_) return {};
    if (madvise(part_of(rank_) + offset, size_bytes, populate_write) != 0)
        return {Code::out_of_memory,
                fmt::format("shared segment: {} more bytes: {}", size_bytes, std::strerror(errno))};
    return {};
}

SharedSegment::~SharedSegment() {
    munmap(data_, size_bytes_);
}

}  // namespace gradcoll
