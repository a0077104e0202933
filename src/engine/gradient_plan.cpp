#include "engine/gradient_plan.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "topology/json_value.hpp"

namespace gradcoll {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* version_key = "gradcoll_engine_plan";
constexpr int file_version = 1;
constexpr int most_parts = 1 << 20;

/// Place says where in which file something stands.
struct Place {
    std::string_view origin;
    std::size_t entry = 0;

    Status bad(const char* key, const nlohmann::json& value, std::string_view allowed) const {
        return {Code::invalid_argument, fmt::format("{}: gradients[{}]: {} is {}; allowed: {}",
                                                    origin, entry, key, shown(value), allowed)};
    }
};

Status read_strategy(const nlohmann::json& value, const Place& place, GradientWish& wish) {
    if (value.is_string()) wish.strategy = strategy_named(value.get<std::string>());
    return wish.strategy ? Status() : place.bad("strategy", value, "tree, ring, ps");
}

Status read_codec(const nlohmann::json& value, const Place& place, GradientWish& wish) {
    if (!value.is_string() || value.get<std::string>().empty())
        return place.bad("codec", value, "codecs by level or kind of link, as gc_codec has them");
    wish.codec = value.get<std::string>();
    auto codecs = hop_codecs_from(wish.codec);
    if (!codecs) return place.bad("codec", value, codecs.status().message());
    wish.codecs = std::move(codecs).value();
    return {};
}

Status read_parts(const nlohmann::json& value, const Place& place, GradientWish& wish) {
    const bool good = value.is_number_integer() && value >= 1 && value <= most_parts;
    if (!good) return place.bad("parts", value, fmt::format("1 to {}", most_parts));
    wish.parts = value.get<int>();
    return {};
}

Status read_name(const nlohmann::json& value, const Place& place, GradientWish& wish) {
    if (!value.is_string() || value.get<std::string>().empty())
        return place.bad("name", value, "a name, or a pattern with * ? [ ]");
    wish.pattern = value.get<std::string>();
    return {};
}

/// Reads a field that is for readers of the file only.
Status read_nothing(const nlohmann::json&, const Place&, GradientWish&) {
    return {};
}

struct Field {
    std::string_view key;
    Status (*read)(const nlohmann::json&, const Place&, GradientWish&);
};
constexpr std::array fields{Field{"name", read_name},           Field{"strategy", read_strategy},
                            Field{"codec", read_codec},         Field{"parts", read_parts},
                            Field{"bytes", read_nothing},       Field{"predicted_us", read_nothing},
                            Field{"measured_us", read_nothing}, Field{"packed", read_nothing}};

Result<GradientWish> wish_in(const nlohmann::json& json, const Place& place) {
    GradientWish wish;
    if (!json.is_object())
        return Status(Code::invalid_argument,
                      fmt::format("{}: gradients[{}] is {}; allowed: an object", place.origin,
                                  place.entry, shown(json)));
    for (const auto& item : json.items()) {
        const std::string& key = item.key();
        const auto field = std::find_if(fields.begin(), fields.end(),
                                        [&](const Field& one) { return one.key == key; });
        if (field == fields.end())
            return Status(Code::invalid_argument,
                          fmt::format("{}: gradients[{}] has {}; allowed: name, strategy, codec, "
                                      "parts",
                                      place.origin, place.entry, shown(nlohmann::json(key))));
        GRADCOLL_TRY(field->read(item.value(), place, wish));
    }
    if (wish.pattern.empty())
        return Status(Code::invalid_argument,
                      fmt::format("{}: gradients[{}] has no name", place.origin, place.entry));
    return wish;
}

}  // namespace

Result<GradientPlan> GradientPlan::parse(std::string_view text, std::string_view origin) {
    const Result<nlohmann::json> found = json_in(text);
    const nlohmann::json json = found.ok() ? *found : nlohmann::json();
    const bool known = json.is_object() && json.contains(version_key) &&
                       json[version_key] == file_version && json.contains("gradients") &&
                       json["gradients"].is_array();
    if (!known)
        return Status(
            Code::invalid_argument,
            fmt::format("{}: no plan of an engine; allowed: a JSON object with \"{}\": {} "
                        "and an array \"gradients\"",
                        origin, version_key, file_version));
    GradientPlan plan;
    Place place{origin};
    for (const auto& entry : json["gradients"]) {
        auto wish = wish_in(entry, place);
        if (!wish) return wish.status();
        plan.wishes_.push_back(std::move(wish).value());
        ++place.entry;
    }
    return plan;
}

const GradientWish* GradientPlan::find(const std::string& name) const {
    const auto at = std::find_if(wishes_.begin(), wishes_.end(), [&](const GradientWish& wish) {
        return wish.pattern == name ||
               fnmatch(wish.pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
    });
    const bool says_anything =
        at != wishes_.end() && (at->strategy || !at->codec.empty() || at->parts);
    return says_anything ? &*at : nullptr;
}

std::string plan_text(const std::vector<PlannedGradient>& gradients, const EngineFigures& figures) {
    Json json;
    json[version_key] = file_version;
    if (figures.planned_anew > 0) {
        json["planned_anew"] = figures.planned_anew;
        json["links_carry"] = figures.links_carry;
    }
    json["gradients"] = Json::array();
    for (const PlannedGradient& gradient : gradients) {
        Json& entry = json["gradients"].emplace_back();
        entry["name"] = gradient.name;
        if (gradient.is_packed) {
            entry["packed"] = gradient.codec;
        } else {
            if (!gradient.strategy.empty()) entry["strategy"] = gradient.strategy;
            if (!gradient.codec.empty()) entry["codec"] = gradient.codec;
            entry["parts"] = gradient.parts;
        }
        entry["bytes"] = gradient.bytes;
        if (gradient.predicted_us > 0) entry["predicted_us"] = gradient.predicted_us;
        if (gradient.measured_us > 0) entry["measured_us"] = gradient.measured_us;
    }
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gradcoll
