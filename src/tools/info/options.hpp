// info/options.hpp - the options of the command line, and MPI's datatypes and ops by the names that
// people write there.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "command_line/command_line.hpp"
#include "gradcoll/inspect.h"

namespace gradcoll::info {

struct TypeName {
    std::string_view name;  ///< as plain_name() returns it: "float"
    std::size_t bytes;
    MPI_Datatype (*datatype)();  ///< may be called while MPI runs
};
struct OpName {
    std::string_view name;  ///< "sum"
    MPI_Op (*op)();
};

std::span<const TypeName> type_names();
std::span<const OpName> op_names();

/// Returns "unsigned_long", "float16" for "MPI_Unsigned_Long", "GC_FLOAT16".
std::string plain_name(std::string_view name);

/// Returns null if nothing has this name.
const TypeName* find_type(std::string_view name);
const OpName* find_op(std::string_view name);

enum class Mode { overview, settings, topology, explain };

struct Options {
    Mode mode = Mode::overview;
    bool json = false;
    std::string pattern = "*";  ///< for --settings
    GC_Tree_format tree_format = GC_TREE_TEXT;
    int ranks = 0;            ///< 0: not given
    std::string output_file;  ///< empty: standard output
    // for --topology --plan
    bool plan = false;
    std::uint64_t plan_count = 0;
    GC_Plan_format plan_format = GC_PLAN_TEXT;
    // for --explain; type and op also for --plan
    std::uint64_t size_bytes = 0;
    const TypeName* type = nullptr;
    const OpName* op = nullptr;
    std::string codec;  ///< empty: the codec of the settings
};

using CommandLine = gradcoll::CommandLine<Options>;

/// Reads the command line. Local and the same on every rank: the caller prints the text on one of
/// them.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace gradcoll::info
