#include "comm/comm_tree.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "base/log.hpp"
#include "comm/comm_devices.hpp"
#include "topology/sources/job/written.hpp"

namespace gradcoll {
namespace {

/// Returns true if no communicator of this rank, of this size or larger, had notes on that
/// topology.
bool is_news(const std::string& topology, int rank_count) {
    static std::mutex mutex;
    static auto& largest_told = *new std::map<std::string, int>;  // it outlives other static
                                                                  // objects
    const std::scoped_lock lock(mutex);
    int& largest = largest_told[topology];
    if (largest >= rank_count) return false;
    largest = rank_count;
    return true;
}

/// Refuses a topology that is measured anew in every run with gc_reproducible=on, as it may give
/// another tree each time.
Status check_is_reproducible(const std::string& topology, const Settings& settings) {
    if (!settings.reproducible) return {};
    const WrittenSource source = GRADCOLL_VALUE(written_source(topology));
    const WrittenPart* const between = source.part(Part::between);
    if (between == nullptr || between->row->word != "probe" || !between->value.empty()) return {};
    return {Code::invalid_argument,
            fmt::format("gc_topology={} measures the network in every run, and gc_reproducible=on "
                        "wants the same tree each time; allowed are probe:CACHE-FILE, which keeps "
                        "it, and all that measures nothing",
                        printable(topology))};
}

}  // namespace

void tell_notes(const DiscoveredTree& tree, const std::string& topology, int rank) {
    if (tree.notes.empty() || !is_news(topology, tree.tree.rank_count()) || rank != 0) return;
    for (const std::string& note : tree.notes) log(LogLevel::warn, "GC_TOPOLOGY: {}", note);
}

Result<std::shared_ptr<const DiscoveredTree>> find_tree(const CommIdentity& comm,
                                                        const std::string& topology,
                                                        const Settings& settings) {
    GRADCOLL_TRY(check_is_reproducible(topology, settings));
    const Device* device = device_in_use();
    const DiscoveryWish wish{device != nullptr ? device->place().bus_id : std::string(),
                             settings.tune != Tune::off};
    auto tree = discover_tree(comm.private_comm(), topology, wish);
    if (!tree) return tree.status();
    tell_notes(*tree, topology, comm.rank());
    return std::make_shared<const DiscoveredTree>(std::move(tree).value());
}

}  // namespace gradcoll
