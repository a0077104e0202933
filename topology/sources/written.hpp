// topology/sources/written.hpp - which of its forms a GC_TOPOLOGY value has. No MPI.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

enum class SourceForm : std::uint8_t { discover, flat, expression, json, synthetic, xml, hosts };

struct WrittenSource {
    SourceForm form = SourceForm::discover;
    std::string value;   ///< the expression, file or string, without its prefix
    std::string origin;  ///< for people: "GC_TOPOLOGY json:FILE"
};

/// Errors: invalid_argument quoting the text and listing the forms.
Result<WrittenSource> written_source(const std::string& text);

/// A whole file, at most 256 MiB. Errors: io naming the file and the system's reason.
Result<std::string> read_file(const std::string& path);

/// The tree of MPI_COMM_WORLD that a flat, expression or json source writes down.
Result<Tree> written_tree(const WrittenSource& source, int world_size);

}  // namespace gradcoll
