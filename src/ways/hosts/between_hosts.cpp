#include "ways/hosts/between_hosts.hpp"

#include <utility>

#include "topology/leaders.hpp"

namespace gradcoll {

Result<BetweenHosts> BetweenHosts::make(const DiscoveredTree& tree, const Settings& settings,
                                        const std::vector<int>& leader_of) {
    auto of_leaders = tree_of_leaders(tree.tree, leader_of);
    if (!of_leaders) return of_leaders.status();
    BetweenHosts between{{}, settings, false};
    if (settings.schedule.empty()) {
        const auto codecs =
            settings.codecs().between_leaders(tree.tree, *of_leaders, leaders_in(leader_of));
        between.has_lossy = codecs.has_value();
        between.settings.level_codecs = codecs.value_or(HopCodecs{CodecId::exact});
    } else {
        between.has_lossy = true;  // a phase has one codec for all exchanges
    }
    between.tree = std::make_shared<const DiscoveredTree>(
        DiscoveredTree{std::move(of_leaders).value(), tree.origin, {}});
    return between;
}

}  // namespace gradcoll
