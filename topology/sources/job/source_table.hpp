// topology/sources/job/source_table.hpp - all sources of a tree, one row each. A source is a folder
// beside this one, or outside the project: the kind source of
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

/// A Part is the part of a tree that a source describes.
enum class Part : std::uint8_t {
    whole,
    inside,  ///< the insides of hosts
    between  ///< what is between hosts
};

/// Takes says what follows a word of GC_TOPOLOGY and its colon.
enum class Takes : std::uint8_t {
    nothing,
    a_string,
    a_file,
    perhaps_a_file,
    no_word  ///< the source has no word: the value alone identifies it
};

/// A SourceRow is the row of a source. A member NAME of the kind source defines
///     SourceRow NAME_source_row();
/// in this namespace. Words of a part are different; no two rows that are not `vague` accept the
/// same content. All that is said of sources (messages, gradcoll info, file:) follows from the
/// rows.
struct SourceRow {
    Part part;
    std::string_view word;
    Takes takes = Takes::nothing;
    std::string_view forms = {};  ///< its written form, for a list of what is allowed; empty: not
                                  ///< listed
    MakeTreeSource* make = nullptr;  ///< null: what is at the path decides (see resolved())
    bool discovered = false;  ///< the word alone leaves the tree to the machine, so that ranks of
                              ///< one host need none

    /// Returns whether a path given as file:PATH holds what this source reads. Null: it is not
    /// found by content.
    bool (*holds)(const PathContent& content) = nullptr;
    bool vague = false;  ///< what it holds may be another source's, too: it is asked after the
                         ///< others
    std::string_view found = {};  ///< for messages: "holds hwloc XML"
    std::string expected = {};    ///< the same as something to ask for; empty: not listed

    std::string_view example = {};  ///< a value with it, for gradcoll info; empty: `forms`
    std::string help = {};          ///< for gradcoll info; empty: not listed there
};

/// Makes a row's source of a class whose constructor takes the value, or nothing.
template <class Source>
std::unique_ptr<TreeSource> make_source(std::string value) {
    if constexpr (std::is_constructible_v<Source, std::string>)
        return std::make_unique<Source>(std::move(value));
    else
        return std::make_unique<Source>();
}

/// Returns the table, which never moves. Thread safe.
const std::vector<SourceRow>& source_table();

/// Returns the row of that word, which must exist.
const SourceRow& source_row(Part part, std::string_view word);

/// Returns the row that reads what is at a path; null: none does.
const SourceRow* source_for(const PathContent& content);

/// Returns "auto, flat, ..., or INSIDE, BETWEEN or INSIDE+BETWEEN, where INSIDE is ... and BETWEEN
/// is ...".
std::string allowed_forms();

/// Returns what file:PATH may lead to, such as "a folder of hosts' XML files, hwloc XML or NCCL
/// XML".
std::string allowed_contents(Part part);

}  // namespace gradcoll
