// topology/sources/none/none.cpp - puts all hosts below one vertex.
#include "topology/sources/cluster/switches_source.hpp"
#include "topology/sources/job/source_table.hpp"

namespace gradcoll {

SourceRow none_source_row() {
    return {.part = Part::between,
            .word = "none",
            .forms = "none",
            .make = [](std::string) -> std::unique_ptr<TreeSource> {
                return std::make_unique<SwitchesSource>(
                    [](const Job&, SourceNotes&) { return Switches{}; });
            }};
}

}  // namespace gradcoll
