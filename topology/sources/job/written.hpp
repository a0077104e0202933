// topology/sources/job/written.hpp - finds the sources that a GC_TOPOLOGY value names. No MPI.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/sources/job/source_table.hpp"

namespace gradcoll {

/// A WrittenPart is one source as it is named.
struct WrittenPart {
    const SourceRow* row = nullptr;
    std::string value;  ///< what follows the word and its colon
};

struct WrittenSource {
    std::vector<WrittenPart> parts;  ///< the whole tree, or the insides of hosts and what is
                                     ///< between them
    std::string origin;  ///< for people: "GC_TOPOLOGY json:FILE"; empty: nothing was written

    /// Returns null if that part is not named.
    const WrittenPart* part(Part wanted) const;
};

/// Parses the text; no file is touched. The text splits at the first + that a BETWEEN word follows,
/// so paths may hold one. Errors: invalid_argument quoting the text and listing the forms.
Result<WrittenSource> written_source(const std::string& text);

/// Returns whether the text leaves the tree to the machine: it is empty, or one word of a
/// `discovered` row.
bool is_discovered(std::string_view text);

/// Checks that written_source() accepts the text, and each source its part of it. No file is
/// touched.
Status check_written(const std::string& text);

/// Looks into `file:` paths and names the sources that read them. Errors: io; invalid_argument
/// naming the file, what it holds and what is allowed there.
Result<WrittenSource> resolved(WrittenSource source);

}  // namespace gradcoll
