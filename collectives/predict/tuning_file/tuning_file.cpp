// collectives/predict/tuning_file/tuning_file.cpp - makes a tuning from JSON text.
#include "collectives/predict/tuning_file/tuning_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"
#include "topology/json_value.hpp"

namespace gradcoll {
namespace {

using Json = nlohmann::json;

/// Limits bound the figures. Speeds must not be 0, or times would be infinite.
struct Limits {
    double least = 0;
    double most = 1e9;
};
constexpr Limits speed_limits{1e-3, 1e6};
constexpr Limits figure_limits{0, 1e9};
constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
constexpr std::int64_t most_cores = 1 << 16;
constexpr std::size_t most_points = 64;

/// Reader reads into `tuning` and stops at the first fault.
class Reader {
  public:
    explicit Reader(std::string_view source) : source_(source) {}

    Status read(const Json& json) {
        return members(json, "",
                       {{"about", [this](auto& v, auto& at) { return note(v, at); }},
                        {"cores", [this](auto& v, auto& at) { return cores(v, at); }},
                        {"message_us", number_into(tuning.message_us)},
                        {"turn_us", number_into(tuning.turn_us)},
                        {"incast_loss_per_sender", number_into(tuning.incast_loss_per_sender)},
                        {"most_incast_loss", number_into(tuning.most_incast_loss)},
                        {"codecs", [this](auto& v, auto& at) { return codecs(v, at); }},
                        {"packings", [this](auto& v, auto& at) { return packings(v, at); }},
                        {"links", [this](auto& v, auto& at) { return links(v, at); }},
                        {"chunks", [this](auto& v, auto& at) { return chunks(v, at); }},
                        {"shm", [this](auto& v, auto& at) { return shm(v, at); }}});
    }

    Tuning tuning;

  private:
    using Member = std::function<Status(const Json& value, const std::string& place)>;
    using Members = std::vector<std::pair<std::string_view, Member>>;

    /// Calls the member of every key, in the order of `known`.
    Status members(const Json& json, const std::string& place, const Members& known) const {
        if (!json.is_object()) return wrong(place, json, "an object");
        std::string allowed;
        for (const auto& [name, member] : known)
            allowed += (allowed.empty() ? "" : ", ") + std::string(name);
        for (const auto& [key, value] : json.items()) {
            bool is_known = false;
            for (const auto& [name, member] : known) is_known = is_known || name == key;
            if (!is_known)
                return error(place + "/" + printable(key), "unknown; allowed are " + allowed);
        }
        for (const auto& [name, member] : known)
            if (const auto found = json.find(name); found != json.end())
                GRADCOLL_TRY(member(*found, fmt::format("{}/{}", place, name)));
        return {};
    }

    Member number_into(double& figure, Limits limits = figure_limits) const {
        return [this, &figure, limits](const Json& json, const std::string& place) {
            return number(json, place, limits, figure);
        };
    }

    Member bytes_into(std::int64_t& bytes, std::int64_t least) const {
        return [this, &bytes, least](const Json& json, const std::string& place) {
            return integer(json, place, least, most_bytes, bytes);
        };
    }

    Member speed_into(Speed& speed) const {
        return [this, &speed](const Json& json, const std::string& place) {
            return read_speed(json, place, speed);
        };
    }

    Status note(const Json& json, const std::string& place) const {
        return json.is_string() ? Status() : wrong(place, json, "a text");
    }

    Status cores(const Json& json, const std::string& place) {
        std::int64_t cores = 0;
        GRADCOLL_TRY(integer(json, place, 0, most_cores, cores));
        tuning.cores = static_cast<int>(cores);
        return {};
    }

    Status codecs(const Json& json, const std::string& place) {
        Members known;
        for (std::size_t form = 0; form < all_codec_forms().size(); ++form)
            known.emplace_back(all_codec_forms()[form].name,
                               [this, form](const Json& value, const std::string& at) {
                                   return codec(value, at, form);
                               });
        return members(json, place, known);
    }

    Status codec(const Json& json, const std::string& place, std::size_t form) {
        CodecSpeed& speed = tuning.codecs.at_form(form);
        tuning.codecs_said[form] = true;
        return members(json, place,
                       {{"encode", speed_into(speed.encode)},
                        {"decode", speed_into(speed.decode)},
                        {"decode_sum", speed_into(speed.decode_sum)}});
    }

    Status packings(const Json& json, const std::string& place) {
        Members known;
        for (std::size_t number = 1; number < packing_count; ++number)
            known.emplace_back(name_of(static_cast<Packing>(number)),
                               [this, number](const Json& value, const std::string& at) {
                                   PackingSpeed& speed = tuning.packings[number];
                                   return members(
                                       value, at,
                                       {{"pack", number_into(speed.pack, speed_limits)},
                                        {"unpack", number_into(speed.unpack, speed_limits)}});
                               });
        return members(json, place, known);
    }

    /// Reads the links: "inside" and "between" mean every kind there; a kind by its name takes
    /// precedence.
    Status links(const Json& json, const std::string& place) {
        Members known;
        for (const bool between : {false, true})
            known.emplace_back(between ? "between" : "inside",
                               [this, between](const Json& value, const std::string& at) {
                                   return links_where(value, at, between);
                               });
        for (std::size_t number = 1; number < vertex_kind_count; ++number)
            known.emplace_back(name_of(static_cast<VertexKind>(number)),
                               [this, number](const Json& value, const std::string& at) {
                                   return link(value, at, number);
                               });
        return members(json, place, known);
    }

