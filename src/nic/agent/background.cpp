#include "nic/agent/background.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "nic/agent/system_status.hpp"

namespace gradcoll {
namespace {

[[noreturn]] void wait_in_foreground(const Descriptor& pipe) {
    char word = 0;
    ssize_t count = -1;
    do count = read(pipe.number(), &word, 1);
    while (count < 0 && errno == EINTR);
    _exit(count == 1 ? 0 : 1);
}

}  // namespace

void Foreground::release() {
    if (!pipe_.is_open()) return;
    const char word = 1;
    while (write(pipe_.number(), &word, 1) < 0 && errno == EINTR) {
    }
    pipe_ = Descriptor();
}

Result<Foreground> go_to_background() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return system_status(Code::io, "pipe");
    const Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    const pid_t process = fork();
    if (process < 0) return system_status(Code::io, "fork");
    if (process > 0) {
        writing = Descriptor();
        wait_in_foreground(reading);
    }
    if (setsid() < 0) return system_status(Code::io, "setsid");
    return Foreground(std::move(writing));
}

Status leave_terminal() {
    if (chdir("/") != 0) return system_status(Code::io, "chdir");
    const Descriptor nowhere(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!nowhere.is_open()) return system_status(Code::io, "/dev/null");
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (dup2(nowhere.number(), number) < 0) return system_status(Code::io, "dup2");
    return {};
}

}  // namespace gradcoll
