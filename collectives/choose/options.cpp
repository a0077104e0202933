// collectives/choose/options.cpp - lists by level: from text, and an entry of them.
#include "collectives/choose/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace gradcoll {
namespace {

/// Calls item(text) -> Result<T> for every comma separated entry.
template <class T, class Item>
Result<std::vector<T>> list_from(std::string_view text, Item item) {
    std::vector<T> list;
    while (true) {
        const std::size_t comma = text.find(',');
        T entry = GRADCOLL_VALUE(item(text.substr(0, comma)));
        list.push_back(entry);
        if (comma == std::string_view::npos) return list;
        text.remove_prefix(comma + 1);
    }
}

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

template <class T>
T at_level(const std::vector<T>& list, int level, T otherwise) {
    if (list.empty()) return otherwise;
    return list[std::min(static_cast<std::size_t>(level), list.size() - 1)];
}

}  // namespace

CodecId PolicyOptions::codec_at(int level) const {
    return at_level(level_codecs, level, CodecId::exact);
}

ExchangeWish PolicyOptions::exchange_at(int level) const {
    return at_level(level_exchanges, level, ExchangeWish::automatic);
}

Result<std::vector<CodecId>> level_codecs_from(std::string_view text) {
    return list_from<CodecId>(text, codec_from_name);
}

Result<std::vector<ExchangeWish>> level_exchanges_from(std::string_view text) {
    Result<std::vector<ExchangeWish>> list = list_from<ExchangeWish>(text, exchange_from);
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
