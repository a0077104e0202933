#include "settings/intercept_set.hpp"

#include <fmt/format.h>

#include "base/call_kind.hpp"
#include "base/options.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

/// Returns the kind of that name; call_kind_count if no function of MPI makes one.
int kind_named(std::string_view name) {
    int kind = 0;
    for (const CallKindRow& row : call_kind_rows) {
        if (row.name == name && !row.function.empty()) break;
        ++kind;
    }
    return kind;
}

}  // namespace

Result<InterceptSet> InterceptSet::parse(std::string_view text) {
    InterceptSet set;
    set.bits_.reset();
    set.gathers_over_tree_ = false;
    for (const std::string_view word : split_at_commas(text)) {
        if (word == "allgather_one_host") {
            set.bits_.set(GC_CALL_ALLGATHER);
            continue;
        }
        set.gathers_over_tree_ = set.gathers_over_tree_ || word == "allgather";
        const int kind = kind_named(word);
        if (kind == call_kind_count)
            return Status(Code::invalid_argument,
                          fmt::format("'{}' is no call that can be served; allowed: {}",
                                      printable(word), info_of(OptionId::intercept).allowed));
        set.bits_.set(static_cast<std::size_t>(kind));
    }
    set.bits_[GC_CALL_START] = set.bits_[GC_CALL_ALLREDUCE_INIT];
    return set;
}

}  // namespace gradcoll
