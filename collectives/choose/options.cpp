// collectives/choose/options.cpp - lists by level: from text, and an entry of them.
#include "collectives/choose/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace gradcoll {
namespace {

Result<ExchangeWish> exchange_from(std::string_view name) {
    if (name == "auto") return ExchangeWish::automatic;
    if (name == "direct") return ExchangeWish::direct;
    if (name == "ring") return ExchangeWish::ring;
    if (name == "recursive") return ExchangeWish::recursive;
    if (name == "single") return ExchangeWish::single;
    return Status(
        Code::invalid_argument,
        fmt::format("exchange \"{}\" is unknown; allowed: auto, direct, ring, recursive, single",
                    printable(name)));
}

Result<std::vector<ExchangeWish>> exchange_list_from(std::string_view text) {
    std::vector<ExchangeWish> list;
    for (const std::string_view word : split_at_commas(text)) {
        const ExchangeWish entry = GRADCOLL_VALUE(exchange_from(word));
        list.push_back(entry);
    }
    return list;
}

}  // namespace

ExchangeWish PolicyOptions::exchange_at(int level) const {
    if (level_exchanges.empty()) return ExchangeWish::automatic;
    return level_exchanges[std::min(static_cast<std::size_t>(level), level_exchanges.size() - 1)];
}

Result<std::vector<ExchangeWish>> level_exchanges_from(std::string_view text) {
    Result<std::vector<ExchangeWish>> list = exchange_list_from(text);
    if (!list.ok()) return list;
    const auto single = std::find(list->begin(), list->end(), ExchangeWish::single);
    if (std::all_of(single, list->end(), [](ExchangeWish w) { return w == ExchangeWish::single; }))
        return list;
    return Status(Code::invalid_argument,
                  fmt::format("exchanges \"{}\": after a single one nothing is left to exchange "
                              "otherwise; allowed above single: single",
                              printable(text)));
}

}  // namespace gradcoll
