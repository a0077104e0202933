// collectives/build/builder.hpp - the interface and the table of builders, which make plans from a
// tree and a spec.
//
// A new builder is a folder with an extension.cmake (`gradcoll_extension(builder NAME SOURCES
// ...)`) and a source that defines `const BuilderRow& NAME_builder()`, which always returns the
// same row. StepList and Transfer (transfer.hpp) put steps together and find what each must wait
// for. The verifier accepts any plan that is right: every element's sum is complete, all ranks get
// the same sum, every message has both its sides, and no memory is used too early. Forecasts know
// only flexreduce; for other builders' plans bytes are counted, and times are not predicted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "collectives/plan/plan.hpp"
#include "collectives/plan/schedule.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// A TreeBuilder makes the steps of all ranks for one call. It may keep a reference to the tree,
/// not to the spec. Immutable, thread safe.
class TreeBuilder {
  public:
    virtual ~TreeBuilder() = default;

    /// Returns a bound of the stage numbers of messages, the same on all ranks.
    virtual std::uint32_t stage_count() const = 0;
    /// Makes the schedule of one rank for a chunk of `chunk_elems` elements, at least one. Levels
    /// of steps are those of vertices of the tree (height - 1). All ranks' schedules for one chunk
    /// fit together; each should cost what its own messages do, not what all ranks' do. Errors:
    /// internal.
    virtual Result<Schedule> schedule(int rank, std::int64_t chunk_elems) const = 0;
    /// Returns Plan::encodings_go_one_hop, the same on all ranks; true needs to be certain.
    virtual bool encodings_go_one_hop() const { return false; }
};

struct BuilderRow {
    /// This number is the same on all ranks, and no other row's; in folders outside the project it
    /// is first_outside_number or more.
    Builder number = Builder::flexreduce;
    std::string_view name;  ///< a literal: the name for gc_builder; one word
    std::string_view text;  ///< one line for people, without the name

    /// Makes a builder. `spec` is valid for Planner in all that concerns no builder: sizes, codecs,
    /// one choice for each vertex or none. The result may depend only on tree and spec, so that all
    /// ranks get the same. If a spec with feedback is accepted, it is accepted with all codecs; a
    /// lossy spec must be accepted in exact form and without feedback, too. Errors: unsupported or
    /// invalid_argument, saying what it cannot do; then flexreduce makes the plan.
    Result<std::shared_ptr<const TreeBuilder>> (*make)(const Tree& tree,
                                                       const PlanSpec& spec) = nullptr;
};

/// Returns the rows, in the order of the table. Errors in it (a duplicate number or name) throw
/// std::logic_error from every function below.
std::span<const BuilderRow* const> builder_table();
/// Returns null if no builder has this number.
const BuilderRow* find_builder(Builder builder);
std::string_view name_of(Builder builder);
/// Returns the builder of that name. Errors: invalid_argument, with the names of all.
Result<Builder> builder_from_name(std::string_view name);

}  // namespace gradcoll
