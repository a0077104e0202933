// collectives/plan.hpp - everything one rank needs to know to run one shape of call, made once and
// cached. Planning is pure: no MPI, no clock, no rank-local facts except which rank this is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "collectives/schedule.hpp"
#include "compress/codec_id.hpp"
#include "reduce/element_type.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

enum class Collective : std::uint8_t { allreduce, reduce_scatter_block, allgather };
std::string_view name_of(Collective collective);
enum class Exchange : std::uint8_t { direct, ring };

/// How the branches of one vertex talk to each other.
struct VertexChoice {
    Exchange exchange = Exchange::direct;
    CodecId codec = CodecId::exact;
};

/// What is to be planned: only facts that all ranks know alike. All ranks' plans for one spec fit
/// together.
struct PlanSpec {
    Collective collective = Collective::allreduce;
    std::int64_t count_elems =
        0;  ///< of the whole vector (reduce_scatter_block and allgather: ranks * block)
    ElementType type = ElementType::f32;
    std::uint32_t elem_bytes = 4;
    bool in_place = false;           ///< input is the output buffer
    std::int64_t granule_elems = 1;  ///< multiple of codec_block_elems of every codec used
    std::int64_t chunk_elems = 0;  ///< multiple of the granule; 0: all in one chunk. allreduce only
    std::vector<VertexChoice>
        choices;  ///< by vertex id (leaves ignored); empty: direct and exact everywhere
    CodecId down_codec =
        CodecId::exact;  ///< of the allgather phase: what owners encode once. Their bytes are
                         ///< forwarded from the root down while each vertex's choice is lossy; the
                         ///< first exact vertex passes the decoded values on, and so do all below
                         ///< it. If the root's choice or this is exact, the whole phase is exact
    bool feedback =
        false;  ///< encode steps add and update a residual. Then every message of the way up
                ///< and every owner's final values are encoded, to plain unframed bytes
                ///< where the codec is exact: so the residual's layout depends on the tree,
                ///< exchanges, count, granule and chunk only, not on codecs, and what is
                ///< left from a lossy call leaves with the next exact one. Needs floats
                ///< and a granule that is a multiple of lossy_block_elems

    friend bool operator==(const PlanSpec&, const PlanSpec&) = default;
    std::uint64_t hash() const;
};
bool operator==(const VertexChoice&, const VertexChoice&);

struct Plan {
    PlanSpec spec;
    int rank = 0;
    int rank_count = 1;
    std::int64_t chunk_count = 0;  ///< 0 for an empty vector
    Schedule body;                 ///< of every chunk but a shorter last one
    Schedule tail;                 ///< of the last chunk if it is shorter; empty otherwise
    std::uint32_t stage_count =
        0;  ///< messages' stage numbers are below this, the same on all ranks

    const Schedule& schedule_of(std::int64_t chunk) const {
        return chunk + 1 == chunk_count && tail.count_elems > 0 ? tail : body;
    }
    std::int64_t residual_elems()
        const;  ///< of the whole call: chunk after chunk, each as Schedule::residual_elems
    std::string to_text() const;
};

/// The plan of `rank`. Cost in time and memory follows the number of messages of this rank, never
/// other ranks' plans. Errors: invalid_argument for a spec that contradicts itself (granule and
/// codecs, choices of the wrong length...).
///
/// allreduce: `input` and `output` are count_elems elements.
/// reduce_scatter_block: input is count_elems, output one block (count_elems / ranks); the vector
/// is reduced on the tree's own
///   ownership in the work vector, then every piece goes as values to the rank whose block it
///   belongs to. In place the input is count_elems at the output's address (MPI_IN_PLACE of
///   MPI_Reduce_scatter_block). Elements are numbered in the whole vector:
///   Schedule::output_first_elem is the first of the block.
/// allgather: input is one block, output count_elems; the mirror image: values go from the blocks
/// to the tree's owners,
///   then down. In place the rank's block lies in the output already and the input is not used.
/// Residuals (feedback) of reduce_scatter_block and allgather cover the encodes of the one phase
/// they have.
Result<Plan> make_plan(const Tree& tree, const PlanSpec& spec, int rank);

/// Bytes that this plan's rank sends to each peer (index: rank), headers included; what
/// `GC_Comm_get_stats` and the benchmark call wire bytes.
std::vector<std::uint64_t> bytes_to_peers(const Plan& plan);

}  // namespace gradcoll
