// ways/way.hpp - one way that calls of a communicator can go: which it takes, and how it runs them.
// The table of ways is in ways/CMakeLists.txt, a folder a line, in the order in which they are
// asked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/call_kind.hpp"
#include "comm/comm_identity.hpp"
#include "comm/comm_settings.hpp"
#include "mpi/pass_reason.hpp"
#include "mpi/request.hpp"
#include "observe/comm_statistics.hpp"
#include "topology/sources/job/discover.hpp"
#include "ways/tree/call_decision.hpp"

namespace gradcoll {

class CommPlans;
class DeviceSide;
class Residual;
class Way;

/// WayParts is what a way may use of its communicator. All of it outlives the way.
struct WayParts {
    const CommIdentity& comm;
    const CommSettings& settings;
    CommStatistics& statistics;
    CommPlans& plans;
};

/// A WayInfo says of a way what is true on every communicator. It is a row of the table, and never
/// ends, so that addresses tell ways apart.
struct WayInfo {
    const char* name;  ///< one word, for explanations
    const char* says;  ///< what such a call does, for explanations: "goes over the tree"
    bool over_tree;    ///< it needs the tree of all ranks
    bool is_timed;     ///< its calls leave the host, so that their times tell of the network
    std::unique_ptr<Way> (*make)(const WayParts& parts);
};

/// An WayOffer says which calls of a shape a way takes: exact ones, compressed ones.
struct WayOffer {
    bool exact = false;
    bool lossy = false;
};

/// WayOffers are what ways offer for one call, in the order in which they were asked. A value,
/// which is short, because routes have one, and threads of programs may have little stack.
class WayOffers {
  public:
    /// Adds what a way offers; an offer of nothing, or beyond the last place, is left out.
    void add(const WayInfo& way, WayOffer offer);
    /// Takes a way's offer back.
    void drop(const WayInfo& way);
    /// Returns the first way that takes such a call; null if none does.
    const WayInfo* first(bool lossy) const;
    WayOffer of(const WayInfo& way) const;

  private:
    int place_of(const WayInfo& way) const;

    std::array<const WayInfo*, 6> ways_{};
    std::uint8_t exact_ = 0;  ///< a bit for each place
    std::uint8_t lossy_ = 0;
    std::uint8_t count_ = 0;
};

/// A WayQuestion asks a way for an offer.
struct WayQuestion {
    CallKind kind = CallKind::allreduce;
    const CallShape& shape;  ///< shape of the whole vector

    /// Returns whether the caller waits in the call.
    bool waits() const { return has(kind, CallTrait::waits); }
};

/// A PieceMaker makes the vector of a call piece by piece, and turns its sums into the result, so
/// that both can take place beside messages. Its pieces begin at multiples of 8192 elements.
class PieceMaker {
  public:
    virtual ~PieceMaker() = default;
    /// Writes elements of the vector.
    virtual void fill(std::size_t first, std::size_t count) = 0;
    /// Writes the result of elements whose sums the vector has.
    virtual void round(std::size_t first, std::size_t count) = 0;
    /// Returns the memory of that result.
    virtual std::span<std::byte> result(std::size_t first, std::size_t count) = 0;
};

/// A WayCall is one allreduce of this rank, for the way that its route names.
struct WayCall {
    const CallArguments& arguments;  ///< buffers in host memory, unless `device` is set
    const CallShape& shape;
    const CallKey& key;               ///< key of the route
    double tolerance = 0;             ///< as in a Binding
    const Status* refusal = nullptr;  ///< as in a Binding: not null if this rank takes no part
    bool asked = false;               ///< whether all ranks have been asked where their vectors are
    PassReason pass_reason = PassReason::none;  ///< why it passes, for the statistics
    Residual* residual = nullptr;               ///< goes with keys that have feedback
    /// If this is not null, the vector is made by it, and only its result is wanted; on all ranks
    /// or none, and with hosts_way() alone.
    PieceMaker* maker = nullptr;
    std::shared_ptr<DeviceSide> device = {};  ///< the device that both buffers are on
};

/// A Way runs calls of one communicator. Every rank asks it and calls it in the same order, one
/// thread at a time.
class Way {
  public:
    virtual ~Way() = default;
    virtual const WayInfo& info() const = 0;

    /// Says which of the calls it takes, alike on all ranks. It may make what it needs for them,
    /// which is collective; so ranks ask in the same order.
    virtual WayOffer offers(const WayQuestion& question) { return foreseen(question); }
    /// Says what offers() would say, as far as that can be foreseen. Makes nothing. A way that
    /// routes name only where no other one takes the call offers nothing.
    virtual WayOffer foreseen(const WayQuestion&) const { return {}; }
    /// Runs and counts a blocking allreduce that it offered to take. A rank that refuses tells the
    /// others, and gets its own refusal back. Errors: those of the way.
    virtual Status run(const WayCall& call) = 0;
    /// Returns whether run() takes calls whose buffers are on a device.
    virtual bool reads_devices() const { return false; }

    /// The settings are other ones from now on. `tree`: the tree of the communicator; null: it has
    /// none yet.
    virtual void settings_changed(const std::shared_ptr<const DiscoveredTree>& tree) {
        know_tree(tree);
    }
    /// The communicator has this tree from now on.
    virtual void know_tree(const std::shared_ptr<const DiscoveredTree>&) {}
};

// The ways that code outside their folders names.
const WayInfo& agents_way();
const WayInfo& one_host_way();
const WayInfo& hosts_way();
const WayInfo& tree_way();
const WayInfo& mpi_way();

/// Makes a way for each row of the table, in the order in which they are to be asked: those from
/// outside the project first, as whoever adds one wants it.
std::vector<std::unique_ptr<Way>> make_ways(const WayParts& parts);

}  // namespace gradcoll
