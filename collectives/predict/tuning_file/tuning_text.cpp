// collectives/predict/tuning_file/tuning_text.cpp - writes a tuning as JSON text.
#include <nlohmann/json.hpp>

#include "collectives/predict/tuning_file/tuning_file.hpp"

namespace gradcoll {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson json_of(const Speed& speed) {
    if (speed.points().size() == 1) return speed.in_memory();
    OrderedJson points = OrderedJson::array();
    for (const Speed::Point& point : speed.points())
        points.push_back({{"bytes", point.bytes}, {"gbytes_per_s", point.gbytes_per_s}});
    return points;
}

OrderedJson codecs_of(const Tuning& tuning) {
    OrderedJson codecs = OrderedJson::object();
    for (std::size_t form = 0; form < all_codec_forms().size(); ++form) {
        const CodecSpeed& speed = tuning.codecs.at_form(form);
        codecs[all_codec_forms()[form].name] = {{"encode", json_of(speed.encode)},
                                                {"decode", json_of(speed.decode)},
                                                {"decode_sum", json_of(speed.decode_sum)}};
    }
    return codecs;
}

OrderedJson packings_of(const Tuning& tuning) {
    OrderedJson packings = OrderedJson::object();
    for (std::size_t number = 1; number < packing_count; ++number) {
        const PackingSpeed& speed = tuning.packings[number];
        packings[std::string(name_of(static_cast<Packing>(number)))] = {{"pack", speed.pack},
                                                                        {"unpack", speed.unpack}};
    }
    return packings;
}

OrderedJson links_of(const Tuning& tuning) {
    OrderedJson links = OrderedJson::object();
    for (std::size_t number = 0; number < vertex_kind_count; ++number) {
        const auto kind = static_cast<VertexKind>(number);
        if (kind == VertexKind::rank) continue;  // a rank has no branches
        const LinkSpeed& link = tuning.link_below(kind);
        links[std::string(name_of(kind))] = {{"gbytes_per_s", json_of(link.gbytes_per_s)},
                                             {"latency_us", link.latency_us}};
    }
    return links;
}

OrderedJson json_of(const AutoChunk& chunk) {
    return {{"whole_bytes", chunk.whole_bytes}, {"chunk_bytes", chunk.chunk_bytes}};
}

}  // namespace

std::string text_of(const Tuning& tuning, std::string_view about) {
    OrderedJson json = OrderedJson::object();
    if (!about.empty()) json["about"] = about;
    json["cores"] = tuning.cores;
    json["message_us"] = tuning.message_us;
    json["turn_us"] = tuning.turn_us;
    json["links"] = links_of(tuning);
    json["incast_loss_per_sender"] = tuning.incast_loss_per_sender;
    json["most_incast_loss"] = tuning.most_incast_loss;
    json["codecs"] = codecs_of(tuning);
    json["packings"] = packings_of(tuning);
    json["chunks"] = {{"one_level", json_of(tuning.one_level_chunk)},
                      {"many_levels", json_of(tuning.many_level_chunk)}};
    json["shm"] = {{"flat_max_bytes", tuning.shm.flat_max_bytes},
                   {"piece_bytes", tuning.shm.piece_bytes},
                   {"stream_min_bytes", tuning.shm.stream_min_bytes},
                   {"pass",
                    {{"gbytes_per_s", json_of(tuning.host_pass.gbytes_per_s)},
                     {"latency_us", tuning.host_pass.latency_us}}}};
    return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace gradcoll
