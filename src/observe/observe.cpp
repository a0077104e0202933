// observe/observe.cpp - when the report and the trace begin and end, and how a communicator is
// known to them.
#include "observe/observe.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "gradcoll/base.h"
#include "mpi/boundary.hpp"
#include "mpi/lifetime.hpp"
#include "mpi/mpi_identity.hpp"
#include "observe/call_site.hpp"
#include "observe/roll_call.hpp"
#include "report/file_pattern.hpp"
#include "report/live_page.hpp"
#include "transport/peer_watch.hpp"

namespace gradcoll {
namespace {

enum class Phase : std::uint8_t { unknown, off, on };
enum class Form : std::uint8_t { off, text, json, html };

/// Observer is never destroyed, as calls may still come while the process leaves.
struct Observer {
    Form form = Form::off;
    std::string report_path;  ///< empty: stderr
    bool writes_report = false;
    bool has_sites = false;
    std::unique_ptr<Report> report;
    std::unique_ptr<LivePage> live;
    std::string trace_path;
    std::unique_ptr<Trace> trace;
};

std::atomic<Phase> phase{Phase::unknown};
std::atomic<Observer*> observer{nullptr};  // complete before `phase` leaves unknown
std::atomic<int> comm_keyval{MPI_KEYVAL_INVALID};
std::mutex making_mutex;  // guards the making of both, and of communicators' attributes

PatternFacts facts_of_process() {
    char host[256] = {};
    if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
    return {host[0] != '\0' ? host : "unknown", getpid(), comm_rank(MPI_COMM_WORLD)};
}

/// Returns the arguments with blanks between them; an empty text if the system does not tell.
std::string command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    constexpr std::size_t longest = 4096;
    std::string text(longest, '\0');
    file.read(text.data(), static_cast<std::streamsize>(longest));
    text.resize(static_cast<std::size_t>(file.gcount()));
    while (!text.empty() && text.back() == '\0') text.pop_back();
    std::replace(text.begin(), text.end(), '\0', ' ');
    return text;
}

/// Returns the first line of what the MPI library says of itself.
std::string mpi_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    PMPI_Get_library_version(text, &length);
    const std::string_view all(text);  // Open MPI's length counts the null, too
    std::string line(all.substr(0, all.find_first_of("\r\n")));
    std::replace(line.begin(), line.end(), '\t', ' ');
    return line;
}

ReportProcess describe(const PatternFacts& facts) {
    ReportProcess process;
    process.world_rank = facts.rank;
    process.world_size = comm_size(MPI_COMM_WORLD);
    process.host = facts.host;
    process.process_id = facts.process_id;
    process.mpi = mpi_version();
    process.version = fmt::format("{}.{}.{}", GC_VERSION_MAJOR, GC_VERSION_MINOR, GC_VERSION_PATCH);
    process.command = command_line();
    return process;
}

Form report_form() {
    const std::string& text = option_text(OptionId::report);
    if (text == "text") return Form::text;
    if (text == "html") return Form::html;
    return text == "json" ? Form::json : Form::off;
}

std::string path_of(OptionId id, const ExpandedPattern& expanded) {
    for (const std::string& complaint : expanded.complaints)
        log(warn_once_a_job(), "{}: {}", info_of(id).variable, complaint);
    return expanded.path;
}

void set_up_report(Observer& made, const PatternFacts& facts) {
    made.form = report_form();
    if (made.form == Form::off) return;
    const ExpandedPattern expanded = expand_pattern(option_text(OptionId::report_file), facts);
    made.report_path = path_of(OptionId::report_file, expanded);
    made.writes_report = facts.rank == 0 || expanded.has_rank || expanded.has_process;
    made.report = std::make_unique<Report>(describe(facts));
    made.has_sites = made.writes_report && option_text(OptionId::report_callsites) == "on";
    if (!made.has_sites) return;
    prepare_call_sites();
    made.report->name_sites_by(names_of_sites);
}

std::size_t most_spans() {
    return static_cast<std::size_t>(
        parse_integer(option_text(OptionId::trace_spans), 1, 100'000'000).value());
}

/// Returns the folder that GC_TOP names; none if it is off.
std::string folder_of_pages(const std::string& where) {
    if (where == "off") return {};
    return where == "on" ? "/dev/shm" : where;
}

static_assert(WaitPlace::count <= LivePage::most_waits);

void show_wait(int place, std::uint64_t since_ns, std::uint64_t now_ns, const std::string& what) {
    if (phase.load(std::memory_order_acquire) == Phase::on)
        observer.load(std::memory_order_acquire)
            ->live->waits(static_cast<std::size_t>(place), since_ns, now_ns, what);
}

