#include "base/watched_process.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>

#include "base/hash.hpp"

namespace gradcoll {
namespace {

#ifdef SYS_pidfd_open
constexpr long pidfd_open_call = SYS_pidfd_open;
#else
constexpr long pidfd_open_call = 434;  // the same on all architectures; headers may be older
#endif

/// Returns the 22nd field of the process's line, counted behind its name, which may hold anything.
/// 0 if it cannot be read.
std::uint64_t start_ticks_of(const std::string& process) {
    constexpr int fields_before = 19;
    std::string line;
    std::getline(std::ifstream("/proc/" + process + "/stat"), line);
    const std::size_t name_end = line.rfind(')');
    if (name_end == std::string::npos) return 0;
    std::istringstream fields(line.substr(name_end + 1));
    std::string skipped;
    for (int i = 0; i < fields_before; ++i) fields >> skipped;
    std::uint64_t ticks = 0;
    return fields >> ticks ? ticks : 0;
}

std::uint64_t numbering_of_this_process() {
    struct stat name_space = {};
    const std::string boot = present_boot();
    if (boot.empty() || stat("/proc/self/ns/pid", &name_space) != 0) return 0;
    return Hash().text(boot).value(name_space.st_dev).value(name_space.st_ino).digest();
}

}  // namespace

std::string present_boot() {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    return boot;
}

ProcessName this_process_name() {
    return {numbering_of_this_process(), getpid(), start_ticks_of("self")};
}

std::shared_ptr<const WatchedProcess> WatchedProcess::of(const ProcessName& name) {
    static std::mutex& mutex = *new std::mutex;
    static auto& watched =
        *new std::map<std::pair<std::int64_t, std::uint64_t>, std::weak_ptr<const WatchedProcess>>;
    static const std::uint64_t own_numbering = numbering_of_this_process();
    if (own_numbering == 0 || name.numbering != own_numbering || name.start_ticks == 0) return {};
    const std::scoped_lock lock(mutex);
    auto& known = watched[{name.number, name.start_ticks}];
    if (auto found = known.lock(); found != nullptr) return found;
    Descriptor descriptor(static_cast<int>(syscall(pidfd_open_call, name.number, 0)));
    // The number may have gone to another process before it was opened, but not afterwards.
    if (!descriptor.is_open() || start_ticks_of(fmt::format("{}", name.number)) != name.start_ticks)
        return {};
    auto made = std::make_shared<const WatchedProcess>(std::move(descriptor));
    known = made;
    return made;
}

}  // namespace gradcoll
