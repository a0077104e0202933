// topology/sources/job/source_table.hpp - all ways to learn a tree, one row each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "topology/files.hpp"
#include "topology/sources/tree_source.hpp"

namespace gradcoll {

/// What of a tree a source tells.
enum class Part : std::uint8_t {
    whole,
    inside,  ///< of hosts
    between  ///< hosts
};

/// What stands behind a word of GC_TOPOLOGY and its colon.
enum class Takes : std::uint8_t {
    nothing,
    a_string,
    a_file,
    perhaps_a_file,
    no_word  ///< the word is not written: the value alone tells the source
};

struct SourceRow {
    Part part;
    std::string_view word;
    Takes takes;
    std::string_view forms;  ///< as it is written, in a list of what is allowed; empty: not listed
    MakeTreeSource* make;    ///< null: what is at the path decides (see resolved())

    /// For file:PATH. Null: it is not known by what a path holds. No two rows hold the same.
    bool (*holds)(const PathContent& content) = nullptr;
    std::string_view found = {};     ///< for messages: "holds hwloc XML"
    std::string_view expected = {};  ///< the same as something to be wished for; empty: not listed
};

std::span<const SourceRow> source_table();

/// Needs a row of that word.
const SourceRow& source_row(Part part, std::string_view word);

/// "auto, flat, ..., or INSIDE, BETWEEN or INSIDE+BETWEEN, where INSIDE is ... and BETWEEN is ...".
std::string allowed_forms();

/// "a folder of hosts' XML files, hwloc XML or NCCL XML": what file:PATH may lead to.
std::string allowed_contents(Part part);

}  // namespace gradcoll
