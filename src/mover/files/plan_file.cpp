// mover/files/plan_file.cpp - see plan_file.hpp.
#include "mover/files/plan_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

namespace gradcoll::mover {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t most_index = std::numeric_limits<std::int32_t>::max();

const DeviceTensor& tensor_of(const Program& program, std::size_t rank, const Move& move) {
    return program.ranks[rank].tensors[static_cast<std::size_t>(move.tensor)];
}

Json json_of(const Program& program, std::size_t rank, const Move& move) {
    const DeviceTensor& tensor = tensor_of(program, rank, move);
    return {{"name", label_of(program, tensor)},
            {"bytes", tensor.bytes},
            {"tensor", move.tensor},
            {"after", move.after},
            {"prefetch_at", move.prefetch_at},
            {"needed_by", move.needed_by},
            {"transfer", {move.transfer.start, move.transfer.end}},
            {"prefetch", {move.prefetch.start, move.prefetch.end}},
            {"host_offset", move.host_offset}};
}

void read_index(Fields& in, std::string_view key, std::int64_t least, std::int32_t& out) {
    std::int64_t value = least;
    in.integer(key, least, most_index, value);
    out = static_cast<std::int32_t>(value);
}

void read_span(Fields& in, std::string_view key, Span& out) {
    const auto* json = in.inner(key);
    if (json == nullptr) return;
    const auto is_tick = [](const nlohmann::json& value) {
        return value.is_number_integer() &&
               !(value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{highest});
    };
    if (!json->is_array() || json->size() != 2 || !is_tick((*json)[0]) || !is_tick((*json)[1]))
        return in.wrong(key, "allowed are two integers, start and end");
    out = {(*json)[0].get<Tick>(), (*json)[1].get<Tick>()};
}

Status read_move(const nlohmann::json& json, const std::string& origin, const std::string& pointer,
                 Move& out) {
    Fields in(json, origin, pointer);
    in.require(
        {"tensor", "after", "prefetch_at", "needed_by", "transfer", "prefetch", "host_offset"});
    std::string name;
    std::int64_t bytes = 0;
    in.text("name", name);  // kind and name are for people; the tensor's number is enough
    in.integer("bytes", 0, most_bytes, bytes);
    read_index(in, "tensor", 0, out.tensor);
    read_index(in, "after", -1, out.after);
    read_index(in, "prefetch_at", 0, out.prefetch_at);
    read_index(in, "needed_by", 0, out.needed_by);
    read_span(in, "transfer", out.transfer);
    read_span(in, "prefetch", out.prefetch);
    in.integer("host_offset", 0, most_bytes, out.host_offset);
    return in.done();
}

Status read_rank(const nlohmann::json& json, const std::string& origin, const std::string& pointer,
                 RankMoves& out) {
    Fields in(json, origin, pointer);
    in.require({"starts", "pool_bytes", "moves"});
    in.integer("pool_bytes", 0, most_bytes, out.pool_bytes);
    const auto* starts = in.inner("starts");
    const auto* moves = in.inner("moves");
    GRADCOLL_TRY(in.done());
    if (!starts->is_array()) in.wrong("starts", "allowed is an array of integers");
    if (!moves->is_array()) in.wrong("moves", "allowed is an array of moves");
    GRADCOLL_TRY(in.done());
    for (const auto& start : *starts) {
        if (!start.is_number_integer() || start < 0 || start > highest) {
            in.wrong("starts", "allowed are integers from 0 on");
            return in.done();
        }
        out.starts.push_back(start.get<Tick>());
    }
    for (std::size_t m = 0; m < moves->size(); ++m)
        GRADCOLL_TRY(read_move((*moves)[m], origin, fmt::format("{}/moves/{}", pointer, m),
                               out.moves.emplace_back()));
    return {};
}

}  // namespace

namespace {

/// KindName holds a kind of tensor that may move, and its name in `--move` and `--least`.
struct KindName {
    const char* name;
    bool MovableKinds::*flag;
};
constexpr std::array<KindName, 4> kind_names = {{{"activations", &MovableKinds::activations},
                                                 {"parameters", &MovableKinds::parameters},
                                                 {"gradients", &MovableKinds::gradients},
                                                 {"optimizer", &MovableKinds::optimizer}}};

Json json_of(const Inputs& inputs) {
    Json kinds = Json::array();
    for (const KindName& kind : kind_names)
        if (inputs.kinds.*kind.flag) kinds.push_back(kind.name);
    Json json = {{"model", Json(inputs.model.json)},
                 {"parallel", Json(inputs.parallel.json)},
                 {"cluster", Json(inputs.cluster.json)},
                 {"device_memory", inputs.device_bytes},
                 {"move", std::move(kinds)},
                 {"least", inputs.kinds.least_bytes}};
    if (!inputs.measured.durations.empty())
        json["measured"] = {{"durations", inputs.measured.durations},
                            {"bytes_per_second", inputs.measured.bytes_per_second}};
    return json;
}

/// Reads "move"; if it is missing, the kinds that move by default stay.
void read_kinds(Fields& in, MovableKinds& out) {
    const auto* list = in.inner("move");
    if (list == nullptr) return;
    if (!list->is_array()) return in.wrong("move", "allowed is an array of kinds");
    for (const KindName& kind : kind_names) out.*kind.flag = false;
    for (const auto& word : *list) {
        const auto known = std::find_if(
            kind_names.begin(), kind_names.end(),
            [&](const KindName& kind) { return word.is_string() && word == kind.name; });
        if (known == kind_names.end())
            return in.wrong("move", "allowed are activations, parameters, gradients, optimizer");
        out.*known->flag = true;
    }
}

Status read_measured(const nlohmann::json& json, const std::string& origin, Measured& out) {
    Fields in(json, origin, "/inputs/measured");
    in.require({"durations", "bytes_per_second"});
    const auto* durations = in.inner("durations");
    const auto* rates = in.inner("bytes_per_second");
    GRADCOLL_TRY(in.done());
    if (!durations->is_array() || durations->empty())
        in.wrong("durations", "allowed is an array of ticks for each rank");
    if (!rates->is_array()) in.wrong("bytes_per_second", "allowed is a number for each rank");
    GRADCOLL_TRY(in.done());
    const auto is_from_to = [](const nlohmann::json& value, std::int64_t least, std::int64_t most) {
        return value.is_number_integer() && value >= least && value <= most;
    };
    for (const auto& rank : *durations) {
        auto& ticks = out.durations.emplace_back();
        if (!rank.is_array()) in.wrong("durations", "allowed is an array of ticks for each rank");
        for (const auto& tick : rank)
            if (is_from_to(tick, 0, longest_ticks))
                ticks.push_back(tick.get<Tick>());
            else
                in.wrong("durations", fmt::format("allowed are ticks from 0 to {}", longest_ticks));
        GRADCOLL_TRY(in.done());
    }
    for (const auto& rate : *rates)
        if (is_from_to(rate, 1, highest))
            out.bytes_per_second.push_back(rate.get<std::int64_t>());
        else
            in.wrong("bytes_per_second", "allowed are integers from 1 on");
    return in.done();
}

}  // namespace

