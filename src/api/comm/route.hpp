// api/comm/route.hpp - where one call goes: to the tree, and how, or to the MPI library, and why.
// Pure; rests only on facts that all ranks share, or ranks would part ways and hang.
#pragma once

#include <cstdint>

#include "api/comm/planned_call.hpp"
#include "api/edge/request.hpp"
#include "api/settings/settings.hpp"

namespace gradcoll {

/// What a call adds to its shape.
struct RouteQuestion {
    Collective collective = Collective::allreduce;
    bool in_place = false;
    bool feedback = false;  ///< a residual goes with it: always to the tree
    std::int64_t step = 0;  ///< of the settings' schedule
    bool sums = true;  ///< op is a sum, or nothing is reduced: the only calls that may be lossy
    bool always_exact = false;      ///< a kind of call that is never compressed
    bool comm_may_be_lossy = true;  ///< GC_COMPRESS_COMMS allows the communicator
    bool has_host_way = false;      ///< an allreduce that is waited for, and all ranks share memory
    std::uint64_t call = 0;         ///< its number among the communicator's compressible calls
};

struct Route {
    const char* pass_reason = nullptr;   ///< static text; null: to the tree
    const char* exact_reason = nullptr;  ///< static text: why not compressed; null: it is
    bool on_host = false;                ///< not over the tree, but through the host's memory
    CallKey key;
};

/// Whether the call would be compressed if gc_compress_calls allowed all: such calls of a
/// communicator are numbered.
bool is_compressible(const Settings& settings, const CallShape& shape,
                     const RouteQuestion& question);

/// Whether the settings leave it to the library how ranks of one host reduce exact vectors: the
/// tree is discovered, and nobody chose exchanges or chunks. Then no tree is needed where all ranks
/// share memory.
bool leave_host_way(const SettingsText& text, const Settings& settings);

/// `shape.count` counts the whole vector.
Route route_of(const Settings& settings, const CallShape& shape, const RouteQuestion& question);

}  // namespace gradcoll
