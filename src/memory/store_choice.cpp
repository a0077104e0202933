#include "memory/store_choice.hpp"

#include <utility>

namespace gradcoll {
namespace {

/// This many trials must agree, since one may have been interrupted.
constexpr int trials_that_must_agree = 3;
/// The other kind must be better by these factors. What pays is four times as fast, and what does
/// not is a little slower: there is no need to go past the caches by mistake, and none to stay
/// there.
constexpr double worth_going_past = 0.7;
constexpr double worth_coming_back = 0.9;

}  // namespace

/// Takes note of a piece. A trial is a pair: a piece through the caches, then one past them.
void StoreChoice::note(const Turn& turn, std::size_t size_bytes, std::uint64_t ns) {
    const double cost = static_cast<double>(ns) / static_cast<double>(size_bytes);
    if (!turn.streaming) {
        through_caches_ = cost;
        return;
    }
    const double through = std::exchange(through_caches_, 0);
    if (through == 0) return;
    const bool other_wins =
        streaming_ ? through < worth_coming_back * cost : cost < worth_going_past * through;
    agreeing_ = other_wins ? agreeing_ + 1 : 0;
    if (agreeing_ < trials_that_must_agree) return;
    streaming_ = !streaming_;
    agreeing_ = 0;
}

}  // namespace gradcoll
