#include "settings/intercept_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/options.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

/// These are the names in GC_INTERCEPT, in the order of GC_Intercepted.
constexpr std::string_view intercept_names[] = {
    "allreduce",      "iallreduce", "allreduce_init", "reduce_scatter_block",
    "reduce_scatter", "allgather",  "barrier",        "bcast",
    "reduce"};
static_assert(std::size(intercept_names) == GC_CALL_START);

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
        const auto* name = std::find(std::begin(intercept_names), std::end(intercept_names), word);
        if (name == std::end(intercept_names))
            return Status(Code::invalid_argument,
                          fmt::format("'{}' is no call that can be served; allowed: {}",
                                      printable(word), info_of(OptionId::intercept).allowed));
        set.bits_.set(static_cast<std::size_t>(name - std::begin(intercept_names)));
    }
    set.bits_[GC_CALL_START] = set.bits_[GC_CALL_ALLREDUCE_INIT];
    return set;
}

}  // namespace gradcoll
