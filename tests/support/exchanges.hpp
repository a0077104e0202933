// tests/support/exchanges.hpp - exchanges by name, for tests that mean one or all of them.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "collectives/exchange/exchange.hpp"

namespace gradcoll {

inline Exchange called(const char* name) {
    const auto exchange = exchange_named(name);
    if (!exchange) throw std::runtime_error(std::string("no exchange is called ") + name);
    return *exchange;
}

/// Returns the rows of the table, those of folders outside the project too.
inline std::vector<Exchange> split_exchanges() {
    std::vector<Exchange> exchanges;
    for (const ExchangeRow* row : exchange_table()) exchanges.push_back(row->number);
    return exchanges;
}

}  // namespace gradcoll
