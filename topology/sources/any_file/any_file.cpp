// topology/sources/any_file/any_file.cpp - file:PATH, whatever the path holds (see source_for()).
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fabric/formats.hpp"
#include "topology/sources/job/source_table.hpp"

namespace gradcoll {

namespace {

/// Returns a list such as "SLURM, InfiniBand, CSV or MPICH".
std::string families() {
    std::vector<std::string_view> names;
    for (const FabricFormat& format : fabric_formats())
        if (std::find(names.begin(), names.end(), format.family) == names.end())
            names.push_back(format.family);
    const std::string_view last = names.back();
    names.pop_back();
    return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

}  // namespace

SourceRow file_source_row() {
    return {.part = Part::whole,
            .word = "file",
            .takes = Takes::a_file,
            .forms = "file:PATH",
            .help = "whatever of these forms the file or folder holds"};
}

SourceRow file_inside_source_row() {
    return {.part = Part::inside, .word = "file", .takes = Takes::a_file};
}

SourceRow file_between_source_row() {
    return {.part = Part::between,
            .word = "file",
            .takes = Takes::a_file,
            .forms = "file:FILE",
            .example = "hwloc+file:FILE",
            .help = fmt::format("between: switches from {} files, or a probe's cache", families())};
}

}  // namespace gradcoll
