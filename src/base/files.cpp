#include "base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/descriptor.hpp"

namespace gradcoll {
namespace {

using Stat = struct stat;
using Produce = std::function<void(const TextSink&)>;

Status system_error(int number) {
    return {Code::io, std::strerror(number)};
}

std::string_view kind_of(const Stat& what) {
    switch (what.st_mode & S_IFMT) {
        case S_IFIFO:
            return "a FIFO";
        case S_IFSOCK:
            return "a socket";
        case S_IFCHR:
            return "a character device";
        case S_IFBLK:
            return "a block device";
        default:
            return "of an unknown kind";
    }
}

Status check_regular(const Stat& what) {
    if (S_ISREG(what.st_mode)) return {};
    if (S_ISDIR(what.st_mode)) return system_error(EISDIR);
    return {Code::io, fmt::format("it is {}, not a regular file", kind_of(what))};
}

/// Checks that a regular file can be read. A path is looked at before it is opened, because to open
/// a device may do something; and its descriptor after, because another file may stand there by
/// then.
Status check_readable(const std::string& path) {
    Stat what{};
    if (::stat(path.c_str(), &what) != 0) return system_error(errno);
    return check_regular(what);
}

Status check_readable(const Descriptor& file) {
    Stat what{};
    if (file.number() < 0 || ::fstat(file.number(), &what) != 0) return system_error(errno);
    return check_regular(what);
}

/// A Writer takes a text until it is closed; it keeps the first error.
class Writer {
  public:
    /// Takes over the descriptor.
    explicit Writer(int descriptor) : file_(::fdopen(descriptor, "w")) {
        if (file_ != nullptr) return;
        error_ = errno;
        ::close(descriptor);
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer() {
        if (file_ != nullptr) std::fclose(file_);
    }

    void write(std::string_view text) {
        if (error_ == 0 && std::fwrite(text.data(), 1, text.size(), file_) != text.size())
            error_ = errno;
    }
    Status close() {
        if (file_ != nullptr && std::fclose(std::exchange(file_, nullptr)) != 0 && error_ == 0)
            error_ = errno;
        return error_ == 0 ? Status() : system_error(error_);
    }

  private:
    std::FILE* file_;
    int error_ = 0;
};

Status write_to(int descriptor, const Produce& produce) {
    Writer writer(descriptor);
    produce([&](std::string_view text) { writer.write(text); });
    return writer.close();
}

/// A Temporary is a new file that goes with its scope, unless it is moved to where it belongs.
class Temporary {
  public:
    /// Makes a file with a name that nobody can foresee, so that nothing can be laid in its way.
    explicit Temporary(const std::string& beside) {
        std::uint64_t number = 0;
        if (::getrandom(&number, sizeof number, 0) != sizeof number) return;
        path_ = fmt::format("{}.{:016x}.tmp", beside, number);
        constexpr mode_t for_owner_to_write = 0644;
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                             for_owner_to_write);
    }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary() {
        if (descriptor_ >= 0) ::unlink(path_.c_str());
    }

    /// Returns a negative number if there is no file; errno says why. Whoever writes closes it.
    int descriptor() const { return descriptor_; }
    Status move_to(const std::string& path) {
        if (::rename(path_.c_str(), path.c_str()) != 0) return system_error(errno);
        descriptor_ = -1;
        return {};
    }

