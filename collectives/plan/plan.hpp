// collectives/plan/plan.hpp - everything one rank needs to know to run one shape of call, made once
// and cached. Planning is pure: no MPI, no clock, no rank-local facts except which rank this is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/plan/schedule.hpp"
#include "compress/codec_id.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

enum class Collective : std::uint8_t { allreduce, reduce_scatter_block, allgather };
std::string_view name_of(Collective collective);

/// An Exchange says how the branches of a vertex swap what they have: it is the number of a row of
/// the table of exchanges (exchange/exchange.hpp has their names), or one of two other kinds.
enum class Exchange : std::uint8_t {
    direct = 0,  ///< the default
    single = 3,  ///< only in exact allreduces without feedback, and only if all vertices above do
                 ///< the same
    merged = 4   ///< no exchange here: the branches are branches of the vertex above
                 ///< (build/merge.hpp)
};

/// A Builder makes the plan from tree and spec: it is the number of a row of the table of builders
/// (build/builder.hpp has their names).
enum class Builder : std::uint8_t {
    flexreduce = 0  ///< the default
};

/// Exchanges and builders from folders outside the project have numbers from here on.
inline constexpr std::uint8_t first_outside_number = 128;

/// A VertexChoice says how the branches of one vertex talk to each other.
struct VertexChoice {
    Exchange exchange = Exchange::direct;
    CodecId codec = CodecId::exact;
};

/// VertexChoices holds a choice for every vertex (index: vertex id; leaves' are ignored). Immutable
/// and shared: copies cost nothing however large the tree is, and the hash is computed once
/// (docs/decisions/006-choices-are-shared.md). Empty: direct and exact everywhere. Thread safe.
class VertexChoices {
  public:
    VertexChoices() = default;
    VertexChoices(std::vector<VertexChoice> by_vertex);  // NOLINT: implicit by design

    bool empty() const { return list_ == nullptr; }
    std::size_t size() const { return empty() ? 0 : list_->by_vertex.size(); }
    const VertexChoice& operator[](std::size_t vertex) const { return list_->by_vertex[vertex]; }
    const VertexChoice* begin() const { return empty() ? nullptr : list_->by_vertex.data(); }
    const VertexChoice* end() const { return begin() + size(); }
    /// Returns the choice of a vertex, also if there are none.
    VertexChoice of(int vertex) const {
        return empty() ? VertexChoice{} : list_->by_vertex[static_cast<std::size_t>(vertex)];
    }
    /// Returns these choices with one codec at every vertex.
    VertexChoices with_codec(CodecId codec) const;

    std::uint64_t hash() const { return empty() ? 0 : list_->hash; }
    friend bool operator==(const VertexChoices& a, const VertexChoices& b);

  private:
    struct List {
        std::vector<VertexChoice> by_vertex;
        std::uint64_t hash = 0;
    };
    std::shared_ptr<const List> list_;
};

/// A PlanSpec says what to plan, with only facts that all ranks share. All ranks' plans for one
/// spec fit together.
struct PlanSpec {
    Collective collective = Collective::allreduce;
    /// Counts the whole vector (reduce_scatter_block and allgather: ranks * block).
    std::int64_t count_elems = 0;
    ElementType type = ElementType::f32;
    std::uint32_t elem_bytes = 4;
    bool in_place = false;           ///< input is the output buffer
    std::int64_t granule_elems = 1;  ///< multiple of codec_block_elems of every codec used
    /// Counts the elements of a chunk, a multiple of chunk_multiple(); 0: all are in one chunk. A
    /// chunk of reduce_scatter_block and allgather is the same part of each block, one behind the
    /// other.
    std::int64_t chunk_elems = 0;
    /// Makes flexreduce deal out ownership by granules where overlays cut too finely
    /// (partition.hpp).
    bool dealt = false;
    VertexChoices choices;
    /// Owners encode with this codec once, in the allgather phase. Their bytes are forwarded from
    /// the root down while each vertex's choice is lossy; the first exact vertex passes the decoded
    /// values on, and so do all below it. If the root's choice or this is exact, the whole phase is
    /// exact.
    CodecId down_codec = CodecId::exact;
    /// Makes encode steps add and update a residual. Then every message of the way up and every
    /// owner's final values are encoded, to plain unframed bytes where the codec is exact: so the
    /// residual's layout depends only on the tree, exchanges, count, granule and chunk, not on
    /// codecs, and what is left from a lossy call leaves with the next exact one. Needs floats and
    /// a granule that is a multiple of lossy_block_elems.
    bool feedback = false;
    Builder builder = Builder::flexreduce;

