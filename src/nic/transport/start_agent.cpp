#include "nic/transport/nic_meeting.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/options.hpp"

namespace gradcoll {
namespace {

constexpr const char* idle_exit_s = "30";

/// The agent is looked for in these places, where it is installed and where it is built, as seen
/// from the folder of the library or of the program that this code is in.
constexpr std::array places = {"/../bin/gc_nicd", "/gc_nicd", "/../../bin/gc_nicd"};

std::string folder_of_this_code() {
    Dl_info found{};
    if (dladdr(reinterpret_cast<const void*>(&start_nic_agent), &found) == 0 ||
        found.dli_fname == nullptr)
        return ".";
    const std::string path = found.dli_fname;
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

Result<std::string> path_of_program() {
    const std::string folder = folder_of_this_code();
    for (const char* place : places)
        if (const std::string path = folder + place; access(path.c_str(), X_OK) == 0) return path;
    return Status(Code::io, fmt::format("gc_nicd is not beside {}; GC_NIC=on uses one that was "
                                        "started by hand",
                                        folder));
}

/// SpawnActions leaves the agent nothing open that whoever started the ranks waits for.
class SpawnActions {
  public:
    SpawnActions() {
        posix_spawn_file_actions_init(&actions_);
        for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            posix_spawn_file_actions_addopen(&actions_, number, "/dev/null", 2, 0);
        posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    }
    ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;
    const posix_spawn_file_actions_t* get() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_{};
};

/// Runs gc_nicd until it is in the background. An agent serves several jobs, and has nothing of
/// their environment but where libraries are.
Status run_to_its_end(const std::string& path, char* const* arguments) {
    const SpawnActions actions;
    std::string libraries = "LD_LIBRARY_PATH=" + foreign_variable("LD_LIBRARY_PATH");
    const std::array<char*, 2> variables = {libraries.data(), nullptr};
    pid_t process = 0;
    const int failed =
        posix_spawn(&process, path.c_str(), actions.get(), nullptr, arguments, variables.data());
    if (failed != 0) return {Code::io, fmt::format("{}: {}", path, std::strerror(failed))};
    int status = 0;
    pid_t ended = 0;
    do ended = waitpid(process, &status, 0);
    while (ended < 0 && errno == EINTR);
    // Somebody else may have waited for all children: then connecting tells.
    if (ended < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return {};
    return {Code::io, fmt::format("{} --background failed: started by hand it says why", path)};
}

}  // namespace

Status start_nic_agent(const std::string& directory) {
    if (!is_plain_process())
        return {Code::io, "a process with rights of its own starts no NIC agent"};
    const std::string path = GRADCOLL_VALUE(path_of_program());
    std::array<std::string, 6> words = {path,        "--background", "--idle-exit",
                                        idle_exit_s, "--directory",  directory};
    std::array<char*, words.size() + 1> arguments{};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
    return run_to_its_end(path, arguments.data());
}

}  // namespace gradcoll
