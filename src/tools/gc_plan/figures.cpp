#include "figures.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/options.hpp"
#include "topology/sources/written.hpp"

namespace gc_plan {
namespace {

using namespace gradcoll;
using Json = nlohmann::json;

/// Reads into figures; the first thing that is wrong stops it.
class Reader {
  public:
    explicit Reader(const std::string& source) : source_(source) {}

    Status read(const Json& json) {
        if (!json.is_object()) return wrong("/", "expected an object");
        for (const auto& [key, value] : json.items()) {
            if (key == "codecs")
                GRADCOLL_TRY(codecs(value));
            else if (key == "message_us")
                GRADCOLL_TRY(number("/message_us", value, 0, figures.message_us));
            else if (key == "incast_loss_per_sender")
                GRADCOLL_TRY(
                    number(fmt::format("/{}", key), value, 0, figures.incast_loss_per_sender));
            else if (key == "most_incast_loss")
                GRADCOLL_TRY(number(fmt::format("/{}", key), value, 0, figures.most_incast_loss));
            else if (key == "chunks_in_flight")
                GRADCOLL_TRY(in_flight(value));
            else
                return wrong(fmt::format("/{}", printable(key)),
                             "unknown: allowed are codecs, message_us, incast_loss_per_sender, "
                             "most_incast_loss, chunks_in_flight");
        }
        return {};
    }

    SpeedFigures figures = measured_speeds;

  private:
    Status codecs(const Json& json) {
        if (!json.is_object()) return wrong("/codecs", "expected an object");
        for (const auto& [name, speeds] : json.items()) {
            const auto codec = codec_from_name(name);
            if (!codec.ok()) return wrong("/codecs", codec.status().message());
            const std::string place = fmt::format("/codecs/{}", name);
            if (!speeds.is_object()) return wrong(place, "expected an object");
            CodecSpeed& speed = figures.codecs[static_cast<std::size_t>(*codec)];
            for (const auto& [key, value] : speeds.items()) {
                double* figure = key == "encode"       ? &speed.encode
                                 : key == "decode"     ? &speed.decode
                                 : key == "decode_sum" ? &speed.decode_sum
                                                       : nullptr;
                if (figure == nullptr)
                    return wrong(place + fmt::format("/{}", printable(key)),
                                 "unknown: allowed are encode, decode, decode_sum");
                GRADCOLL_TRY(number(place + fmt::format("/{}", key), value, least_speed, *figure));
            }
        }
        return {};
    }

    Status number(const std::string& place, const Json& json, double least, double& figure) const {
        constexpr double most = 1e9;
        if (!json.is_number() || json.get<double>() < least || json.get<double>() > most)
            return wrong(place, fmt::format("found {}, expected a number from {} to {}",
                                            printable(dump(json)), least, most));
        figure = json.get<double>();
        return {};
    }

    Status in_flight(const Json& json) {
        if (!json.is_number_integer() || json.get<std::int64_t>() < 1 ||
            json.get<std::int64_t>() > 16)
            return wrong("/chunks_in_flight", fmt::format("found {}, expected an integer from 1 "
                                                          "to 16",
                                                          printable(dump(json))));
        figures.chunks_in_flight = json.get<int>();
        return {};
    }

    static std::string dump(const Json& json) {
        return json.dump(-1, ' ', false, Json::error_handler_t::replace);
    }

    Status wrong(const std::string& place, const std::string& what) const {
        return {Code::invalid_argument, fmt::format("--figures {}: {}: {}", source_, place, what)};
    }

    static constexpr double least_speed = 1e-3;  // GB/s
    const std::string& source_;
};

}  // namespace

Result<SpeedFigures> figures_from(std::string_view text, const std::string& source) {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded())
        return Status(Code::invalid_argument, fmt::format("--figures {}: no JSON", source));
    Reader reader(source);
    GRADCOLL_TRY(reader.read(json));
    return reader.figures;
}

Result<SpeedFigures> figures_of(const std::string& path) {
    if (path.empty()) return measured_speeds;
    const Result<std::string> text = read_file(path);
    if (!text.ok()) return Status(text.status().code(), "--figures: " + text.status().message());
    return figures_from(*text, path);
}

}  // namespace gc_plan
