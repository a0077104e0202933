// How GC_CPU and the CPU together choose an instruction set.
#include "base/cpu.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/options.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

InstructionSet limit_of_process() {
    const OptionSet& options = options_of_process();
    warn_about_option(options, OptionId::cpu);
    const Result<InstructionSet> limit = parse_instruction_set(options.text(OptionId::cpu));
    return limit.ok() ? *limit : highest_instruction_set;
}

InstructionSet choose() {
    const InstructionSet limit = limit_of_process();
    InstructionSet best = InstructionSet::scalar;
    for (const InstructionSet set : all_instruction_sets)
        if (set <= limit && cpu_has(set)) best = set;
    return best;
}

}  // namespace

Result<InstructionSet> parse_instruction_set(std::string_view text) {
    if (text == "best") return highest_instruction_set;
    const auto* found = std::find_if(all_instruction_sets.begin(), all_instruction_sets.end(),
                                     [&](InstructionSet set) { return name_of(set) == text; });
    if (found != all_instruction_sets.end()) return *found;
    const OptionInfo& info = info_of(OptionId::cpu);
    return bad_value(info.variable, text, info.allowed);
}

InstructionSet best_instruction_set() {
    static const InstructionSet set = choose();
    return set;
}

}  // namespace gradcoll
