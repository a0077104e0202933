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
        for (Lane* lane : {&up_, &down_}) {
            const Status opened = take(lane->engine, host_memory_for(local, choices));
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
    delete up_.engine.release();
    delete down_.engine.release();
}

/// Starts the sum. All leaders start their sums in one order, the order in which sums go up. So if
/// nothing has to go up, the leaders' sum is started here.
void HostsSum::start(const Binding& binding, const CallShape& shape) {
    binding_ = binding;
    shape_ = shape;
    outcome_ = {};
    if (hosts_.is_alone()) return enter_between();
    up_turn_ = hosts_.up().turns.give();
    down_turn_ = hosts_.down().turns.give();
    stage_ = Stage::up;
}

/// Advances the sum. Whatever fails, this rank goes through all stages, as others wait for it
/// there.
Result<Progress> HostsSum::advance() {
    bool has_advanced = false;
    for (;;) {
        const auto progress = advance_stage();
        if (progress.ok() && *progress != Progress::complete)
            return has_advanced ? Progress::advanced : *progress;
        note(progress.status());
        has_advanced = true;
        if (stage_ == Stage::down || hosts_.is_alone()) break;
        if (stage_ == Stage::between)
            stage_ = Stage::down;
        else
            enter_between();
    }
    return outcome_.ok() ? Result<Progress>(Progress::complete) : outcome_;
}

void HostsSum::note(const Status& status) {
    if (outcome_.ok()) outcome_ = status;
}

Result<Progress> HostsSum::advance_stage() {
    if (stage_ == Stage::up) return advance_up();
    return stage_ == Stage::between ? advance_between() : advance_down();
}

/// Advances the sum of the host, which the leader gets.
Result<Progress> HostsSum::advance_up() {
    GradientHosts::Lane& lane = hosts_.up();
    return lane.turns.advance(*lane.engine, up_turn_,
                              [&] { lane.engine->start(CallKind::reduce, binding_, shape_); });
}

void HostsSum::enter_between() {
    stage_ = Stage::between;
    runs_between_ = false;
    if (!hosts_.is_leader()) return;
    const Status started = start_between();
    runs_between_ = started.ok();
    note(started);
}

Result<Progress> HostsSum::advance_between() {
    return runs_between_ ? between_->advance_messages() : Result<Progress>(Progress::complete);
}

/// Starts the leaders' sum. If something failed, what this host has is wrong, and the other hosts
/// are told so.
Status HostsSum::start_between() {
    Binding binding = binding_;
    binding.numbers = &hosts_.plans().numbers();
    if (!hosts_.is_alone()) binding.input = binding.output;
    if (!outcome_.ok()) binding.refusal = &outcome_;
    if (residual_ != nullptr) GRADCOLL_TRY(take(binding.residual, residual_->data_for({})));
    return between_->start(binding);
}

Result<Progress> HostsSum::advance_down() {
    GradientHosts::Lane& lane = hosts_.down();
    return lane.turns.advance(*lane.engine, down_turn_, [&] {
        if (hosts_.is_leader() && !outcome_.ok())
            lane.engine->start_refusal(CallKind::bcast, shape_, outcome_.code());
        else
            lane.engine->start(CallKind::bcast, binding_, shape_);
    });
}

std::size_t HostsSum::take_local(std::span<LocalStep> out) {
    return stage_ == Stage::between && runs_between_ ? between_->take_local(out) : 0;
}

void HostsSum::abandon() {
    between_.reset();
    hosts_.spoil();
}

}  // namespace gradcoll