std::string json_of(const Inputs& inputs, const Program& program, const MovePlan& plan) {
    Json ranks = Json::array();
    for (std::size_t r = 0; r < plan.ranks.size(); ++r) {
        Json moves = Json::array();
        for (const Move& move : plan.ranks[r].moves) moves.push_back(json_of(program, r, move));
        ranks.push_back({{"starts", plan.ranks[r].starts},
                         {"pool_bytes", plan.ranks[r].pool_bytes},
                         {"moves", std::move(moves)}});
    }
    const Json all = {{"gradcoll_move_plan", 1},
                      {"inputs", json_of(inputs)},
                      {"step_ticks", plan.step_ticks},
                      {"ranks", std::move(ranks)}};
    return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string csv_of(const Program& program, const MovePlan& plan) {
    std::string text =
        "rank,instruction,tensor,kind,bytes,after,needed_by,start_ns,end_ns,slack_ns,host_offset\n";
    auto out = std::back_inserter(text);
    for (std::size_t r = 0; r < plan.ranks.size(); ++r)
        for (const Move& move : plan.ranks[r].moves) {
            const DeviceTensor& tensor = tensor_of(program, r, move);
            const auto line = [&](std::string_view instruction, Span span, Tick slack) {
                fmt::format_to(out, "{},{},\"{}\",{},{},{},{},{},{},{},{}\n", r, instruction,
                               label_of(program, tensor), name_of(tensor.kind), tensor.bytes,
                               move.after, move.needed_by, span.start, span.end, slack,
                               move.host_offset);
            };
            line("TRANSFER", move.transfer, away_of(move, plan.step_ticks));
            line("PREFETCH", move.prefetch, slack_of(plan.ranks[r], move, plan.step_ticks));
        }
    return text;
}

Result<Inputs> inputs_of_plan(const Document& document) {
    Fields in(document.json, document.origin);
    std::int64_t version = 0;
    in.require({"gradcoll_move_plan", "inputs", "step_ticks", "ranks"});
    in.integer("gradcoll_move_plan", 1, 1, version);
    const auto* json = in.inner("inputs");
    GRADCOLL_TRY(in.done_ignoring_others());
    Fields inner(*json, document.origin, "/inputs");
    inner.require({"model", "parallel", "cluster", "device_memory"});
    Inputs out;
    inner.bytes("device_memory", 0, most_bytes, out.device_bytes);
    for (const auto& [key, part] :
         {std::pair{"model", &out.model}, {"parallel", &out.parallel}, {"cluster", &out.cluster}}) {
        const auto* value = inner.inner(key);
        part->origin = document.origin + ": /inputs/" + key;
        if (value != nullptr) part->json = *value;
    }
    inner.integer("least", 1, most_bytes, out.kinds.least_bytes);
    read_kinds(inner, out.kinds);
    const auto* measured = inner.inner("measured");
    GRADCOLL_TRY(inner.done());
    if (measured != nullptr) GRADCOLL_TRY(read_measured(*measured, document.origin, out.measured));
    return out;
}

Result<MovePlan> plan_of(const Document& document) {
    Fields in(document.json, document.origin);
    MovePlan plan;
    std::int64_t version = 0;
    in.integer("gradcoll_move_plan", 1, 1, version);
    in.inner("inputs");
    in.integer("step_ticks", 0, highest, plan.step_ticks);
    const auto* ranks = in.inner("ranks");
    GRADCOLL_TRY(in.done());
    if (ranks == nullptr || !ranks->is_array()) {
        in.wrong("ranks", "allowed is an array of ranks");
        return in.done();
    }
    for (std::size_t r = 0; r < ranks->size(); ++r)
        GRADCOLL_TRY(read_rank((*ranks)[r], document.origin, fmt::format("/ranks/{}", r),
                               plan.ranks.emplace_back()));
    return plan;
}

}  // namespace gradcoll::mover
