// writers/writers.hpp - where rows go. All are used by one rank only.
#pragma once

#include <string>
#include <vector>

#include "csv.hpp"
#include "options.hpp"
#include "row.hpp"
#include "writers/columns.hpp"

namespace gradcoll::bench {

/// What is the same for every row of one table.
struct TableHead {
    std::string codec;
    std::string tree_expression;
    std::string tree_origin;
    std::string mpi_library;
    std::string peer;    ///< what runs beside ours
    std::string memory;  ///< where the vectors lie, on rank 0
    int ranks = 0;
};

/// The OSU-style table on stdout; every line is flushed.
void print_head(const Options& options, const TableHead& head);
void print_row(const Options& options, const Row& row);
/// Remarks on the rows of one table (at least one): what was passed to the MPI library and why, and
/// the summary of the ratios.
void print_remarks(const std::vector<Row>& rows);

/// The summary of one table.
struct TableSummary {
    std::string codec;
    Summary summary;
};
/// A whole run.
struct Report {
    std::string mpi_library;
    std::string peer;
    std::vector<TableSummary> summaries;
    std::vector<Columns> rows;
};
/// Writes {"version", "mpi_library", "peer", "summaries": [...], "rows": [...]}. Throws
/// std::runtime_error if the file cannot be written.
void write_json(const std::string& path, const Report& report);

}  // namespace gradcoll::bench
