// api/inspect/explain.hpp - what an allreduce would do and why: as data, as text and as JSON. The
// answers are those of the code that serves calls: classify(), the route, decision_for(),
// make_plan().
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mpi/request.hpp"
#include "runtime/tags.hpp"
#include "settings/settings.hpp"
#include "topology/sources/job/discover.hpp"
#include "ways/route.hpp"
#include "ways/tree/call_decision.hpp"

namespace gradcoll {

/// All vertices of one height.
struct ExplainedLevel {
    int level = 0;  ///< 0 is nearest the ranks
    int vertices = 0;
    int least_branches = 0;
    int most_branches = 0;
    std::map<Exchange, int> with;   ///< vertices by exchange
    std::map<CodecId, int> codecs;  ///< vertices by codec
    int most_encodings_up = 0;  ///< of a contribution on its way up through a lossy vertex of these
};

/// What a prediction says of one level, one chunk, both phases.
struct ExplainedTerm {
    std::string what;  ///< "level 0 (host)", "shared memory"
    double latency_us = 0;
    double link_us = 0;            ///< bytes on links, or copied by cores
    double core_us = 0;            ///< codecs, sums, messages
    double alpha_us = 0;           ///< latency of the link
    double beta_gbytes_per_s = 0;  ///< its bandwidth, with so much memory at work
    std::string link_source;       ///< "tree", "tuning file", "shipped"
    std::string codec_source;      ///< of the speeds of codec and sum: the same but for the tree
};

/// Of a call on a tree of two ranks or more.
struct ExplainedPlan {
    Builder builder = Builder::flexreduce;
    std::string builder_refusal;         ///< Decision::builder_refusal
    std::vector<ExplainedLevel> levels;  ///< flexreduce's alone
    CodecId down_codec = CodecId::exact;
    std::int64_t granule_elems = 0;
    std::int64_t chunk_elems = 0;  ///< of the whole vector if it is not cut
    std::int64_t chunk_count = 0;
    int chunks_in_flight = 0;
    bool is_predicted = true;
    double predicted_us = 0;
    std::vector<ExplainedTerm> terms;
    std::vector<CodecVerdict> codecs;  ///< what was weighed with gc_compress_if=pays
    LossParts loss_parts;              ///< Plan::loss_parts
    SendingCost sends;
};

struct ExplainedSetting {
    std::string name;
    std::string value;
    std::string source;  ///< "default", "environment", "config file FILE:LINE", "communicator"
};

struct Explanation {
    std::int64_t count = 0;
    std::string datatype;
    std::string op;
    std::uint64_t size_bytes = 0;
    int rank = 0;
    int rank_count = 0;
    std::string tree;    ///< expression; empty: an intercommunicator
    std::string origin;  ///< of the tree
    const WayInfo* way = &mpi_way();
    bool is_alone = false;     ///< on its one rank, which copies its vector
    std::string pass_reason;   ///< if it passes to the MPI library
    std::string exact_reason;  ///< why not compressed; empty: it is
    /// That of the tree; over one host what is predicted; through hosts that of the leader of this
    /// rank's host.
    ExplainedPlan plan;
    std::string leaders_tree;  ///< through hosts, long vectors: its expression; empty: by MPI
    std::vector<ExplainedSetting> settings;  ///< those that the route and the plan depend on
};

std::string text_of(const Explanation& explanation);
std::string json_of(const Explanation& explanation);

/// What an explanation needs to know of a communicator that is there, or is only thought of.
struct ExplainFacts {
    const DiscoveredTree& tree;
    int rank = 0;
    const Settings& settings;
    const SettingsText& text;
    /// That the tags of its messages tell apart; of one only thought of as many as can be.
    int most_chunks_in_flight = max_chunks_in_flight;
    /// How leaders of hosts plan; null: there are none.
    const ExplainFacts* leaders = nullptr;
};

/// Errors: invalid_op, invalid_type, invalid_count as for the call itself.
Status check_explained(const CallArguments& call);

/// `route_for(shape)`: where the communicator sends such a call. Errors: those of
/// check_explained(); what make_plan says.
Result<Explanation> explain(const ExplainFacts& facts, const CallArguments& call,
                            const std::function<Route(const CallShape&)>& route_for);
/// Of a call on an intercommunicator of `rank_count` ranks on this side.
Explanation explain_intercommunicator(const CallArguments& call, int rank, int rank_count);

}  // namespace gradcoll
