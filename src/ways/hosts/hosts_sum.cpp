#include "ways/hosts/hosts_sum.hpp"

#include "mpi/request.hpp"

namespace gradcoll {

void HostsSum::start(const Call& call) {
    call_ = call;
    outcome_ = call.so_far;
    comes_down_ = false;
    if (call.binding.refusal != nullptr) note(*call.binding.refusal);
    if (call.lanes.are_of_one_rank()) return enter_between();
    up_turn_ = call.lanes.up->turns.give();
    stage_ = Stage::up;
}

void HostsSum::come_down() {
    if (!call_.lanes.are_of_one_rank()) down_turn_ = call_.lanes.down->turns.give();
    comes_down_ = true;
}

Result<Progress> HostsSum::advance() {
    bool has_advanced = false;
    while (stage_ != Stage::over) {
        const auto progress = advance_stage();
        if (progress.ok() && *progress != Progress::complete)
            return has_advanced ? Progress::advanced : *progress;
        note(progress.status());
        has_advanced = true;
        if (stage_ == Stage::up)
            enter_between();
        else if (stage_ == Stage::between && !call_.lanes.are_of_one_rank())
            stage_ = Stage::down;
        else
            stage_ = Stage::over;
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
    HostLane& lane = *call_.lanes.up;
    return lane.turns.advance(*lane.memory, up_turn_, [&] {
        if (const Status* const refusal = call_.binding.refusal; refusal != nullptr)
            lane.memory->start_refusal(HostMemory::up, call_.shape, refusal->code());
        else
            lane.memory->start(HostMemory::up, call_.binding, call_.shape);
    });
}

/// Starts the leaders' sum. If something failed, what this host has is wrong, and the other hosts
/// are told so.
void HostsSum::enter_between() {
    stage_ = Stage::between;
    runs_between_ = false;
    if (call_.between == nullptr) return;
    Binding binding = call_.binding;
    if (!call_.lanes.are_of_one_rank() || !outcome_.ok()) binding.input = binding.output;
    if (!outcome_.ok()) binding.refusal = &outcome_;
    const Status started = call_.between->start(binding);
    runs_between_ = started.ok();
    note(started);
}

Result<Progress> HostsSum::advance_between() {
    if (!runs_between_) return Progress::complete;
    return call_.leaves_steps ? call_.between->advance_messages() : call_.between->advance();
}

/// Gives what the leader has to the ranks of its host.
Result<Progress> HostsSum::advance_down() {
    if (!comes_down_) return Progress::idle;
    HostLane& lane = *call_.lanes.down;
    Binding binding = call_.binding;
    CallShape shape = call_.shape;
    if (!call_.given.empty()) {
        binding.output = call_.given.data();
        shape = shape_of_bytes(call_.given.size());
    }
    return lane.turns.advance(*lane.memory, down_turn_, [&] {
        if (call_.lanes.is_leader && !outcome_.ok())
            lane.memory->start_refusal(HostMemory::down, shape, outcome_.code());
        else
            lane.memory->start(HostMemory::down, binding, shape);
    });
}

std::size_t HostsSum::take_local(std::span<LocalStep> out) {
    return is_between() && runs_between_ ? call_.between->take_local(out) : 0;
}

}  // namespace gradcoll