/// Makes the page, in a file if GC_TOP says so, and in memory of this process alone if only
/// GC_ROLL_CALL wants it.
void set_up_live(Observer& made, const PatternFacts& facts) {
    const std::string& where = option_text(OptionId::top);
    const int signal = roll_call_signal();
    if (where == "off" && signal == 0) return;
    LiveFacts live;
    live.process_id = facts.process_id;
    live.parent_id = getppid();
    live.start_unix_ns = unix_now_ns();
    live.rank = facts.rank;
    live.ranks = comm_size(MPI_COMM_WORLD);
    live.host = facts.host;
    live.command = command_line();
    live.times_calls = signal != 0;
    auto page = LivePage::make(folder_of_pages(where), live);
    if (!page) {
        log(warn_once_a_job(), "GC_TOP: {}", page.status().message());
        if (signal == 0) return;
        page = LivePage::make("", live);
        if (!page) return;
    }
    made.live = std::move(page).value();
    when_waits_are_long(show_wait);
    const std::string who = fmt::format("gradcoll[{}] roll call: process {} on {} ", facts.rank,
                                        facts.process_id, facts.host);
    if (signal != 0 && !answer_roll_calls(signal, *made.live, who))
        log(LogLevel::warn,
            "GC_ROLL_CALL: this process has a handler of SIG{} already, which stays; it answers no "
            "roll calls",
            option_text(OptionId::roll_call));
}

void set_up_trace(Observer& made, const PatternFacts& facts) {
    const std::string& pattern = option_text(OptionId::trace);
    if (pattern.empty()) return;
    made.trace_path = path_of(OptionId::trace, expand_pattern(with_rank(pattern), facts));
    made.trace = std::make_unique<Trace>(facts.rank, facts.host, most_spans());
}

std::string written(const Report& report, Form form) {
    switch (form) {
        case Form::json:
            return report.json();
        case Form::html:
            return report.html();
        default:
            return report.text();
    }
}

void write_report(const Observer& with) {
    if (!with.report || !with.writes_report) return;
    static std::mutex one_at_a_time;  // MPI_Pcontrol may come from several threads
    const std::scoped_lock lock(one_at_a_time);
    const std::string text = written(*with.report, with.form);
    if (with.report_path.empty()) {
        std::fwrite(text.data(), 1, text.size(), stderr);
        return;
    }
    if (const Status status = write_file(with.report_path, text); !status.ok())
        log(LogLevel::warn, "the report is lost: {}", status.message());
}

void write_trace(const Observer& with) {
    if (!with.trace) return;
    const Status status =
        write_file(with.trace_path, [&](const TextSink& sink) { with.trace->write(sink); });
    if (!status.ok()) log(LogLevel::warn, "the trace is lost: {}", status.message());
    if (const std::uint64_t dropped = with.trace->dropped_count(); dropped > 0)
        log(warn_once_a_job(),
            "the trace is full: {} spans were kept, {} were dropped; spans= in GC_TRACE "
            "raises the limit",
            with.trace->span_count(), dropped);
}

/// Ends the recording: what calls do after this is not recorded any more.
void finish() {
    phase.store(Phase::off, std::memory_order_release);
    Observer& with = *observer.load(std::memory_order_acquire);
    try {
        write_report(with);
        write_trace(with);
    } catch (...) {
        log(LogLevel::warn, "report or trace: {}", status_of_current_exception().message());
    }
    end_roll_calls(with.live);
    with.live.reset();
    int keyval = comm_keyval.exchange(MPI_KEYVAL_INVALID);
    if (keyval != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&keyval);
}

/// Decides what is recorded; once, at the first call after MPI_Init.
Phase decide() {
    const std::scoped_lock lock(making_mutex);
    const Phase decided = phase.load(std::memory_order_relaxed);
    if (decided != Phase::unknown || !mpi_is_running()) return decided;
    const PatternFacts facts = facts_of_process();
    set_log_rank(facts.rank);
    warn_about_another_mpi();
    auto made = std::make_unique<Observer>();
    set_up_report(*made, facts);
    set_up_trace(*made, facts);
    set_up_live(*made, facts);
    Phase next = made->report || made->trace || made->live ? Phase::on : Phase::off;
    observer.store(made.release(), std::memory_order_release);
    if (next == Phase::on)
        if (const Status status = at_finalize(finish); !status.ok()) next = Phase::off;
    phase.store(next, std::memory_order_release);
    return next;
}

