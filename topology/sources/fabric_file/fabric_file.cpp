// topology/sources/fabric_file/fabric_file.cpp - reads switches and cables from a file, in any
// format of src/fabric. It has no word of its own: file:PATH leads here.
#include <fmt/format.h>

#include <utility>

#include "fabric/formats.hpp"
#include "topology/sources/cluster/switches_source.hpp"
#include "topology/sources/job/source_table.hpp"

namespace gradcoll {

namespace {

std::unique_ptr<TreeSource> make_fabric_file(std::string path) {
    return std::make_unique<SwitchesSource>(
        [path = std::move(path)](const Job&, SourceNotes&) { return switches_from_file(path); });
}

bool holds_fabric(const PathContent& content) {
    if (content.is_folder) return !content.subnet_names().empty();
    return !content.begins_with('<') && !content.begins_with('{') &&
           fabric_format_of(content.text) != nullptr;
}

/// Lists all formats. A probe's cache is found by its own row, but the list names it, too.
std::string all_formats() {
    std::string list;
    for (const FabricFormat& format : fabric_formats())
        if (!format.listed.empty()) list += fmt::format("{}, ", format.listed);
    return fmt::format("switches ({}a probe's cache), a folder of ib-subnet-*.txt", list);
}

}  // namespace

SourceRow fabric_source_row() {
    return {.part = Part::between,
            .word = "fabric",
            .takes = Takes::no_word,
            .make = make_fabric_file,
            .holds = holds_fabric,
            .vague = true,
            .found = "holds switches",
            .expected = all_formats()};
}

}  // namespace gradcoll