    Status links_where(const Json& json, const std::string& place, bool between) {
        for (std::size_t number = 1; number < vertex_kind_count; ++number)
            if (connects_hosts(static_cast<VertexKind>(number)) == between)
                GRADCOLL_TRY(link(json, place, number));
        return {};
    }

    Status link(const Json& json, const std::string& place, std::size_t kind) {
        tuning.links_said.set(kind);
        return speed_and_latency(json, place, tuning.links[kind]);
    }

    Status speed_and_latency(const Json& json, const std::string& place, LinkSpeed& link) const {
        return members(json, place,
                       {{"gbytes_per_s", speed_into(link.gbytes_per_s)},
                        {"latency_us", number_into(link.latency_us)}});
    }

    Status chunks(const Json& json, const std::string& place) {
        const auto chunk_into = [this](AutoChunk& chunk) -> Member {
            return [this, &chunk](const Json& value, const std::string& at) {
                return members(value, at,
                               {{"whole_bytes", bytes_into(chunk.whole_bytes, 0)},
                                {"chunk_bytes", bytes_into(chunk.chunk_bytes, 1)}});
            };
        };
        return members(json, place,
                       {{"one_level", chunk_into(tuning.one_level_chunk)},
                        {"many_levels", chunk_into(tuning.many_level_chunk)}});
    }

    Status shm(const Json& json, const std::string& place) {
        return members(json, place,
                       {{"flat_max_bytes", bytes_into(tuning.shm.flat_max_bytes, 0)},
                        {"piece_bytes", bytes_into(tuning.shm.piece_bytes, 0)},
                        {"stream_min_bytes", bytes_into(tuning.shm.stream_min_bytes, 0)},
                        {"pass", [this](auto& v, auto& at) {
                             tuning.host_pass_said = true;
                             return speed_and_latency(v, at, tuning.host_pass);
                         }}});
    }

    /// Reads a number, or points {"bytes", "gbytes_per_s"} in the order of bytes.
    Status read_speed(const Json& json, const std::string& place, Speed& speed) const {
        if (!json.is_array()) {
            double figure = 0;
            GRADCOLL_TRY(number(json, place, speed_limits, figure));
            speed = figure;
            return {};
        }
        if (json.empty() || json.size() > most_points)
            return wrong(place, json, fmt::format("a number, or 1 to {} points", most_points));
        std::vector<Speed::Point> points(json.size());
        for (std::size_t i = 0; i < json.size(); ++i) {
            const std::string at = fmt::format("{}/{}", place, i);
            const Limits bytes{i == 0 ? 0 : std::nextafter(points[i - 1].bytes, 1e18), 1e15};
            GRADCOLL_TRY(
                members(json[i], at,
                        {{"bytes", number_into(points[i].bytes, bytes)},
                         {"gbytes_per_s", number_into(points[i].gbytes_per_s, speed_limits)}}));
            for (const char* key : {"bytes", "gbytes_per_s"})
                if (!json[i].contains(key))
                    return wrong(at, json[i], fmt::format("\"{}\" in it", key));
        }
        speed = Speed(std::move(points));
        return {};
    }

    Status number(const Json& json, const std::string& place, Limits limits, double& figure) const {
        if (!json.is_number() || !(json.get<double>() >= limits.least) ||
            json.get<double>() > limits.most)
            return wrong(place, json,
                         fmt::format("a number from {:g} to {:g}", limits.least, limits.most));
        figure = json.get<double>();
        return {};
    }

    Status integer(const Json& json, const std::string& place, std::int64_t least,
                   std::int64_t most, std::int64_t& figure) const {
        const bool fits =
            json.is_number_integer() && json.get<double>() <= static_cast<double>(most);
        if (!fits || json.get<std::int64_t>() < least)
            return wrong(place, json, fmt::format("an integer from {} to {}", least, most));
        figure = json.get<std::int64_t>();
        return {};
    }

    Status wrong(const std::string& place, const Json& found, const std::string& allowed) const {
        const std::string text = found.dump(-1, ' ', false, Json::error_handler_t::replace);
        return error(place.empty() ? "/" : place,
                     fmt::format("found {}, allowed is {}", printable(text), allowed));
    }

    Status error(const std::string& place, const std::string& what) const {
        return {Code::invalid_argument, fmt::format("{}: {}: {}", source_, place, what)};
    }

    std::string_view source_;
};

}  // namespace

Result<Tuning> tuning_from(std::string_view text, std::string_view source) {
    const std::string name = printable(source);
    const Result<Json> json = json_in(text);
    if (!json.ok())
        return Status(json.status().code(), fmt::format("{}: {}", name, json.status().message()));
    Reader reader(name);
    GRADCOLL_TRY(reader.read(*json));
    return std::move(reader.tuning);
}

Result<std::string> read_tuning_text(const std::string& path) {
    Result<std::string> text = bytes_of_file(path, largest_tuning_bytes);
    if (text.ok()) return text;
    return Status(Code::io, fmt::format("{}: {}", printable(path), text.status().message()));
}

Result<Tuning> read_tuning(const std::string& path) {
    const std::string text = GRADCOLL_VALUE(read_tuning_text(path));
    return tuning_from(text, path);
}

}  // namespace gradcoll
