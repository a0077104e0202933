// plan/options.cpp - the command line.
#include "options.hpp"

#include <fmt/format.h>

#include "base/options.hpp"
#include "base/text.hpp"
#include "collectives/build/builder.hpp"
#include "command_line/forms.hpp"
#include "command_line/option_parser.hpp"
#include "fabric/host_list.hpp"

namespace gradcoll::plan {
namespace {

constexpr std::int64_t largest_count = std::int64_t{1} << 50;

constexpr gradcoll::Forms<Drawing, 3> drawings = {
    {{"text", Drawing::text}, {"json", Drawing::json}, {"dot", Drawing::dot}}};

constexpr const char* examples = R"help(Examples:
  gradcoll plan --tree '((0 1) (2 3 4))' --bytes 1M           plan for all five ranks, prove the plans together
  gradcoll plan --tree 'switch(16x switch(16x switch(8x host(2x package(32x*)))))'
                                                              131072 ranks: plans of some, checked against their peers
  gradcoll plan --tree '((0 1) (2 3 4))' --count 10 --text 3   the steps of rank 3
  gradcoll plan --tree hosts:DIR+file:fabric.txt --hosts all --draw dot | dot -Tsvg > tree.svg
                                                              a recorded cluster: DIR holds an hwloc XML file a host
  gradcoll plan --tree tree.json --bytes 64M --links --json   bytes on every link
  gradcoll plan --tree tree.json --bytes 64M --what-if        which algorithm and codec would be fastest, and why

The tree is a value of GC_TOPOLOGY (default: that setting). Lists go by level, nearest the ranks first.
)help";

/// Raw holds the options as typed.
struct Raw {
    std::string bytes, type = "fp32", codec, down_codec, exchange, chunk, format = "text", hosts,
                       drawing, builder;
    int ranks_per_host = 0;
    std::uint64_t shuffle = 0;
    std::int64_t count = 0;
    bool links = false;
    bool what_if = false;
};

void declare_tree(OptionParser& app, Options& options, Raw& raw) {
    app.add_option("--tree", options.tree,
                   "the tree: an expression, a file, or any other value of GC_TOPOLOGY")
        ->type_name("TREE");
    auto* ranks = app.add_option("--ranks", options.ranks,
                                 "number of ranks (default: those that the tree names; of a "
                                 "described host one a core)")
                      ->in_range(1, gradcoll::max_tree_ranks)
                      ->type_name("N");
    auto* hosts = app.add_option("--hosts", raw.hosts,
                                 "a job on these hosts (n[1-8],login) instead of this one; all: "
                                 "those that the sources of the tree name")
                      ->excludes(ranks)
                      ->type_name("LIST");
    app.add_option("--ranks-per-host", raw.ranks_per_host,
                   "with --hosts (default: one a core, or one a GPU)")
        ->needs(hosts)
        ->in_range(1, gradcoll::max_tree_ranks)
        ->type_name("N");
    app.add_option("--shuffle", raw.shuffle, "with --hosts: deal the ranks to all hosts by chance")
        ->needs(hosts)
        ->type_name("SEED");
}

void declare(OptionParser& app, Options& options, Raw& raw) {
    declare_tree(app, options, raw);
    auto* count = app.add_option("--count", raw.count, "elements of the vector")
                      ->in_range(std::int64_t{0}, largest_count)
                      ->type_name("N");
    app.add_option("--bytes", raw.bytes, "bytes of the vector (default: 64M)")
        ->excludes(count)
        ->type_name("SIZE");
    app.add_option("--type", raw.type, "element type (default: fp32)")->type_name("TYPE");
    app.add_option(
           "--codec", raw.codec,
           "2:4, bound/abs=1e-3; by level: exact,2:4; by kind of link: between=2:4 (default: "
           "exact; with --what-if: all that need no tolerance)")
        ->type_name("LIST");
    app.add_option("--down-codec", raw.down_codec,
                   "codec of the way down (default: the highest level's)")
        ->type_name("CODEC");
    app.add_option(
           "--exchange", raw.exchange,
           fmt::format("exchanges by level: {} (default: auto)", gradcoll::allowed_exchanges()))
        ->type_name("LIST");
    app.add_option("--builder", raw.builder,
                   "who makes the plans, as GC_BUILDER (default: flexreduce)")
        ->type_name("NAME");
    app.add_option("--chunk", raw.chunk, "bytes of a chunk, 0: the whole vector, or auto (default)")
        ->type_name("SIZE");
    auto* check = app.add_option("--check-ranks", options.check_ranks,
                                 "plan and check so many ranks (default: 16)");
    check->in_range(1, gradcoll::max_tree_ranks)->type_name("K");
    auto* verify = app.add_flag("--verify", options.verify,
                                "prove all ranks' plans together (always done up to 512 ranks)");
    auto* seed =
        app.add_option("--seed", options.seed, "which ranks are picked at random (default: 1)");
    auto* links = app.add_flag("--links", raw.links, "bytes on every link instead");
    auto* text = app.add_option("--text", options.text_rank, "the steps of one rank instead")
                     ->type_name("RANK");
    auto* what_if = app.add_flag("--what-if", raw.what_if,
                                 "predicted times of all algorithms and codecs instead");
    auto* draw =
        app.add_option("--draw", raw.drawing, "the tree instead: text, json or dot (for Graphviz)")
            ->type_name("FORM");
    draw->excludes(links)->excludes(text)->excludes(what_if);
    links->excludes(text)->excludes(what_if);
    text->excludes(what_if);
    for (auto* only_check : {check, verify, seed})
        only_check->excludes(draw)->excludes(links)->excludes(text)->excludes(what_if);
    app.add_option("--tuning", options.tuning,
                   "a tuning file, as scripts/tune writes it, instead of the shipped figures")
        ->type_name("FILE");
    app.add_option("--chunks-in-flight", options.policy.chunks_in_flight,
                   "that predictions count on (default: 4)")
        ->in_range(1, 16)
        ->type_name("N");
    app.add_option("--top", options.top, "with --what-if: so many rows (default: all)")
        ->needs(what_if)
        ->in_range(1, 10000)
        ->type_name("N");
    app.add_option("--format", raw.format, "text or json (default: text)")->type_name("FORM");
    app.add_flag("--json", options.json, "the same as --format json");
    app.footer(examples);
}

/// Returns "f32" for "fp32" or "f32", "i8" for "int8" or "i8".
std::string short_name(std::string name) {
    for (const auto& [prefix, letter] : {std::pair{"fp", "f"}, {"uint", "u"}, {"int", "i"}})
        if (name.starts_with(prefix)) return letter + name.substr(std::string_view(prefix).size());
    return name;
}

Problem read_type(const Raw& raw, gradcoll::PlanSpec& call) {
    std::string names;
    for (int i = 0; i < static_cast<int>(ElementType::opaque); ++i) {
        const auto type = static_cast<ElementType>(i);
        const std::string name(name_of(type));
        names += (i == 0 ? "" : ", ") + name;
        if (raw.type != name && raw.type != short_name(name)) continue;
        call.type = type;
        call.elem_bytes = static_cast<std::uint32_t>(element_bytes(type));
        return std::nullopt;
    }
    return fmt::format("--type {}: allowed are {}", gradcoll::printable(raw.type), names);
}

Problem read_size(const OptionParser& app, const Raw& raw, gradcoll::PlanSpec& call) {
    if (app.count("--count") > 0) {
        call.count_elems = raw.count;
        return std::nullopt;
    }
    const auto bytes = gradcoll::parse_bytes(raw.bytes.empty() ? "64M" : raw.bytes);
    if (!bytes.ok()) return fmt::format("--bytes: {}", bytes.status().message());
    if (*bytes > static_cast<std::uint64_t>(largest_count))
        return fmt::format("--bytes {}: at most {}", gradcoll::printable(raw.bytes), largest_count);
    if (*bytes % call.elem_bytes != 0)
        return fmt::format("--bytes {}: no whole number of {}, which has {} bytes",
                           gradcoll::printable(raw.bytes), name_of(call.type), call.elem_bytes);
    call.count_elems = static_cast<std::int64_t>(*bytes / call.elem_bytes);
    return std::nullopt;
}

Problem read_codecs(const Raw& raw, gradcoll::PolicyOptions& policy) {
    if (!raw.codec.empty()) {
        auto codecs = gradcoll::hop_codecs_from(raw.codec);
        if (!codecs.ok()) return fmt::format("--codec: {}", codecs.status().message());
        policy.codecs = std::move(*codecs);
    }
    for (const gradcoll::CodecId codec : policy.codecs.named())
        if (const auto told = check_told(codec); !told.ok())
            return fmt::format("--codec: {}", told.message());
    if (raw.down_codec.empty()) return std::nullopt;
    const auto codec = gradcoll::codec_from_name(raw.down_codec);
    if (!codec.ok()) return fmt::format("--down-codec: {}", codec.status().message());
    if (const auto told = check_told(*codec); !told.ok())
        return fmt::format("--down-codec: {}", told.message());
    policy.down_codec = *codec;
    return std::nullopt;
}

Problem read_policy(const Raw& raw, gradcoll::PolicyOptions& policy) {
    if (const Problem problem = read_codecs(raw, policy)) return problem;
    if (!raw.exchange.empty()) {
        auto exchanges = gradcoll::level_exchanges_from(raw.exchange);
        if (!exchanges.ok()) return fmt::format("--exchange: {}", exchanges.status().message());
        policy.level_exchanges = *exchanges;
    }
    if (!raw.builder.empty()) {
        const auto builder = gradcoll::builder_from_name(raw.builder);
        if (!builder.ok()) return fmt::format("--builder: {}", builder.status().message());
        policy.builder = *builder;
    }
    if (raw.chunk.empty() || raw.chunk == "auto") return std::nullopt;
    const auto chunk = gradcoll::parse_bytes(raw.chunk);
    if (!chunk.ok()) return fmt::format("--chunk: {}, or auto", chunk.status().message());
    if (*chunk > static_cast<std::uint64_t>(largest_count))
        return fmt::format("--chunk {}: at most {}", gradcoll::printable(raw.chunk), largest_count);
    policy.chunk_bytes = static_cast<std::int64_t>(*chunk);
    return std::nullopt;
}

Problem read_cluster(const OptionParser& app, const Raw& raw, Options& options) {
    if (app.count("--hosts") == 0) return std::nullopt;
    gradcoll::ClusterSpec& cluster = options.cluster.emplace();
    cluster.ranks_per_host = raw.ranks_per_host;
    cluster.seed = raw.shuffle;
    if (app.count("--shuffle") > 0) cluster.order = gradcoll::RankOrder::shuffled;
    if (raw.hosts == "all") return std::nullopt;
    auto hosts = gradcoll::names_of_host_list(raw.hosts);
    if (!hosts.ok()) return fmt::format("--hosts: {}", hosts.status().message());
    cluster.hosts = std::move(*hosts);
    return std::nullopt;
}

Problem read(const OptionParser& app, const Raw& raw, Options& options) {
    if (raw.links) options.mode = Mode::links;
    if (app.count("--text") > 0) options.mode = Mode::text;
    if (raw.what_if) options.mode = Mode::what_if;
    if (app.count("--draw") > 0) {
        options.mode = Mode::draw;
        if (const Problem problem =
                gradcoll::find_form("--draw", raw.drawing, drawings, options.drawing))
            return problem;
    }
    if (const Problem problem = read_cluster(app, raw, options)) return problem;
    if (raw.format == "json")
        options.json = true;
    else if (raw.format != "text")
        return fmt::format("--format {}: allowed are text, json", gradcoll::printable(raw.format));
    if (options.mode == Mode::what_if && app.count("--builder") > 0)
        return "--builder: --what-if predicts plans of flexreduce alone; leave it out";
    if (options.mode == Mode::what_if)
        for (const char* chosen : {"--exchange", "--down-codec"})
            if (app.count(chosen) > 0)
                return fmt::format("{}: --what-if goes through them itself; leave it out", chosen);
    if (options.mode == Mode::text && options.json)
        return "--text: its form is its own, without --format json";
    if (app.count("--tree") == 0)
        options.tree = gradcoll::option_text(gradcoll::OptionId::topology);
    if (const Problem problem = read_type(raw, options.call)) return problem;
    if (const Problem problem = read_size(app, raw, options.call)) return problem;
    return read_policy(raw, options.policy);
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
    OptionParser app(
        "Plans collectives for trees that need not be there: checks the plans, counts bytes on "
        "links, predicts times.",
        "gradcoll plan");
    CommandLine line;
    Raw raw;
    declare(app, line.options, raw);
    app.parse_into(line, argc, argv, [&] { return read(app, raw, line.options); });
    return line;
}

}  // namespace gradcoll::plan
