// topology/sources/job/written.hpp - which sources a GC_TOPOLOGY value names. No MPI.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/sources/job/source_table.hpp"

namespace gradcoll {

/// One source as it is named.
struct WrittenPart {
    const SourceRow* row = nullptr;
    std::string value;  ///< what follows the word and its colon
};

struct WrittenSource {
    std::vector<WrittenPart> parts;  ///< the whole tree, or the insides of hosts and what is
                                     ///< between them
    std::string origin;  ///< for people: "GC_TOPOLOGY json:FILE"; empty: nothing was written

    /// Null: that part is not there.
    const WrittenPart* part(Part wanted) const;
};

/// From the text alone: no file is touched. The text splits at the first + that a BETWEEN word
/// follows, so paths may hold one. Errors: invalid_argument quoting the text and listing the forms.
Result<WrittenSource> written_source(const std::string& text);

/// Whether the text leaves the tree to the machine: nothing, or one word of a `discovered` row.
bool is_discovered(std::string_view text);

/// Whether written_source() takes the text, and each source its part of it. No file is touched.
Status check_written(const std::string& text);

/// Looks into `file:` paths and names the sources that they are for. Errors: io; invalid_argument
/// naming the file, what it holds and what is allowed there.
Result<WrittenSource> resolved(WrittenSource source);

}  // namespace gradcoll
