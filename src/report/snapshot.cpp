#include "report/snapshot.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>

namespace gradcoll {

void CallSums::add(const CallRecord& call) {
    const bool is_served = call.pass_reason == nullptr;
    add({.calls = 1,
         .served = is_served ? 1U : 0U,
         .over_shared_memory = is_served && call.shared_memory ? 1U : 0U,
         .compressed = is_served && call.lossy ? 1U : 0U,
         .passed = is_served ? 0U : 1U,
         .bytes_in = call.kind != CallKind::allreduce_init ? call.bytes : 0,
         .bytes_sent = call.bytes_sent,
         .bytes_sent_exact = call.bytes_sent_exact,
         .packed_away_bytes = call.packed_away_bytes,
         .messages_sent = call.messages_sent,
         .total_ns = call.total_ns,
         .codec_ns = call.codec_ns,
         .wire_ns = call.wire_ns});
}

void CallSums::add(const CallSums& others) {
    calls += others.calls;
    served += others.served;
    over_shared_memory += others.over_shared_memory;
    compressed += others.compressed;
    passed += others.passed;
    bytes_in += others.bytes_in;
    bytes_sent += others.bytes_sent;
    bytes_sent_exact += others.bytes_sent_exact;
    packed_away_bytes += others.packed_away_bytes;
    messages_sent += others.messages_sent;
    total_ns += others.total_ns;
    codec_ns += others.codec_ns;
    wire_ns += others.wire_ns;
}

namespace {

/// Counts one more of those that `text` (static) stands for.
void count_one(std::vector<TextCount>& counts, const char* text) {
    const auto known = std::find_if(counts.begin(), counts.end(), [&](const TextCount& one) {
        return one.text == text || std::strcmp(one.text, text) == 0;
    });
    if (known != counts.end())
        ++known->calls;
    else
        counts.push_back({text, 1});
}

}  // namespace

void CallCell::add(const CallRecord& call) {
    all.add(call);
    if (call.pass_reason != nullptr) {
        count_one(reasons, call.pass_reason);
        return;
    }
    if (call.lossy) lossy.add(call);
    if (call.builder != nullptr) count_one(builders, call.builder);
    if (call.agents != nullptr) count_one(agents, call.agents);
}

std::optional<double> CallCell::saved_seconds() const {
    if (lossy.calls == 0 || lossy.bytes_sent == 0 || lossy.wire_ns == 0) return std::nullopt;
    const double ratio =
        static_cast<double>(lossy.bytes_sent_exact) / static_cast<double>(lossy.bytes_sent);
    return (static_cast<double>(lossy.wire_ns) * (ratio - 1) -
            static_cast<double>(lossy.codec_ns)) *
           1e-9;
}

void EngineSums::add(const EngineFigures& engine) {
    ++engines;
    figures.sums += engine.sums;
    figures.failed += engine.failed;
    figures.packed += engine.packed;
    figures.packs += engine.packs;
    figures.packed_bytes += engine.packed_bytes;
    figures.busy_ns += engine.busy_ns;
    figures.waited_ns += engine.waited_ns;
    figures.held_ns += engine.held_ns;
    figures.summed_ns += engine.summed_ns;
    figures.most_held = std::max(figures.most_held, engine.most_held);
    figures.most_running = std::max(figures.most_running, engine.most_running);
    figures.stalls += engine.stalls;
    figures.planned_anew += engine.planned_anew;
    if (engine.planned_anew > 0) figures.links_carry = engine.links_carry;
    figures.told_messages += engine.told_messages;
    figures.told_bytes += engine.told_bytes;
}

std::optional<double> EngineSums::overlap() const {
    if (figures.busy_ns == 0) return std::nullopt;
    return 1 - static_cast<double>(figures.waited_ns) / static_cast<double>(figures.busy_ns);
}

void ErrorCell::add(const SumError& error) {
    ++measurements;
    max_abs = std::max(max_abs, error.max_abs);
    max_relative_l2 = std::max(max_relative_l2, error.relative_l2);
    sum_relative_l2 += error.relative_l2;
    if (error.promised <= 0) return;
    least_promised = promises == 0 ? error.promised : std::min(least_promised, error.promised);
    ++promises;
    most_of_promise = std::max(most_of_promise, error.max_abs / error.promised);
}

ReportTotal total_of(const ReportSnapshot& report) {
    ReportTotal total;
    for (const CommEntry& comm : report.comms)
        for (const CallCell& cell : comm.calls) {
            total.sums.add(cell.all);
            if (const auto saved = cell.saved_seconds())
                total.saved_seconds = total.saved_seconds.value_or(0) + *saved;
        }
    return total;
}

std::string utc_text(std::int64_t unix_ns) {
    const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace gradcoll
