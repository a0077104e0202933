// collectives/exchange.cpp - picks the exchange algorithm.
#include "collectives/exchange.hpp"

#include "collectives/direct/direct.hpp"
#include "collectives/ring/ring.hpp"

namespace gradcoll {

std::vector<Round> reduce_scatter_rounds(Exchange exchange, int degree, int branch) {
    return exchange == Exchange::ring ? ring::reduce_scatter_rounds(degree, branch)
                                      : direct::reduce_scatter_rounds(degree, branch);
}

std::vector<Round> allgather_rounds(Exchange exchange, int degree, int branch) {
    return exchange == Exchange::ring ? ring::allgather_rounds(degree, branch)
                                      : direct::allgather_rounds(degree, branch);
}

int round_count(Exchange exchange, int degree) {
    return exchange == Exchange::ring ? degree - 1 : 1;
}

}  // namespace gradcoll
