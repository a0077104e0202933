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

/// ExplainedLevel describes all vertices of one height.
struct ExplainedLevel {
    int level = 0;  ///< 0 is nearest the ranks
    int vertices = 0;
    int least_branches = 0;
    int most_branches = 0;
    std::map<Exchange, int> with;   ///< vertices by exchange
    std::map<CodecId, int> codecs;  ///< vertices by codec
    /// It counts how often a contribution is encoded on its way up through a lossy vertex, at most.
    int most_encodings_up = 0;
};

/// ExplainedTerm is what a prediction says of one level: the times of one chunk in both phases.
struct ExplainedTerm {
    std::string what;  ///< "level 0 (host)", "shared memory"
    double latency_us = 0;
    double link_us = 0;            ///< bytes on links, or copied by cores
    double core_us = 0;            ///< codecs, sums, messages
    double alpha_us = 0;           ///< latency of the link
    double beta_gbytes_per_s = 0;  ///< its bandwidth, with so much memory at work
    std::string link_source;       ///< "tree", "tuning file", "shipped"
    std::string codec_source;  ///< source of the speeds of codec and sum: the same ones but "tree"
};

/// ExplainedPlan is the plan of a call on a tree of two ranks or more.
struct ExplainedPlan {
    Builder builder = Builder::flexreduce;
    std::string builder_refusal;         ///< Decision::builder_refusal
    std::vector<ExplainedLevel> levels;  ///< only flexreduce has them
    CodecId down_codec = CodecId::exact;
    std::int64_t granule_elems = 0;
    std::int64_t chunk_elems = 0;  ///< the whole vector if it is not cut
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
    std::string origin;  ///< where the tree comes from
    const WayInfo* way = &mpi_way();
    bool is_alone = false;     ///< it is on its one rank, which copies its vector
    std::string pass_reason;   ///< if it passes to the MPI library
    std::string exact_reason;  ///< why it is not compressed; empty: it is
    /// It is the plan over the tree, or what is predicted over one host, or the plan of the leader
    /// of this rank's host if the call goes through hosts.
    ExplainedPlan plan;
    /// It is the expression of the leaders' tree for long vectors through hosts; empty: by MPI.
    std::string leaders_tree;
    std::string check;                       ///< what gc_check=sum looks at; empty without it
    std::vector<ExplainedSetting> settings;  ///< those that the route and the plan depend on
};

std::string text_of(const Explanation& explanation);
std::string json_of(const Explanation& explanation);

/// ExplainFacts are what an explanation needs to know of a communicator that exists, or is only
/// assumed.
struct ExplainFacts {
    const DiscoveredTree& tree;
    int rank = 0;
    const Settings& settings;
    const SettingsText& text;
    /// It is the number of chunks that the tags of its messages tell apart; one that is only
    /// assumed has the largest.
    int most_chunks_in_flight = max_chunks_in_flight;
    /// It says how leaders of hosts plan; null if there are none.
    const ExplainFacts* leaders = nullptr;
};

/// Checks op, datatype and count. Errors: invalid_op, invalid_type, invalid_count, as for the call
/// itself.
Status check_explained(const CallArguments& call);

/// Explains a call; `route_for(shape)` returns where the communicator sends it. Errors: those of
/// check_explained() and of make_plan().
Result<Explanation> explain(const ExplainFacts& facts, const CallArguments& call,
                            const std::function<Route(const CallShape&)>& route_for);
/// Explains a call on an intercommunicator of `rank_count` ranks on this side.
Explanation explain_intercommunicator(const CallArguments& call, int rank, int rank_count);

}  // namespace gradcoll
