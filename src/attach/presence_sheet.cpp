#include "attach/presence_sheet.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/clock.hpp"

namespace gradcoll {
namespace {

/// This is the version of what lies in the memory; it is part of the file's name.
constexpr int sheet_layout = 2;
constexpr std::size_t note_text_bytes = 1000;

struct SheetLine {
    std::atomic<std::uint32_t> is_written;
    std::int32_t rank;
    std::uint64_t hash;
    std::atomic<std::uint64_t> meeting;  ///< 0: away; else a key and a Presence
    std::uint32_t length;
    char text[note_text_bytes];
};

/// A Presence is what a process at a meeting says of itself (`here`), or the first place of it.
enum Presence : std::uint64_t { here = 1, held = 2, met = 3 };

/// Returns the key with room for a Presence.
constexpr std::uint64_t meeting_key(std::uint64_t key) {
    return key << 2U;
}

std::size_t sheet_bytes(std::size_t head_bytes, int lines) {
    return head_bytes + static_cast<std::size_t>(lines) * sizeof(SheetLine);
}

Status sheet_failure(const char* step, const std::string& path) {
    return {Code::io, fmt::format("{}: {} failed: {}", path, step, std::strerror(errno))};
}

/// Checks that nobody else can have made the file, or can open it.
Status check_sheet_owner(int file, const std::string& path) {
    struct stat found {};
    if (fstat(file, &found) != 0) return sheet_failure("stat", path);
    if (S_ISREG(found.st_mode) && found.st_uid == geteuid() && (found.st_mode & 077) == 0)
        return {};
    return {Code::io, fmt::format("{} is not this user's alone", path)};
}

void nap_before_look() {
    const timespec span{0, 50'000};
    nanosleep(&span, nullptr);
}

}  // namespace

/// A Page is all zero at first.
struct PresenceSheet::Page {
    std::atomic<std::uint32_t> claimed;
    std::atomic<std::uint32_t> closed;  ///< 0: open; else one more than the number of notes that
                                        ///< count

    SheetLine* lines() { return reinterpret_cast<SheetLine*>(this + 1); }
};

PresenceSheet::PresenceSheet(const JobOnHost& job, std::string path, Page* page)
    : job_(job), path_(std::move(path)), page_(page) {}

Result<std::unique_ptr<PresenceSheet>> PresenceSheet::open(const JobOnHost& job) {
    const std::string path =
        fmt::format("/dev/shm/gradcoll-presence{}-{:016x}", sheet_layout, job.name);
    const std::size_t size = sheet_bytes(sizeof(Page), job.ranks_on_host);
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                            S_IRUSR | S_IWUSR);
    if (file < 0) return sheet_failure("open", path);
    Status status = check_sheet_owner(file, path);
    // The file is allocated, not only made as long: memory that is not there would end the process
    // at its use.
    if (status.ok() && (errno = posix_fallocate(file, 0, static_cast<off_t>(size))) != 0)
        status = sheet_failure("allocating", path);
    void* const memory =
        status.ok() ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (status.ok() && memory == MAP_FAILED) status = sheet_failure("mapping", path);
    ::close(file);
    if (!status.ok()) return status;
    return std::unique_ptr<PresenceSheet>(new PresenceSheet(job, path, static_cast<Page*>(memory)));
}

PresenceSheet::~PresenceSheet() {
    munmap(page_, sheet_bytes(sizeof(Page), job_.ranks_on_host));
}

/// Returns how many notes have come without a gap.
int PresenceSheet::written() const {
    int count = 0;
    while (count < job_.ranks_on_host &&
           page_->lines()[count].is_written.load(std::memory_order_acquire) != 0)
        ++count;
    return count;
}

void PresenceSheet::write(int rank, std::uint64_t hash, std::string_view text) {
    const std::uint32_t place = page_->claimed.fetch_add(1);
    if (place >= static_cast<std::uint32_t>(job_.ranks_on_host)) return;
    SheetLine& line = page_->lines()[place];
    line.rank = rank;
    line.hash = hash;
    line.length = static_cast<std::uint32_t>(text.copy(line.text, note_text_bytes));
    line.is_written.store(1, std::memory_order_release);
    if (written() == job_.ranks_on_host) unlink();
}

int PresenceSheet::close(std::uint64_t patience_ns) {
    const std::uint64_t end_ns = now_ns() + patience_ns;
    std::uint32_t closed = 0;
    while ((closed = page_->closed.load(std::memory_order_acquire)) == 0) {
        const int count = written();
        std::uint32_t open = 0;
        if (count == job_.ranks_on_host || now_ns() >= end_ns)
            page_->closed.compare_exchange_strong(open, static_cast<std::uint32_t>(count) + 1);
        else
            nap_before_look();
    }
    unlink();
    // Others could have damaged the number, so it is bounded.
    return static_cast<int>(std::min(closed - 1, static_cast<std::uint32_t>(job_.ranks_on_host)));
}

/// Holds all others, who cannot leave then; holds none if one is not here.
bool PresenceSheet::hold_all(const std::vector<int>& places, std::uint64_t key) {
    for (std::size_t i = 1; i < places.size(); ++i) {
        std::uint64_t expected = key | here;
        if (page_->lines()[places[i]].meeting.compare_exchange_strong(expected, key | held))
            continue;
        while (--i > 0) page_->lines()[places[i]].meeting.store(key | here);
        return false;
    }
    for (std::size_t i = 1; i < places.size(); ++i)
        page_->lines()[places[i]].meeting.store(key | met);
    return true;
}

bool PresenceSheet::meet(const std::vector<int>& places, std::size_t own, std::uint64_t key,
                         std::uint64_t patience_ns) {
    key = meeting_key(key);
    const std::uint64_t end_ns = now_ns() + patience_ns;
    std::atomic<std::uint64_t>& mine = page_->lines()[places[own]].meeting;
    if (own == 0) {
        bool all_are_here = false;
        while (!(all_are_here = hold_all(places, key)) && now_ns() < end_ns) sched_yield();
        return all_are_here;
    }
    mine.store(key | here);
    while (mine.load() != (key | met)) {
        std::uint64_t expected = key | here;
        if (now_ns() >= end_ns && mine.compare_exchange_strong(expected, 0)) return false;
        sched_yield();
    }
    mine.store(0);
    return true;
}

PresenceSheet::Note PresenceSheet::note(int index) const {
    const SheetLine& line = page_->lines()[index];
    return {line.rank, line.hash,
            std::string_view(line.text, std::min<std::size_t>(line.length, note_text_bytes))};
}

void PresenceSheet::unlink() const {
    ::unlink(path_.c_str());
}

}  // namespace gradcoll
