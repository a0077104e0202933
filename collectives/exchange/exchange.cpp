// collectives/exchange/exchange.cpp - picks the exchange algorithm.
#include "collectives/exchange/exchange.hpp"

#include "collectives/exchange/direct/direct.hpp"
#include "collectives/exchange/recursive/recursive.hpp"
#include "collectives/exchange/ring/ring.hpp"

namespace gradcoll {

std::vector<Round> reduce_scatter_rounds(Exchange exchange, int degree, int branch) {
    if (exchange == Exchange::ring) return ring::reduce_scatter_rounds(degree, branch);
    if (exchange == Exchange::recursive) return recursive::reduce_scatter_rounds(degree, branch);
    return direct::reduce_scatter_rounds(degree, branch);
}

std::vector<Round> allgather_rounds(Exchange exchange, int degree, int branch) {
    if (exchange == Exchange::ring) return ring::allgather_rounds(degree, branch);
    if (exchange == Exchange::recursive) return recursive::allgather_rounds(degree, branch);
    return direct::allgather_rounds(degree, branch);
}

int round_count(Exchange exchange, int degree) {
    switch (exchange) {
        case Exchange::direct:
        case Exchange::single:
            return 1;
        case Exchange::ring:
            return degree - 1;
        case Exchange::recursive:
            return recursive::round_count(degree);
        case Exchange::merged:
            break;
    }
    return 0;
}

int rounds_down(Exchange exchange, int degree) {
    return exchange == Exchange::single ? 0 : round_count(exchange, degree);
}

int senders_at_once(Exchange exchange, int degree) {
    const bool from_all = exchange == Exchange::direct || exchange == Exchange::single;
    return from_all ? degree - 1 : 1;
}

}  // namespace gradcoll
