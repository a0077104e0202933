// topology/sources/job/source_table.cpp - the table of sources. A further one is a file or folder
// in host/, cluster/ or here, and a row.
#include "topology/sources/job/source_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cctype>
#include <vector>

#include "topology/sources/cluster/sources.hpp"
#include "topology/sources/host/sources.hpp"
#include "topology/sources/job/whole_sources.hpp"

namespace gradcoll {

namespace {

constexpr SourceRow table[] = {
    {Part::whole, "flat", Takes::nothing, "flat", flat_source},
    {Part::whole, "expression", Takes::no_word, "an expression such as ((0 1) (2 3 4))",
     expression_source},
    {Part::whole, "json", Takes::a_file, "json:FILE", json_source, holds_json_tree,
     "holds a whole tree in JSON", "a tree in JSON"},
    {Part::whole, "file", Takes::a_file, "file:PATH", nullptr},

    {Part::inside, "hwloc", Takes::nothing, "hwloc", hwloc_source},
    {Part::inside, "synthetic", Takes::a_string, "synthetic:STRING", synthetic_source},
    {Part::inside, "xml", Takes::a_file, "xml:FILE", hwloc_xml_source, holds_hwloc_xml,
     "holds hwloc XML", "hwloc XML"},
    {Part::inside, "hosts", Takes::a_file, "hosts:FILE-OR-FOLDER", hosts_source, is_folder,
     "is a folder (of hosts' XML files)", "a folder of hosts' XML files"},
    {Part::inside, "gpus", Takes::a_file, "gpus:PATH", gpus_source},
    {Part::inside, "nccl", Takes::a_file, "nccl:FILE", nccl_source, holds_nccl_xml,
     "holds NCCL XML", "NCCL XML"},
    {Part::inside, "file", Takes::a_file, "", nullptr},

    {Part::between, "none", Takes::nothing, "none", no_switches},
    {Part::between, "auto", Takes::nothing, "auto", automatic_source},
    {Part::between, "slurm", Takes::nothing, "slurm", slurm_source},
    {Part::between, "probe", Takes::perhaps_a_file, "probe, probe:CACHE-FILE", probe_source},
    {Part::between, "file", Takes::a_file, "file:FILE", nullptr},
    {Part::between, "fabric", Takes::no_word, "", fabric_source, holds_fabric, "holds switches",
     "switches (SLURM's topology.conf or topology.yaml, ibnetdiscover, netloc's ib-subnet, CSV of "
     "host,switch, MPICH coordinates, a probe's cache)"},
    {Part::between, "cache", Takes::no_word, "", probe_cache_source, holds_probe_cache,
     "holds what a probe measured"}};

std::vector<std::string_view> texts_of(Part part, std::string_view SourceRow::*text) {
    std::vector<std::string_view> texts;
    for (const SourceRow& row : table)
        if (row.part == part && !(row.*text).empty()) texts.push_back(row.*text);
    return texts;
}

/// "a, b or c"
std::string listed(const std::vector<std::string_view>& texts, std::string_view before_last) {
    std::string list;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (i > 0) list += i + 1 < texts.size() ? ", " : before_last;
        list += texts[i];
    }
    return list;
}

bool alphabetical(std::string_view a, std::string_view b) {
    return std::lexicographical_compare(
        a.begin(), a.end(), b.begin(), b.end(),
        [](unsigned char x, unsigned char y) { return std::tolower(x) < std::tolower(y); });
}

}  // namespace

std::span<const SourceRow> source_table() {
    return table;
}

const SourceRow& source_row(Part part, std::string_view word) {
    const auto row = std::find_if(std::begin(table), std::end(table), [&](const SourceRow& r) {
        return r.part == part && r.word == word;
    });
    assert(row != std::end(table));
    return *row;
}

std::string allowed_forms() {
    return fmt::format(
        "auto, {}, or INSIDE, BETWEEN or INSIDE+BETWEEN, where INSIDE is {}, and BETWEEN is {}",
        listed(texts_of(Part::whole, &SourceRow::forms), ", "),
        listed(texts_of(Part::inside, &SourceRow::forms), " or "),
        listed(texts_of(Part::between, &SourceRow::forms), " or "));
}

std::string allowed_contents(Part part) {
    std::vector<std::string_view> contents = texts_of(part, &SourceRow::expected);
    std::sort(contents.begin(), contents.end(), alphabetical);
    return listed(contents, " or ");
}

}  // namespace gradcoll
