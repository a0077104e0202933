// plan/subject.hpp - the tree and the call that a run is about.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "collectives/choose/policy.hpp"
#include "options.hpp"
#include "topology/tree.hpp"

namespace gradcoll::plan {

/// Returns the CPU time of this process. Planning waits for nothing, so wall time would differ only
/// by what else runs on the machine.
double cpu_seconds();

struct Subject {
    gradcoll::Tree tree;
    std::string origin;              ///< where the tree came from, for people
    std::vector<std::string> notes;  ///< what was assumed about it
    std::shared_ptr<const gradcoll::Tuning> tuning;
    gradcoll::Decision decision;  ///< the call as it will be planned
    double tree_seconds = 0;      ///< CPU time spent on reading and making the tree
    double decision_seconds = 0;  ///< CPU time spent on choosing exchanges, codecs, granule, chunk
};

/// Makes the subject. Errors: those of foreseen_tree() and foreseen_cluster(), about --tree,
/// --ranks and --hosts; those of read_tuning() about --tuning.
gradcoll::Result<Subject> subject_of(const Options& options);

/// Returns a text such as "rank 3" or "host n1".
std::string label_of(const gradcoll::Tree& tree, int vertex);
/// Returns a path such as "/children/1/children/0", as in the tree's errors and its JSON form; ""
/// for the root.
std::string path_of(const gradcoll::Tree& tree, int vertex);
/// Returns the ranks below a vertex, ascending: "0-3,7"; cut after `most` runs ("0-3,7,...").
std::string ranks_below(const gradcoll::Tree& tree, int vertex, int most);

/// Returns "131072 ranks, 139537 vertices, 5 levels (GC_TOPOLOGY expression)
/// ", a line for each note, and the call in a line.
std::string heading_of(const Subject& subject);
/// Returns {"ranks","vertices","levels","origin","notes"}.
nlohmann::json json_of_tree(const Subject& subject);
/// Returns {"count","type","bytes","chunk_elems","granule_elems","down_codec","builder",
/// "builder_why"}.
nlohmann::json json_of_call(const Subject& subject);
/// Returns the JSON indented, with a newline; bytes that are not UTF-8 are replaced.
std::string dumped(const nlohmann::json& report);

}  // namespace gradcoll::plan