    friend bool operator==(const PlanSpec&, const PlanSpec&) = default;
    std::uint64_t hash() const;
};
bool operator==(const VertexChoice&, const VertexChoice&);

/// Returns whether ranks end, or begin, with blocks as MPI prescribes them.
inline bool is_in_blocks(const PlanSpec& spec) {
    return spec.collective != Collective::allreduce;
}
/// Returns what chunks of the call are multiples of.
std::int64_t chunk_multiple(const PlanSpec& spec, int rank_count);
/// Returns the same spec with every codec exact.
PlanSpec without_codecs(PlanSpec spec);
/// Returns whether anything on the way up or down is encoded with loss.
bool is_lossy(const PlanSpec& spec);
/// Returns a codec of the spec whose encodings may be shorter than their bound; exact: all have a
/// fixed rate.
CodecId variable_rate_codec(const PlanSpec& spec);
/// Returns a codec whose messages are packed without loss; exact: there is none.
CodecId packed_codec(const PlanSpec& spec);
/// Returns whether messages may be shorter than their slots.
bool length_depends_on_data(const PlanSpec& spec);

/// Returns whether several ranks may add up the same elements, all in the same order: with single
/// exchanges up to the root, and in plans of other builders than flexreduce.
bool may_have_several_owners(const PlanSpec& spec);

/// LossParts says how the loss that a call may have is dealt out: each lossy encoding takes as many
/// parts as its codec says (loss_parts_of()).
struct LossParts {
    /// The error of any element of the result adds up at most this many parts: those of all
    /// encodings that its contributions go through on the way up, and of one on the way down.
    /// verify() proves it.
    std::int64_t together = 0;
    std::int64_t largest = 0;  ///< the most parts of one encoding

    friend bool operator==(const LossParts&, const LossParts&) = default;
};

struct Plan {
    PlanSpec spec;
    int rank = 0;
    int rank_count = 1;
    std::int64_t chunk_count = 0;  ///< 0 for an empty vector
    Schedule body;                 ///< steps of every chunk except a shorter last one
    Schedule tail;                 ///< steps of the last chunk if it is shorter; empty otherwise
    /// Messages' stage numbers are below this, the same on all ranks.
    std::uint32_t stage_count = 0;
    LossParts loss_parts;
    /// On the way down no rank passes an owner's encoding on: whoever receives one only decodes it.
    /// It is the same on all ranks.
    bool encodings_go_one_hop = false;

    const Schedule& schedule_of(std::int64_t chunk) const {
        return chunk + 1 == chunk_count && tail.count_elems > 0 ? tail : body;
    }
    /// Returns the elements of the whole call, chunk after chunk, each as Schedule::residual_elems.
    std::int64_t residual_elems() const;
    std::string to_text() const;
};

/// A ChunkPlace says where the elements of a chunk are in the vectors of its call: one behind the
/// other, or a part of each block.
struct ChunkPlace {
    std::int64_t first_elem = 0;  ///< element 0 of the chunk
    /// Count the elements of a block, and those of each that the chunk has; 0: a chunk is one piece
    /// of the vectors.
    std::int64_t block_elems = 0;
    std::int64_t part_elems = 0;

    std::int64_t in_vector(std::int64_t elem) const {
        if (part_elems == 0) return first_elem + elem;
        return elem / part_elems * block_elems + first_elem + elem % part_elems;
    }
};
ChunkPlace place_of(const Plan& plan, std::int64_t chunk);

/// Returns the memory that the plan holds: itself, its steps, dependencies and slots, without the
/// choices, which all plans of a call share.
std::size_t bytes_held(const Plan& plan);

/// Returns the bytes that this plan's rank sends in one call, headers included; `GC_Comm_get_stats`
/// and the benchmark call them wire bytes. Exact unless length_depends_on_data(), else a bound:
/// what was sent is in the statistics of the call.
std::uint64_t bytes_sent(const Plan& plan);

}  // namespace gradcoll
