// writers/writers.hpp - writes rows. Only one rank uses these.
#pragma once

#include <string>
#include <vector>

#include "csv.hpp"
#include "options.hpp"
#include "row.hpp"

namespace gradcoll::bench {

/// A TableHead is the same for every row of one table.
struct TableHead {
    std::string codec;
    std::string tree_expression;
    std::string tree_origin;
    std::string mpi_library;
    std::string peer;    ///< the peer that is compared with ours
    std::string memory;  ///< memory of the vectors, on rank 0
    int ranks = 0;
};

/// Print the OSU-style table on stdout; every line is flushed.
void print_head(const Options& options, const TableHead& head);
void print_row(const Options& options, const Row& row);
/// Prints remarks on the rows of one table (at least one): what was passed to the MPI library and
/// why, and the summary of the ratios.
void print_remarks(const std::vector<Row>& rows);

/// A TableSummary is the summary of one table.
struct TableSummary {
    std::string codec;
    Summary summary;
};
/// A Report is a whole run.
struct Report {
    std::string mpi_library;
    std::string peer;
    std::vector<TableSummary> summaries;
    std::vector<Columns> rows;
};
/// Writes {"version", "mpi_library", "peer", "summaries": [...], "rows": [...]}. Throws
/// std::runtime_error if the file cannot be written.
void write_json(const std::string& path, const Report& report);

/// Returns what was run, then what came out; always the same names in the same order.
Columns columns_of(const Options& options, const Row& row);

}  // namespace gradcoll::bench
