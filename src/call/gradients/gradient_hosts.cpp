#include "call/gradients/gradient_hosts.hpp"

#include <utility>

#include "base/log.hpp"
#include "comm/agreement.hpp"
#include "ways/hosts/several_hosts.hpp"

namespace gradcoll {

Result<std::unique_ptr<GradientHosts>> GradientHosts::make(const CommIdentity& whole,
                                                           const Settings& settings) {
    if (!may_use_memory_of_hosts(whole, settings)) return std::unique_ptr<GradientHosts>();
    return make(whole, settings, HostGroups::make(whole));
}

Result<std::unique_ptr<GradientHosts>> GradientHosts::make(const CommIdentity& whole,
                                                           const Settings& settings,
                                                           Result<HostGroups> groups) {
    if (!groups) return groups.status();
    std::unique_ptr<GradientHosts> made(new GradientHosts(std::move(groups).value()));
    const Status status = agreed(whole.private_comm(), made->open(settings));
    if (status.ok()) return made;
    log(whole.rank() == 0 ? LogLevel::info : LogLevel::debug,
        "an engine uses messages inside hosts, too: {}", status.message());
    return std::unique_ptr<GradientHosts>();
}

/// Opens the memory of the host and the leaders' channel. Collective over the host, and over the
/// leaders: a rank goes on after an error, as others wait for it.
Status GradientHosts::open(const Settings& settings) {
    Status status;
    const CommIdentity& local = groups_.local;
    if (local.rank_count() > 1) {
        const OneHostChoices choices = one_host_choices(local.rank_count(), settings);
        for (HostLane* lane : {&up_, &down_}) {
            const Status opened = take(lane->memory, host_memory_for(local, choices));
            if (status.ok()) status = opened;
        }
    }
    if (groups_.leaders) {
        plans_ = std::make_unique<CommPlans>(*groups_.leaders, nullptr);
        const Status opened = plans_->open_channel(settings);
        if (status.ok()) status = opened;
    }
    return status;
}

void GradientHosts::spoil() {
    delete up_.memory.release();
    delete down_.memory.release();
}

}  // namespace gradcoll
