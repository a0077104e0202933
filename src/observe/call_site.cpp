#include "observe/call_site.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string_view>

#include "base/descriptor.hpp"

namespace gradcoll {
namespace {

/// Skipped is memory of a library between the program and this one. Libraries that are loaded later
/// count as the program's.
struct Skipped {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

bool is_between(std::string_view library) {
    constexpr std::string_view beginnings[] = {"libgradcoll", "libmpi",   "libopen-", "libmca_",
                                               "libucp",      "libuct",   "libucs",   "libucm",
                                               "libfabric",   "libpmix",  "libevent", "libc.so",
                                               "libpthread",  "ld-linux", "mca_"};
    return std::any_of(std::begin(beginnings), std::end(beginnings),
                       [&](std::string_view beginning) { return library.starts_with(beginning); });
}

std::vector<Skipped>& skipped() {
    static std::vector<Skipped> ranges;
    return ranges;
}

int note_object(dl_phdr_info* object, std::size_t, void*) {
    if (!is_between(base_name(object->dlpi_name))) return 0;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = object->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
        const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
        skipped().push_back({begin, begin + part.p_memsz});
    }
    return 0;
}

bool is_skipped(std::uintptr_t address) {
    return std::any_of(skipped().begin(), skipped().end(), [&](const Skipped& range) {
        return address >= range.begin && address < range.end;
    });
}

/// Place says where in which file the call instruction is, which is what addr2line wants to know.
struct Place {
    std::string file;
    std::uintptr_t offset = 0;
    std::string symbol;  ///< the symbol and the offset from it; empty: none is exported
};

Place place_of(std::uintptr_t site) {
    const std::uintptr_t call = site - 1;  // a site is where the call returns to
    Dl_info found{};
    link_map* map = nullptr;
    // An address is a number here. NOLINTNEXTLINE(performance-no-int-to-ptr)
    if (dladdr1(reinterpret_cast<void*>(call), &found, reinterpret_cast<void**>(&map),
                RTLD_DL_LINKMAP) == 0 ||
        map == nullptr)
        return {"", call, ""};
    Place place{map->l_name, call - map->l_addr, ""};
    if (place.file.empty()) place.file = "/proc/self/exe";  // the program's own name is left out
    if (found.dli_sname != nullptr)
        place.symbol = fmt::format("{}+{:#x}", found.dli_sname,
                                   call - reinterpret_cast<std::uintptr_t>(found.dli_saddr));
    return place;
}

std::string resolved(const std::string& path) {
    char target[4096];
    const ssize_t length = readlink(path.c_str(), target, sizeof target);
    return length > 0 ? std::string(target, static_cast<std::size_t>(length)) : path;
}

/// Returns a name such as "cg+0x12af".
std::string in_file(const Place& place) {
    if (place.file.empty()) return fmt::format("{:#x}", place.offset);
    return fmt::format("{}+{:#x}", base_name(resolved(place.file)), place.offset);
}

std::string without_lines(const Place& place) {
    return place.symbol.empty() ? in_file(place)
                                : fmt::format("{} ({})", place.symbol, in_file(place));
}

/// Returns what a program of PATH writes; an empty text if it cannot be started or fails. The
/// program gets no environment, and so no interposer either.
std::string output_of(const std::vector<std::string>& command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {};
    const Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    char* variables[] = {nullptr};
    pid_t process = 0;
    const int failure =
        posix_spawnp(&process, arguments[0], &files, nullptr, arguments.data(), variables);
    posix_spawn_file_actions_destroy(&files);
    writing = Descriptor();
    if (failure != 0) return {};
    std::string text;
    char piece[4096];
    for (ssize_t got = 1; got != 0;) {
        got = read(reading.number(), piece, sizeof piece);
        if (got > 0) text.append(piece, static_cast<std::size_t>(got));
        if (got < 0 && errno != EINTR) break;
    }
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

struct SourceLine {
    std::string function;
    std::string line;  ///< "cg.c:214"; empty: not known
};

/// Returns the lines of places of one file; none at all if the tool is not there. A function that
/// is not known is empty.
std::vector<SourceLine> lines_in(const std::string& file,
                                 const std::vector<std::uintptr_t>& offsets) {
    std::vector<std::string> command = {"addr2line", "-f", "-C", "-s", "-e", resolved(file)};
    for (const std::uintptr_t offset : offsets) command.push_back(fmt::format("{:#x}", offset));
    const std::string text = output_of(command);
    std::vector<std::string> words;  // function and place take turns
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    std::vector<SourceLine> lines;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
        const std::string& place = words[i + 1];  // perhaps with " (discriminator 2)"
        lines.push_back({words[i] == "??" ? "" : words[i],
                         place.starts_with('?') ? "" : place.substr(0, place.find(' '))});
    }
    return lines;
}

std::string with_line(const Place& place, const SourceLine& line) {
    if (line.function.empty()) return without_lines(place);
    if (line.line.empty() || line.line.ends_with('?'))
        return fmt::format("{} ({})", line.function, in_file(place));
    return fmt::format("{} at {}", line.function, line.line);
}

}  // namespace

void prepare_call_sites() {
    void* frame = nullptr;
    backtrace(&frame, 1);  // loads the unwinder
    skipped().clear();
    dl_iterate_phdr(note_object, nullptr);
}

std::uintptr_t call_site() {
    constexpr int most_frames = 48;
    void* frames[most_frames];
    const int count = backtrace(frames, most_frames);
    const auto skips = [](void* frame) {
        return is_skipped(reinterpret_cast<std::uintptr_t>(frame));
    };
    // A sanitizer's own backtrace() may be the innermost frame.
    void** const end = frames + count;
    void** const ours = std::find_if(&frames[0], end, skips);
    void** const site = std::find_if_not(ours == end ? &frames[0] : ours, end, skips);
    return site == end ? 0 : reinterpret_cast<std::uintptr_t>(*site);
}

std::vector<std::string> names_of_sites(std::span<const std::uintptr_t> sites) {
    std::vector<std::string> names(sites.size(), "in the background");
    std::vector<Place> places(sites.size());
    std::map<std::string, std::vector<std::size_t>> by_file;
    for (std::size_t i = 0; i < sites.size(); ++i) {
        if (sites[i] == 0) continue;
        places[i] = place_of(sites[i]);
        names[i] = without_lines(places[i]);
        if (!places[i].file.empty()) by_file[places[i].file].push_back(i);
    }
    for (const auto& [file, which] : by_file) {
        std::vector<std::uintptr_t> offsets;
        for (const std::size_t i : which) offsets.push_back(places[i].offset);
        const std::vector<SourceLine> lines = lines_in(file, offsets);
        for (std::size_t i = 0; i < lines.size() && i < which.size(); ++i)
            names[which[i]] = with_line(places[which[i]], lines[i]);
    }
    return names;
}

}  // namespace gradcoll
