// api/comm/one_host.hpp - the way of exact allreduces through the memory that all ranks of a
// communicator share, if they are on one host: no tree, no plan.
#pragma once

#include <memory>

#include "api/comm/comm_identity.hpp"
#include "api/comm/comm_settings.hpp"
#include "api/edge/request.hpp"
#include "api/observe/comm_statistics.hpp"

namespace gradcoll {

struct Binding;
class OneHostEngine;

/// For blocking calls, one at a time.
class OneHost {
  public:
    /// The references must outlive it.
    OneHost(const CommIdentity& comm, const CommSettings& settings, CommStatistics& statistics);
    ~OneHost();

    /// The memory is given back, and its size may change. Until open() has been asked again, the
    /// new settings alone say whether the way is there.
    void settings_changed();

    /// Whether the next such call will go this way, as far as can be foreseen. Makes nothing.
    bool may_open() const { return may_open_; }
    /// Whether exact allreduces that are waited for go this way. The first such question makes the
    /// memory, if the settings allow the way, and is collective; so every rank asks in the same
    /// order.
    bool open();

    /// The largest elements that there is room for.
    static std::size_t most_element_bytes(int rank_count, const Settings& settings);
    /// Whether there is room for those of the call. The same on all ranks.
    bool takes(const CallShape& shape) const { return shape.elem_bytes <= most_element_bytes_; }

    /// Only if open() and it takes the call. Collective; counts the call. Allocates nothing.
    /// Errors: invalid_argument, on every rank, if ranks made different calls.
    Status allreduce(const Binding& binding, const CallShape& shape);

  private:
    /// Nothing without a trace.
    void trace(const Binding& binding, const CallShape& shape, std::uint64_t begin_ns) const;

    const CommIdentity& comm_;
    const CommSettings& settings_;
    CommStatistics& statistics_;
    bool may_open_ = false;
    std::size_t most_element_bytes_ = 0;
    std::unique_ptr<OneHostEngine> engine_;
};

}  // namespace gradcoll
