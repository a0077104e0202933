// engine/engine_looks.cpp - what an engine looks for beside its sums: gradients that wait for a
// rank, ranks that have died, and links that carry something else than was said.
#include <algorithm>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "engine/engine.hpp"

namespace gradcoll {

void Engine::tell_stalls(std::uint64_t now_ns) {
    constexpr std::uint64_t between_looks_ns = 1'000'000'000;
    if (now_ns - looked_ns_ < between_looks_ns) return;
    looked_ns_ = now_ns;
    for (const std::string& text : negotiation_->stalls(now_ns, options_.stall_ns)) {
        watch_.stalled();
        log(LogLevel::warn, "{}", text);
    }
    tell_who_waits_alone(now_ns);
}

/// Logs who waits for long in a sum that ranks begin by themselves. Without the coordinator nobody
/// knows who has not handed in a gradient, or has another count.
void Engine::tell_who_waits_alone(std::uint64_t now_ns) {
    for (const auto& sum : running_) {
        if (!sum->alone || now_ns - sum->told_ns < options_.stall_ns) continue;
        sum->told_ns = now_ns;
        watch_.stalled();
        log(LogLevel::warn,
            "gradient \"{}\" is being summed since {:.0f} s; maybe a rank has not handed it in, or "
            "with another count",
            printable(sum->gradients.front()->name_), seconds_of(now_ns - sum->begin_ns));
    }
}

// ---- other ranks: what they keep this one waiting for, and whether some have died

/// Returns what turns wait for, with ranks as the job calls them. Only rank 0, and who gathers for
/// it, knows who has not handed in a gradient.
std::string Engine::awaited() const {
    const Gathering* const gathering = negotiation_->gathering();
    const GatheredGradient* const missed =
        gathering != nullptr ? gathering->longest_missed() : nullptr;
    if (missed == nullptr)
        return running_.empty() ? "for gradients that others have not handed in, as rank 0 knows"
                                : "for the sum of gradient \"" +
                                      printable(running_.front()->gradients.front()->name_) + "\"";
    const auto name = [&](int rank) { return options_.peers->in_job(rank); };
    return "for " + gathering->missing(*missed, name) + " to hand in gradient \"" +
           printable(missed->name) + "\"";
}

bool Engine::waits_in_vain() {
    PeerWatch* const peers = options_.peers.get();
    return under_way() > 0 ? slow_.is_in_vain_now(peers, [this] { return awaited(); })
                           : slow_.is_in_vain_now(peers, nullptr);
}

/// Returns how long a failed engine waits: where a rank has died, no longer than other waits.
std::uint64_t Engine::failure_patience_ns() const {
    const PeerWatch* const peers = options_.peers.get();
    return peers != nullptr && peers->has_fault()
               ? std::min(peers->patience_ns(), options_.failure_patience_ns)
               : options_.failure_patience_ns;
}

// ---- links

/// Returns whether the sum is compared with what it should take, which nobody knows of a pack.
bool Engine::tells_of_links(const Sum& sum) const {
    return options_.watches_links && rank_ == 0 && !sum.alone && sum.gradients.size() == 1 &&
           sum.gradients.front()->expected_.links_us > 0;
}

void Engine::watch_begin(const Sum& sum) {
    const std::size_t threads = std::max<std::size_t>(1, compute_.thread_count());
    const std::uint64_t worked_ns = (compute_.worked_ns() + worked_here_ns_) / threads;
    const auto carry = links_.begun(sum.gradients.front()->number_, sum.begin_ns, worked_ns);
    if (!carry) return;
    negotiation_->plan_for(*carry);
    log(LogLevel::info,
        "links between hosts carry {:.2g} of what is said of them: gradients of this engine are "
        "planned anew",
        *carry);
}

/// Takes note of what the gradient is planned for. All gradients are told the same, each with its
/// next verdict.
void Engine::take_links_carry(Gradient& gradient, double links_carry) {
    gradient.links_carry_ = links_carry;
    if (links_carry == links_carry_) return;
    links_carry_ = links_carry;
    watch_.planned_anew(links_carry);
}

}  // namespace gradcoll
