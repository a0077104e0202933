#include "nic/rank_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/refusals.hpp"

namespace gradcoll {

/// Reads a word of its own first: some systems let the file be opened, and not be read.
Descriptor RankMemory::of_this_process() {
    Descriptor file(open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
    const volatile std::uint64_t written = 0x6d65'6d6f'7279;
    std::uint64_t read = 0;
    const auto address = reinterpret_cast<std::uintptr_t>(&written);
    if (!file.is_open() ||
        pread(file.number(), &read, sizeof read, static_cast<off_t>(address)) != sizeof read ||
        read != written)
        return {};
    return file;
}

Result<RankMemory> RankMemory::of(Descriptor file) {
    struct statfs facts {};
    if (fstatfs(file.number(), &facts) != 0 || facts.f_type != PROC_SUPER_MAGIC)
        return corrupt("a file that is no memory of a process");
    RankMemory memory;
    memory.file_ = std::move(file);
    return memory;
}

Status RankMemory::read(std::span<const NicRun> runs, std::span<std::byte> to) const {
    for (NicRun run : runs) {
        while (run.size_bytes > 0) {
            const ssize_t count =
                pread(file_.number(), to.data(), run.size_bytes, static_cast<off_t>(run.address));
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0)
                return {Code::io, fmt::format("{} bytes of a rank's memory at {:#x}: {}",
                                              run.size_bytes, run.address,
                                              count == 0 ? "it has ended" : std::strerror(errno))};
            to = to.subspan(static_cast<std::size_t>(count));
            run.address += static_cast<std::uint64_t>(count);
            run.size_bytes -= static_cast<std::uint64_t>(count);
        }
    }
    return {};
}

}  // namespace gradcoll
