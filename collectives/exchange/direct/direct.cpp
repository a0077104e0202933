// collectives/exchange/direct/direct.cpp - direct exchange: all pairs of branches at once, in one
// round. It has the fewest steps, which suits vertices of few branches, and short messages.
#include "collectives/exchange/exchange_row.hpp"

namespace gradcoll {
namespace direct {
namespace {

std::vector<Round> reduce_scatter_rounds(int degree, int branch) {
    Round round;
    for (int other = 0; other < degree; ++other) {
        if (other == branch) continue;
        round.sends.push_back({other, {other}});
        round.recvs.push_back({other, {branch}});
    }
    return {round};
}

int one(int /*degree*/) {
    return 1;
}

}  // namespace
}  // namespace direct

const ExchangeRow& direct_exchange() {
    static constexpr ExchangeRow row{
        .number = Exchange::direct,
        .name = "direct",
        .text = "every branch sends its part to every other at once: one round",
        .up = direct::reduce_scatter_rounds,
        .rounds_up = direct::one,
        .senders_at_once = ExchangeRow::from_all,
        .encodings_up = direct::one,
        .automatic = true};
    return row;
}

}  // namespace gradcoll