/// Returns null if nothing is to be recorded (any more).
Observer* active_observer() {
    Phase now = phase.load(std::memory_order_acquire);
    if (now == Phase::unknown) now = decide();
    return now == Phase::on ? observer.load(std::memory_order_acquire) : nullptr;
}

Report* active_report() {
    const Observer* with = active_observer();
    return with != nullptr ? with->report.get() : nullptr;
}

/// Returns the number of a known communicator. The attribute's value is the number itself, one more
/// so that it is never null.
std::optional<Report::CommId> known_comm(MPI_Comm comm) {
    const int keyval = comm_keyval.load(std::memory_order_acquire);
    if (keyval == MPI_KEYVAL_INVALID) return std::nullopt;
    void* value = nullptr;
    int found = 0;
    if (PMPI_Comm_get_attr(comm, keyval, &value, &found) != MPI_SUCCESS || found == 0)
        return std::nullopt;
    return static_cast<Report::CommId>(reinterpret_cast<std::uintptr_t>(value) - 1);
}

Report::CommId name_comm(Report& report, MPI_Comm comm) {
    return report.add_comm(comm_name(comm), comm_size(comm));
}

int forget_id(MPI_Comm comm, int, void*, void*) noexcept {
    note_end_of(comm);
    return MPI_SUCCESS;
}

void note_id(MPI_Comm comm, int keyval, Report::CommId id) {
    const KeepsComm keeps;
    // An attribute is a pointer; this one is a number. NOLINTNEXTLINE(performance-no-int-to-ptr)
    PMPI_Comm_set_attr(comm, keyval, reinterpret_cast<void*>(static_cast<std::uintptr_t>(id) + 1));
}

/// Returns the number of a communicator, and gives it one if it has none; nothing if MPI refuses
/// the attribute. Local.
std::optional<Report::CommId> comm_id(Report& report, MPI_Comm comm) {
    if (is_ending(comm)) {
        static const Report::CommId of_all_ending = name_comm(report, comm);
        return of_all_ending;
    }
    if (const auto known = known_comm(comm)) return known;
    const std::scoped_lock lock(making_mutex);
    if (const auto known = known_comm(comm)) return known;
    int keyval = comm_keyval.load(std::memory_order_relaxed);
    if (keyval == MPI_KEYVAL_INVALID) {
        if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_id, &keyval, nullptr) !=
            MPI_SUCCESS)
            return std::nullopt;
        comm_keyval.store(keyval, std::memory_order_release);
    }
    const Report::CommId id = name_comm(report, comm);
    note_id(comm, keyval, id);
    return id;
}

}  // namespace

bool observing_calls() {
    return active_observer() != nullptr;
}

bool report_is_wanted() {
    return report_form() != Form::off;
}

LinksWanted links_wanted() {
    const Observer* with = active_observer();
    if (with == nullptr) return {};
    return {with->form == Form::html && with->writes_report, with->live != nullptr};
}

void observe_call(MPI_Comm comm, const CallRecord& call) {
    const Observer* with = active_observer();
    if (with == nullptr) return;
    if (with->live) with->live->add(call);
    if (!with->report) return;
    if (const auto id = comm_id(*with->report, comm)) with->report->add_call(*id, call);
    if (with->has_sites) with->report->add_site(call_site(), call);
}

void observe_as(MPI_Comm twin, MPI_Comm comm) {
    const auto entry = report_entry(comm);
    const int keyval = comm_keyval.load(std::memory_order_acquire);
    if (entry && keyval != MPI_KEYVAL_INVALID) note_id(twin, keyval, entry->comm);
}

void observe_link_use(MPI_Comm comm, const LinkUse& of_one_call) {
    const Observer* with = active_observer();
    if (with == nullptr) return;
    if (with->live) with->live->add(of_one_call);
    if (!with->report || of_one_call.of_all_ranks == nullptr) return;
    const TreeTraffic& traffic = *of_one_call.of_all_ranks;
    if (const auto id = comm_id(*with->report, comm))
        with->report->add_traffic(*id, traffic.tree, traffic.links);
}

std::optional<ReportEntry> report_entry(MPI_Comm comm) {
    Report* report = active_report();
    if (report == nullptr) return {};
    const auto id = comm_id(*report, comm);
    return id ? std::optional(ReportEntry{*report, *id}) : std::nullopt;
}

Report* process_report() {
    return active_report();
}

Trace* process_trace() {
    const Observer* with = active_observer();
    return with != nullptr ? with->trace.get() : nullptr;
}

void write_report_now() {
    if (const Observer* with = active_observer()) write_report(*with);
}

}  // namespace gradcoll
