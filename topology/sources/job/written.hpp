// topology/sources/job/written.hpp - which of its forms a GC_TOPOLOGY value has. No MPI.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// What says how the inside of a host looks.
struct InsideSource {
    enum class Form : std::uint8_t {
        hwloc,      ///< each rank asks hwloc where it is bound
        synthetic,  ///< every host alike, an hwloc string
        xml,        ///< every host alike, an hwloc XML file
        hosts,      ///< a hosts file, or a folder of HOSTNAME.xml
        nccl,       ///< every host alike, an NCCL XML file
        gpus,       ///< xml, hosts or nccl, with ranks on GPUs: see resolved()
        file        ///< a file that has to be looked at first: see resolved()
    };
    Form form = Form::hwloc;
    std::string value;     ///< string, file or folder
    bool on_gpus = false;  ///< with xml and hosts: ranks are dealt to GPUs, not to cores

    /// What ranks are dealt to where it describes hosts: "core", "GPU".
    const char* place_name() const { return on_gpus || form == Form::nccl ? "GPU" : "core"; }
};

/// What says how hosts are connected.
struct BetweenSource {
    enum class Form : std::uint8_t {
        none,       ///< all hosts below one vertex
        automatic,  ///< SLURM's addresses if there are any, else none
        slurm,      ///< SLURM's addresses, else its file
        probe,      ///< measured; `value` is the cache file or empty
        fabric,     ///< a file that fabric_from() reads
        cache,      ///< what an earlier probe wrote down
        file        ///< a file that has to be looked at first: see resolved()
    };
    Form form = Form::none;
    std::string value;
};

enum class SourceForm : std::uint8_t {
    machine,     ///< inside + between
    flat,        ///< all ranks below one vertex
    expression,  ///< a whole tree
    json,        ///< a whole tree in a file
    file         ///< a file that has to be looked at first: see resolved()
};

struct WrittenSource {
    SourceForm form = SourceForm::machine;
    std::string value;  ///< the expression or file, without its prefix; empty for machine
    InsideSource inside;
    BetweenSource between = {BetweenSource::Form::automatic, {}};
    std::string origin = {};  ///< for people: "GC_TOPOLOGY json:FILE"; empty: nothing was written
};

/// From the text alone: no file is touched. The text splits at the first + that a BETWEEN word
/// follows, so paths may hold one. Errors: invalid_argument quoting the text and listing the forms.
Result<WrittenSource> written_source(const std::string& text);

/// Looks into `file:` paths and says what they are. Errors: io; invalid_argument naming the file,
/// what it holds and what is allowed there.
Result<WrittenSource> resolved(WrittenSource source);

/// The tree of MPI_COMM_WORLD that a flat, expression or json source writes down.
Result<Tree> written_tree(const WrittenSource& source, int world_size);

}  // namespace gradcoll