  private:
    std::string path_;
    int descriptor_ = -1;
};

/// Gives the file the old one's owner and group first: to change them takes bits of the mode away.
/// What a group may do is for that group alone.
void hand_on(const Stat& old, int descriptor) {
    constexpr auto same_owner = static_cast<uid_t>(-1);
    constexpr mode_t for_owner_and_others = 0707;
    constexpr mode_t for_all = 0777;
    const bool has_group = ::fchown(descriptor, old.st_uid, old.st_gid) == 0 ||
                           ::fchown(descriptor, same_owner, old.st_gid) == 0;
    ::fchmod(descriptor, old.st_mode & (has_group ? for_all : for_owner_and_others));
}

Status replace(const std::string& path, const std::optional<Stat>& old, const Produce& produce) {
    if (old && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0)
        return system_error(errno);
    Temporary file(path);
    if (file.descriptor() < 0) return system_error(errno);
    if (old) hand_on(*old, file.descriptor());
    GRADCOLL_TRY(write_to(file.descriptor(), produce));
    return file.move_to(path);
}

/// Returns the path of what a link leads to.
Result<std::string> target_of(const std::string& path, const Stat& link) {
    if (link.st_uid != ::geteuid() && link.st_uid != 0)
        return Status(Code::io, "it is a symbolic link of another user");
    const std::unique_ptr<char, void (*)(void*)> target(::realpath(path.c_str(), nullptr),
                                                        std::free);
    if (target == nullptr) return system_error(errno);
    return std::string(target.get());
}

/// Returns the one of stdout and stderr that is connected to this.
std::optional<int> standard_stream(const Stat& what) {
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
        Stat connected{};
        if (::fstat(stream, &connected) == 0 && connected.st_dev == what.st_dev &&
            connected.st_ino == what.st_ino)
            return stream;
    }
    return std::nullopt;
}

Status write_to_stream(int stream, const Produce& produce) {
    const int descriptor = ::fcntl(stream, F_DUPFD_CLOEXEC, 0);
    return descriptor < 0 ? system_error(errno) : write_to(descriptor, produce);
}

/// Writes to a device, opened with O_NONBLOCK, in case that a FIFO stands there by now: to open one
/// may last for ever.
Status write_to_device(const std::string& path, const Produce& produce) {
    Descriptor device(
        ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    Stat what{};
    if (device.number() < 0 || ::fstat(device.number(), &what) != 0) return system_error(errno);
    if (!S_ISCHR(what.st_mode)) return system_error(ENODEV);
    ::fcntl(device.number(), F_SETFL, O_WRONLY);
    return write_to(device.release(), produce);
}

Status write_at(const std::string& path, const Produce& produce) {
    Stat entry{};
    Stat what{};
    if (::lstat(path.c_str(), &entry) != 0)
        return errno == ENOENT ? replace(path, std::nullopt, produce) : system_error(errno);
    if (::stat(path.c_str(), &what) != 0) return system_error(errno);
    if (const auto stream = standard_stream(what)) return write_to_stream(*stream, produce);
    const bool is_device = S_ISCHR(what.st_mode);
    if (!is_device) GRADCOLL_TRY(check_regular(what));
    std::string target = path;
    if (S_ISLNK(entry.st_mode)) GRADCOLL_TRY(take(target, target_of(path, entry)));
    return is_device ? write_to_device(target, produce) : replace(target, what, produce);
}

}  // namespace

Result<std::string> bytes_of_file(const std::string& path, std::size_t most_bytes) {
    GRADCOLL_TRY(check_readable(path));
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    GRADCOLL_TRY(check_readable(file));
    constexpr std::size_t bytes_at_once = std::size_t{1} << 16;
    std::string bytes;
    for (std::size_t size = 0; size <= most_bytes;) {
        bytes.resize(size + bytes_at_once);
        const ssize_t got = ::read(file.number(), bytes.data() + size, bytes_at_once);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error(errno);
        size += static_cast<std::size_t>(got);
        bytes.resize(size);
        if (got == 0) return bytes;
    }
    return Status(Code::io, fmt::format("it is larger than {} bytes", most_bytes));
}

Result<std::string> read_file(const std::string& path) {
    Result<std::string> bytes = bytes_of_file(path, largest_file_bytes);
    if (bytes.ok()) return bytes;
    return Status(Code::io,
                  fmt::format("file \"{}\" cannot be read: {}", path, bytes.status().message()));
}

Status write_file(const std::string& path, const Produce& produce) {
    const Status status = write_at(path, produce);
    if (status.ok()) return status;
    return {Code::io, fmt::format("{} cannot be written: {}", path, status.message())};
}

Status write_file(const std::string& path, std::string_view text) {
    return write_file(path, [&](const TextSink& sink) { sink(text); });
}

}  // namespace gradcoll
