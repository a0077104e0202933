// csv.hpp - measured rows as named values, and the file to which they are added.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gradcoll::bench {

using Value =
    std::variant<std::monostate, std::int64_t, double, std::string>;  ///< monostate: not measured
using Columns = std::vector<std::pair<std::string_view, Value>>;

/// CsvWriter appends rows to a CSV file (RFC 4180), after a header if the file is new or empty.
/// Throws std::runtime_error if it cannot be written or has other columns.
class CsvWriter {
  public:
    explicit CsvWriter(std::string path) : path_(std::move(path)) {}
    /// Writes a row, which is on disk on return, so that an interrupted sweep loses no finished
    /// row.
    void write(const Columns& columns);

  private:
    void open(const std::string& header);

    std::string path_;
    std::ofstream file_;
};

}  // namespace gradcoll::bench
