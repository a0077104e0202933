#include "ways/hosts/leaders_exchange.hpp"

#include <utility>

#include "base/clock.hpp"
#include "comm/started_calls.hpp"
#include "observe/observe.hpp"

namespace gradcoll {

void LeadersExchange::begin(const CallKey& key, const Binding& binding) {
    Sum& sum = sum_at(begun_++);
    sum = {};
    sum.status = start(sum, key, binding);
    sum.is_over = !sum.status.ok();
}

Status LeadersExchange::start(Sum& sum, const CallKey& key, Binding binding) {
    GRADCOLL_TRY(take(sum.lease, plans_.begin(CallKind::allreduce, key, {})));
    binding.numbers = &plans_.numbers();
    return sum.lease.executor->start(binding);
}

bool LeadersExchange::advance() {
    bool advanced = false;
    for (std::size_t number = finished_; number < begun_; ++number) {
        Sum& sum = sum_at(number);
        if (sum.is_over) continue;
        const Result<Progress> progress = sum.lease.executor->advance();
        if (!progress.ok()) sum.status = progress.status();
        sum.is_over = !progress.ok() || *progress == Progress::complete;
        advanced |= sum.is_over || *progress == Progress::advanced;
    }
    return advanced;
}

Status LeadersExchange::finish_oldest() {
    constexpr int idle_turns_before_yield = 200;
    int idle_turns = comm_.yields() ? idle_turns_before_yield : 0;
    const int idle_start = idle_turns;
    const std::uint64_t begin_ns = observing_calls() ? now_ns() : 0;
    Sum& oldest = sum_at(finished_);
    while (!oldest.is_over) {
        if (advance() || advance_started_calls())
            idle_turns = idle_start;
        else if (++idle_turns > idle_turns_before_yield)
            oldest.lease.executor->rest();  // messages for the other sums wake it, too
    }
    if (begin_ns != 0) traffic_.wait_ns += now_ns() - begin_ns;
    ++finished_;
    Status status = oldest.status;
    end(oldest);
    return status;
}

void LeadersExchange::end(Sum& sum) {
    if (sum.lease.executor == nullptr) return;
    const RunStats& after = sum.lease.executor->stats();
    traffic_.bytes_sent += after.bytes_sent - sum.lease.before.bytes_sent;
    traffic_.exact_bytes += sum.lease.call->exact_bytes();
    traffic_.packed_away_bytes += after.packed_away_bytes - sum.lease.before.packed_away_bytes;
    traffic_.messages_sent += after.messages_sent - sum.lease.before.messages_sent;
    traffic_.codec_ns += after.codec_ns - sum.lease.before.codec_ns;
    was_lossy_ = sum.lease.call->lossy();
    if (const LinkUse* use = sum.lease.call->link_use())
        observe_link_use(comm_.private_comm(), *use);
    plans_.end(std::move(sum.lease), sum.status);
}

}  // namespace gradcoll
