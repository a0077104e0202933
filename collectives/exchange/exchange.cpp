// collectives/exchange/exchange.cpp - the table of the exchanges.
#include "collectives/exchange/exchange.hpp"

#include <algorithm>
#include <utility>

namespace gradcoll {
namespace {

using Rounds = std::vector<Round>(int degree, int branch);

/// The same backwards: parts return on the ways by which their contributions went.
template <Rounds way_up>
std::vector<Round> backwards(int degree, int branch) {
    std::vector<Round> rounds = way_up(degree, branch);
    std::reverse(rounds.begin(), rounds.end());
    for (Round& round : rounds) std::swap(round.sends, round.recvs);
    return rounds;
}

std::vector<Round> no_rounds(int /*degree*/, int /*branch*/) {
    return {};
}
int none(int /*degree*/) {
    return 0;
}
int one(int /*degree*/) {
    return 1;
}
int one_less(int degree) {
    return degree - 1;
}

struct Row {
    Rounds* reduce_scatter_rounds;
    Rounds* allgather_rounds;
    int (*round_count)(int degree);  ///< on the way up
    bool has_way_down;
    bool all_at_once;  ///< all branches send to one at the same time
};

/// Index: Exchange. A new exchange is a folder, its functions in rounds.hpp and a row. (The
/// messages of a single exchange are no rounds of parts: see single/.)
constexpr Row rows[exchange_count] = {
    {direct::reduce_scatter_rounds, backwards<direct::reduce_scatter_rounds>, one, true, true},
    {ring::reduce_scatter_rounds, ring::allgather_rounds, one_less, true, false},
    {recursive::reduce_scatter_rounds, backwards<recursive::reduce_scatter_rounds>,
     recursive::round_count, true, false},
    {no_rounds, no_rounds, one, false, true},
    {no_rounds, no_rounds, none, false, false},
};

const Row& row_of(Exchange exchange) {
    return rows[static_cast<std::size_t>(exchange)];
}

}  // namespace

std::vector<Round> reduce_scatter_rounds(Exchange exchange, int degree, int branch) {
    return row_of(exchange).reduce_scatter_rounds(degree, branch);
}

std::vector<Round> allgather_rounds(Exchange exchange, int degree, int branch) {
    return row_of(exchange).allgather_rounds(degree, branch);
}

int round_count(Exchange exchange, int degree) {
    return row_of(exchange).round_count(degree);
}

int rounds_down(Exchange exchange, int degree) {
    return row_of(exchange).has_way_down ? round_count(exchange, degree) : 0;
}

int senders_at_once(Exchange exchange, int degree) {
    return row_of(exchange).all_at_once ? degree - 1 : 1;
}

}  // namespace gradcoll
