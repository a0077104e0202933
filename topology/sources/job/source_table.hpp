// topology/sources/job/source_table.hpp - all ways to learn a tree, one row each. A source is a
// folder beside this one, or outside the project: the kind source of
// scripts/cmake/GradcollExtensions.cmake.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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

/// A member NAME of the kind source defines
///     SourceRow NAME_source_row();
/// in this namespace. Words of a part are different; no two rows that are not `vague` take the same
/// content. Everything that is said of sources (messages, gc_info, file:) follows from the rows.
struct SourceRow {
    Part part;
    std::string_view word;
    Takes takes = Takes::nothing;
    std::string_view forms = {};     ///< as it is written, in a list of what is allowed; empty: not
                                     ///< listed
    MakeTreeSource* make = nullptr;  ///< null: what is at the path decides (see resolved())
    bool discovered = false;  ///< the word alone leaves the tree to the machine, so that ranks of
                              ///< one host may do without one

    /// For file:PATH. Null: it is not known by what a path holds.
    bool (*holds)(const PathContent& content) = nullptr;
    bool vague = false;           ///< what it holds may be another's, too: it is asked after them
    std::string_view found = {};  ///< for messages: "holds hwloc XML"
    std::string expected = {};    ///< the same as something to be wished for; empty: not listed

    std::string_view example = {};  ///< a GC_TOPOLOGY with it, for gc_info; empty: as `forms`
    std::string help = {};          ///< for gc_info; empty: not listed there
};

/// A row's `make` for a class whose constructor takes the value, or nothing.
template <class Source>
std::unique_ptr<TreeSource> make_source(std::string value) {
    if constexpr (std::is_constructible_v<Source, std::string>)
        return std::make_unique<Source>(std::move(value));
    else
        return std::make_unique<Source>();
}

/// Thread safe; stays where it is.
const std::vector<SourceRow>& source_table();

/// Needs a row of that word.
const SourceRow& source_row(Part part, std::string_view word);

/// The row that takes what is at a path; null: none does.
const SourceRow* source_for(const PathContent& content);

/// "auto, flat, ..., or INSIDE, BETWEEN or INSIDE+BETWEEN, where INSIDE is ... and BETWEEN is ...".
std::string allowed_forms();

/// "a folder of hosts' XML files, hwloc XML or NCCL XML": what file:PATH may lead to.
std::string allowed_contents(Part part);

}  // namespace gradcoll
