// GC_Interposer_connect and the table of what libgradcoll_pmpi may ask.
#include <algorithm>

#include "api/interposed/entries.hpp"
#include "api/interposed/gate.hpp"
#include "attach/attachments.hpp"
#include "attach/presence.hpp"
#include "base/log.hpp"
#include "base/mpi/fortran_handles.hpp"
#include "base/spare_room.hpp"
#include "call/progress_thread.hpp"
#include "comm/comm_identity.hpp"
#include "comm/unused_codec.hpp"
#include "memory/space.hpp"
#include "mpi/boundary.hpp"
#include "observe/observe.hpp"
#include "observe/roll_call.hpp"

namespace gradcoll {
namespace {

/// Does what MPI_Pcontrol asks for; other levels are for other tools.
void pcontrol(int level) noexcept try {
    if (level == 0 || level == 1) set_interception(level == 1);
    if (level == 2) write_report_now();
} catch (...) {
    log(LogLevel::warn, "MPI_Pcontrol({}): {}", level, status_of_current_exception().message());
}

int request_to_fortran(const void* request) noexcept {
    return number_of(*static_cast<const MPI_Request*>(request));
}

/// Makes what libgradcoll_pmpi may call. It includes conversions of Fortran's handles, which only
/// the MPI library can make.
GC_Interposer_table make_table() {
    GC_Interposer_table table = {
        .offer = {},
        .started = requests_started,
        .freeing = request_freeing,
        .go_on = []() noexcept { return make_progress_for_waiting_program() ? 1 : 0; },
        .info_was_set = info_was_set,
        .dup_begins = dup_begins,
        .dup_has_begun = dup_has_begun,
        .pcontrol = pcontrol,
        .comm_of_fortran = [](int handle) noexcept { return bits_of(comm_of_number(handle)); },
        .datatype_of_fortran =
            [](int handle) noexcept { return bits_of(datatype_of_number(handle)); },
        .op_of_fortran = [](int handle) noexcept { return bits_of(op_of_number(handle)); },
        .info_of_fortran = [](int handle) noexcept { return bits_of(info_of_number(handle)); },
        .request_of_fortran =
            [](int handle) noexcept { return bits_of(request_of_number(handle)); },
        .request_to_fortran = request_to_fortran,
        .tool_variables = &tool_variables,
    };
    std::copy(offers.begin(), offers.end(), table.offer);
    return table;
}

/// Returns how often to repeat a look in vain, so that it sees what all other ranks have done
/// before a call that was served: MPICH takes in one message a look. More than eight would take
/// longer than most calls.
int most_looks() {
    return std::min(rank_count_of(MPI_COMM_WORLD) - 1, 8);
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" void GC_Interposer_announce(unsigned version) try {
    if (version == GC_INTERPOSER_VERSION) answer_presence_check(interposer_enabled(), true);
} catch (...) {
    log(LogLevel::warn, "presence check: {}", status_of_current_exception().message());
}

extern "C" const GC_Interposer_table* GC_Interposer_connect(unsigned version, GC_Gate* gate) try {
    if (version != GC_INTERPOSER_VERSION) {
        log(LogLevel::error,
            "libgradcoll_pmpi speaks version {} of their common table, libgradcoll version {}: "
            "inactive; take both from one build",
            version, GC_INTERPOSER_VERSION);
        return nullptr;
    }
    const int world_rank = comm_rank(MPI_COMM_WORLD);
    set_log_rank(world_rank);
    answer_presence_check(interposer_enabled(), false);
    if (gate == nullptr || !interposer_enabled()) return nullptr;
    presence_check_has_begun();
    // Communicators that are never attached would not warn.
    if (world_rank == 0) warn_about_settings();
    if (gate->sees_completions == 1) completions_are_seen();
    gate->most_looks = most_looks();
    open_gate(gate);
    expect_codec(process_settings());
    if (roll_call_signal() != 0) observing_calls();  // signals may come before the first call
    set_spare_memory_aside();
    // Does here, not in the program's first call, what takes long the first time.
    space_of(gate);
    this_host();
    static const GC_Interposer_table table = make_table();
    return &table;
} catch (...) {
    log(LogLevel::warn, "the interposer stays away: {}", status_of_current_exception().message());
    return nullptr;
}
