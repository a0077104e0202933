// collectives/build/builder.hpp - who makes plans from a tree and a spec: one interface, one table.
//
// A new one is a folder with an extension.cmake (`gradcoll_extension(builder NAME SOURCES ...)`)
// and a source that defines `const BuilderRow& NAME_builder()`, which returns the same row always.
// StepList and Transfer (transfer.hpp) put steps together and find what each must wait for. The
// verifier takes whatever a builder makes if it is right: every element's sum complete, the same
// sum on every rank, every message with both its sides, no memory used too early. Forecasts know
// flexreduce alone; of other builders' plans bytes are counted, and times are not predicted.
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

/// Makes the steps of all ranks for one call. May keep a reference to the tree, not to the spec.
/// Immutable, thread safe.
class TreeBuilder {
  public:
    virtual ~TreeBuilder() = default;

    /// Messages' stage numbers are below this: the same for all ranks.
    virtual std::uint32_t stage_count() const = 0;
    /// Of one rank for a chunk of so many elements, one or more. Levels of steps are those of
    /// vertices of the tree (height - 1). All ranks' schedules for one chunk fit together; each
    /// should cost what its own messages do, not what all ranks' do. Errors: internal.
    virtual Result<Schedule> schedule(int rank, std::int64_t chunk_elems) const = 0;
};

struct BuilderRow {
    /// The same on all ranks, and no other row's; of folders outside the project
    /// first_outside_number or more.
    Builder number = Builder::flexreduce;
    std::string_view name;  ///< a literal, as gc_builder names it; one word
    std::string_view text;  ///< one line for people, without the name

    /// `spec` is one that Planner takes as far as it concerns no builder: sizes, codecs, one choice
    /// for each vertex or none. May rest on nothing but tree and spec: all ranks are told the same.
    /// A spec with feedback is taken with all codecs or with none; one that is lossy is taken exact
    /// and without feedback, too. Errors: unsupported or invalid_argument, in words that say
    /// what it cannot do; then flexreduce makes the plan.
    Result<std::shared_ptr<const TreeBuilder>> (*make)(const Tree& tree,
                                                       const PlanSpec& spec) = nullptr;
};

/// The rows, in the order of the table. Errors in it (a number or name that is there twice) throw
/// std::logic_error from every function below.
std::span<const BuilderRow* const> builder_table();
/// Null: there is none of this number.
const BuilderRow* find_builder(Builder builder);
std::string_view name_of(Builder builder);
/// Errors: invalid_argument, with the names of all.
Result<Builder> builder_from_name(std::string_view name);

}  // namespace gradcoll
