// settings/process/readers.cpp - faults, checks of calls, and what the interposer may serve. (All
// else here is for the process alone.)
#include "settings/intercept_set.hpp"
#include "settings/read_text.hpp"
#include "settings/setting_table.hpp"
#include "settings/settings.hpp"

namespace gradcoll {
namespace {

/// Reads a level, `sum`, or both.
Status read_check(std::string_view word, Settings& out) {
    constexpr std::string_view names[] = {"off", "local",     "collective",
                                          "sum", "local+sum", "collective+sum"};
    constexpr int levels = 3;
    const int place = GRADCOLL_VALUE(one_of<int>(word, names, info_of(OptionId::check).allowed));
    out.check = static_cast<CheckLevel>(place % levels);
    out.check_sums = place >= levels;
    return {};
}

}  // namespace

/// Reads gc_fault. The row comes after gc_tune, which it overrules: while a job learns, ranks
/// compare times by calls of the MPI library, and some sums are made by it, without a vote.
SettingRow fault_setting_row() {
    return {.read =
                [](std::string_view text, Settings& out) {
                    constexpr std::string_view names[] = {"report", "survive"};
                    GRADCOLL_TRY(take(
                        out.fault, one_of<Fault>(text, names, info_of(OptionId::fault).allowed)));
                    if (out.fault == Fault::survive && out.tune == Tune::online)
                        out.tune = Tune::cache;
                    return Status();
                },
            .shapes_calls = false};
}

SettingRow check_setting_row() {
    return {.read = read_check, .shapes_calls = false};
}

SettingRow intercept_setting_row() {
    return {.check = [](std::string_view text) { return InterceptSet::parse(text).status(); }};
}

}  // namespace gradcoll
