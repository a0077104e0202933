#include "nic/directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/options.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t most_name_bytes = 40;  // a socket's path is short
constexpr int waiting_connections = 64;

Status failed(const std::string& path, const char* step) {
    return {Code::io, fmt::format("{}: {}: {}", path, step, std::strerror(errno))};
}

/// Returns a path with the host's name in it, since hosts that share the folder have agents of
/// their own.
std::string path_in(const std::string& directory, const char* what) {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0) name[0] = 0;
    std::string host = std::string(name.data()).substr(0, most_name_bytes);
    std::replace(host.begin(), host.end(), '/', '_');
    return fmt::format("{}/gc_nicd.{}.{}", directory, host, what);
}

Result<sockaddr_un> address_in(const std::string& directory) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = path_in(directory, "socket");
    if (path.size() >= sizeof address.sun_path)
        return Status(Code::io, fmt::format("{}: a path of {} bytes; a socket has at most {}", path,
                                            path.size(), sizeof address.sun_path - 1));
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

/// Makes a socket for whole packets, in order.
Result<Descriptor> new_socket(const std::string& directory) {
    Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!made.is_open()) return failed(directory, "socket");
    return made;
}

Result<Descriptor> listening_socket(const std::string& directory) {
    const sockaddr_un address = GRADCOLL_VALUE(address_in(directory));
    Descriptor made = GRADCOLL_VALUE(new_socket(directory));
    unlink(address.sun_path);  // of an agent that was killed: we have the lock
    if (bind(made.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return failed(address.sun_path, "bind");
    if (listen(made.number(), waiting_connections) != 0) return failed(address.sun_path, "listen");
    return made;
}

}  // namespace

std::string nic_directory(const std::string& setting) {
    if (!setting.empty()) return setting;
    const std::string runtime = foreign_variable("XDG_RUNTIME_DIR");
    return runtime.empty() ? fmt::format("/tmp/gradcoll-{}", geteuid()) : runtime + "/gradcoll";
}

Status prepare_nic_directory(const std::string& path) {
    if (mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) return failed(path, "mkdir");
    return check_nic_directory(path);
}

Status check_nic_directory(const std::string& path) {
    struct stat facts {};
    if (lstat(path.c_str(), &facts) != 0) return failed(path, "lstat");
    const unsigned mode = facts.st_mode & 07777U;
    if (S_ISDIR(facts.st_mode) && facts.st_uid == geteuid() && mode == S_IRWXU) return {};
    return {Code::io,
            fmt::format("{}: {} of user {} with mode {:04o}; the folder of the NIC agent has to be "
                        "user {}'s, with mode 0700",
                        path, S_ISDIR(facts.st_mode) ? "a folder" : "no folder", facts.st_uid, mode,
                        geteuid())};
}

Result<std::optional<NicDoor>> open_nic_door(const std::string& directory) {
    GRADCOLL_TRY(prepare_nic_directory(directory));
    NicDoor door;
    const std::string lock = path_in(directory, "lock");
    door.lock = Descriptor(
        open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
    if (!door.lock.is_open()) return failed(lock, "open");
    if (flock(door.lock.number(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return std::optional<NicDoor>();
        return failed(lock, "flock");
    }
    door.socket = GRADCOLL_VALUE(listening_socket(directory));
    return std::optional<NicDoor>(std::move(door));
}

Result<Descriptor> connect_to_nic_agent(const std::string& directory,
                                        std::chrono::milliseconds patience) {
    GRADCOLL_TRY(check_nic_directory(directory));
    const sockaddr_un address = GRADCOLL_VALUE(address_in(directory));
    Descriptor made = GRADCOLL_VALUE(new_socket(directory));
    const timeval limit{patience.count() / 1000, patience.count() % 1000 * 1000};
    setsockopt(made.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(made.number(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(made.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return failed(address.sun_path, "connect");
    return made;
}

}  // namespace gradcoll
