#include "comm/unused_codec.hpp"

#include <fmt/format.h>

#include <atomic>
#include <iterator>
#include <mutex>

#include "base/log.hpp"
#include "mpi/lifetime.hpp"

namespace gradcoll {
namespace {

/// Each text says what would let such calls be compressed, in the order of ExactReason; null:
/// nothing.
constexpr const char* remedies[] = {
    nullptr,
    nullptr,
    "correct that setting, or remove it",
    nullptr,
    nullptr,
    nullptr,
    "GC_COMPRESS_BYTES says from which length on calls are compressed",
    "GC_COMPRESS_BYTES says up to which length calls are compressed",
    "GC_COMPRESS_COMMS says whose calls are compressed",
    "GC_COMPRESS_CALLS says which calls are compressed",
    "GC_CODEC names one for all levels",
    "GC_COMPRESS_IF=always uses it wherever it can be used",
    "GC_TOLERANCE=per-hop promises nothing of sums, and allows it",
    "a larger GC_TOLERANCE leaves more",
    nullptr,
};
static_assert(std::size(remedies) == static_cast<std::size_t>(ExactReason::count));

std::string with_remedy(ExactReason reason) {
    const char* const remedy = remedies[static_cast<std::size_t>(reason)];
    return remedy != nullptr ? fmt::format("{}; {}", text_of(reason), remedy) : text_of(reason);
}

/// Returns whether only the library knows the reason, as no setting names it.
bool is_found_out(ExactReason reason) {
    return reason >= ExactReason::no_lossy_level;
}

/// A Watch lasts until something is said, or some call of this process is compressed.
struct Watch {
    std::atomic<bool> is_over{false};
    std::atomic<bool> expects{false};
    std::atomic<ExactReason> nearest{ExactReason::none};  // reason of the call that came closest to
                                                          // being compressed
    std::mutex mutex;
    std::string asked;  // guarded by mutex
};

/// The watch is never destroyed: calls may still come while the process exits.
Watch& watch() {
    static Watch& watch = *new Watch;
    return watch;
}

void say_at_once(const CommIdentity& comm, const std::string& asked, std::uint64_t size_bytes,
                 ExactReason reason) {
    if (watch().is_over.exchange(true)) return;
    log(comm.speaks_for_job() ? LogLevel::warn : LogLevel::debug,
        "{} is not used: {} bytes on communicator '{}' stay exact: {}", asked, size_bytes,
        comm.name(), with_remedy(reason));
}

/// Says at the beginning of MPI_Finalize that no codec was used. Other ranks may have made other
/// calls.
void say_at_end() {
    if (watch().is_over.exchange(true)) return;
    const int rank = comm_rank(MPI_COMM_WORLD);
    const int rank_count = comm_size(MPI_COMM_WORLD);
    if (rank != 0 || rank_count == 1) return;
    const ExactReason nearest = watch().nearest;
    const std::scoped_lock lock(watch().mutex);
    log(LogLevel::warn, "{} was not used: no call of rank 0 was compressed: {}", watch().asked,
        nearest != ExactReason::none
            ? with_remedy(nearest)
            : "none was served that could be, such as long sums of floats");
}

}  // namespace

std::string asked_codec(const Settings& settings) {
    if (!settings.schedule.empty()) return "the schedule of gc_codec";
    return fmt::format("codec {}{}", settings.codecs().text(),
                       settings.tolerance ? " (gc_tolerance)" : "");
}

bool awaits_codec(const Settings& settings) {
    return !watch().is_over.load(std::memory_order_relaxed) && settings.ever_lossy();
}

void note_codec_of(const CommIdentity& comm, const Settings& settings, const CallShape& shape,
                   ExactReason reason) {
    if (!awaits_codec(settings)) return;
    if (reason == ExactReason::none) {
        if (!settings.tolerance) watch().is_over = true;  // else note_tolerance() decides
        return;
    }
    if (is_found_out(reason))
        return say_at_once(comm, asked_codec(settings), shape.size_bytes(), reason);
    expect_codec(settings);
    ExactReason nearest = watch().nearest;
    while (nearest < reason && !watch().nearest.compare_exchange_weak(nearest, reason)) {
    }
}

void note_tolerance(const CommIdentity& comm, std::uint64_t size_bytes, bool is_enough) {
    if (is_enough)
        watch().is_over.store(true, std::memory_order_relaxed);
    else
        say_at_once(comm, "gc_tolerance", size_bytes, ExactReason::tolerance_too_small);
}

void tell_codec_in_doubt(const CommIdentity& comm, const std::string& asked) {
    if (watch().is_over.exchange(true)) return;
    log(comm.speaks_for_job() ? LogLevel::warn : LogLevel::debug,
        "{} is not used on communicator '{}': {}", asked, comm.name(),
        with_remedy(ExactReason::loss_in_doubt));
}

void tell_codec_passed(const CommIdentity& comm, const Settings& settings, std::uint64_t size_bytes,
                       const char* why) {
    static std::atomic<bool> is_told{false};
    if (is_told.load(std::memory_order_relaxed) || is_told.exchange(true)) return;
    log(comm.speaks_for_job() ? LogLevel::warn : LogLevel::debug,
        "{} is not used: a call of {} bytes on communicator '{}' passes to the MPI library: {}",
        asked_codec(settings), size_bytes, comm.name(), why);
}

void codec_is_excused() {
    watch().is_over = true;
}

void expect_codec(const Settings& settings) {
    if (!settings.ever_lossy() || watch().expects.exchange(true)) return;
    {
        const std::scoped_lock lock(watch().mutex);
        watch().asked = asked_codec(settings);
    }
    if (const Status hooked = at_finalize(say_at_end); !hooked.ok())
        log(LogLevel::debug, "nothing is said at the end: {}", hooked.message());
}

}  // namespace gradcoll
