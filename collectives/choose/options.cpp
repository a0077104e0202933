// collectives/choose/options.cpp - reads lists by level from text, and finds an entry of them.
#include "collectives/choose/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "collectives/exchange/exchange.hpp"

namespace gradcoll {
namespace {

Result<ExchangeWish> exchange_from(std::string_view name) {
    if (name == "auto") return ExchangeWish();
    if (const auto exchange = exchange_named(name)) return ExchangeWish(exchange);
    return Status(Code::invalid_argument, fmt::format("exchange \"{}\" is unknown; allowed: {}",
                                                      printable(name), allowed_exchanges()));
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
    if (level_exchanges.empty()) return {};
    return level_exchanges[std::min(static_cast<std::size_t>(level), level_exchanges.size() - 1)];
}

PolicyOptions PolicyOptions::without_codecs() const {
    PolicyOptions exact = *this;
    exact.codecs = {};
    exact.down_codec.reset();
    return exact;
}

std::string allowed_exchanges() {
    return "auto, " + exchange_names();
}

Result<std::vector<ExchangeWish>> level_exchanges_from(std::string_view text) {
    Result<std::vector<ExchangeWish>> list = exchange_list_from(text);
    if (!list.ok()) return list;
    const auto single = std::find(list->begin(), list->end(), Exchange::single);
    if (std::all_of(single, list->end(), [](ExchangeWish w) { return w == Exchange::single; }))
        return list;
    return Status(Code::invalid_argument,
                  fmt::format("exchanges \"{}\": after a single one nothing is left to exchange "
                              "otherwise; allowed above single: single",
                              printable(text)));
}

}  // namespace gradcoll
