// options.cpp - reads the command line of gradcoll simulate.
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "agreement.hpp"
#include "collectives/predict/model.hpp"
#include "command_line/option_parser.hpp"
#include "rivals.hpp"
#include "simulation.hpp"
#include "topology/text.hpp"

namespace gradcoll::simulate {
namespace {

constexpr std::int64_t max_vector_bytes = std::int64_t{1} << 30;

// Raw holds the options as typed, before they are looked up.
struct Raw {
    std::string tree;
    std::string hosts_path;
    std::string exchange = "auto";
    std::int64_t chunk_bytes = -1;
    std::string compress_if = "always";
    std::string paced = "auto";
    bool print_platform = false;
    bool print_hosts = false;
};

std::string known_algorithms() {
    std::string text = "ours, executor";
    for (const auto& names : {agreement_names(), rival_names()})
        for (const std::string& name : names) text += ", " + name;
    return text;
}

void declare_scene(OptionParser& app, Options& options, Raw& raw) {
    app.add_option("--tree", raw.tree, "expression, JSON, or a file that holds one of them")
        ->required();
    app.add_option("--platform", options.platform_path,
                   "SimGrid platform file (default: made from the tree)")
        ->existing_file();
    app.add_option("--hosts", raw.hosts_path,
                   "file with a host a line, by rank (default: r0, r1, ...)")
        ->existing_file();
    app.add_flag("--platform-of", raw.print_platform, "print the tree's platform file");
    app.add_flag("--hosts-of", raw.print_hosts, "print the tree's host file");
    app.add_option("--set", options.settings, "KEY:VALUE, a setting of SimGrid; repeatable")
        ->allow_extra_args(false);
}

void declare_calls(OptionParser& app, Options& options, Raw& raw) {
    options.sizes_bytes = {std::int64_t{1} << 20};
    options.algorithms = {"ours"};
    app.add_option("-m,--message-size", options.sizes_bytes, "bytes, with K, M; a list")
        ->delimiter(',')
        ->size_in_bytes()
        ->in_range(std::int64_t{4}, max_vector_bytes);
    app.add_option("--algorithm", options.algorithms, "list of " + known_algorithms())
        ->delimiter(',');
    app.add_option("--codec", options.codec_text, "codecs by level, as GC_CODEC")
        ->capture_default_str();
    app.add_option("--compress-if", raw.compress_if, "as GC_COMPRESS_IF")
        ->one_of({"always", "pays"})
        ->capture_default_str();
    app.add_option("--exchange", raw.exchange, allowed_exchanges() + ", or a list by level")
        ->capture_default_str();
    app.add_option("--chunk-bytes", raw.chunk_bytes, "0: whole (default: the library's choice)");
    app.add_option("--chunks-in-flight", options.way.chunks_in_flight, "window of the executor")
        ->in_range(1, 16)
        ->capture_default_str();
    app.add_option("--paced", raw.paced, "auto (if the tree knows its links), on or off")
        ->one_of({"auto", "on", "off"})
        ->capture_default_str();
    app.add_flag("--verify", options.verify, "prove all ranks' plans first");
    app.add_flag("--explain", options.explain,
                 "say to stderr why the plan is as it is, and what each link carries");
}

void declare_speeds(OptionParser& app, StepSpeeds& speeds) {
    const auto speed = [&](const char* name, double& value) {
        app.add_option(name, value, "GB/s of plain elements; 0: takes no time")
            ->not_negative()
            ->capture_default_str();
    };
    speed("--encode-speed", speeds.encode);
    speed("--decode-speed", speeds.decode);
    speed("--decode-reduce-speed", speeds.decode_reduce);
    speed("--reduce-speed", speeds.reduce);
    speed("--copy-speed", speeds.copy);
}

std::string text_of(const std::string& path_or_text) {
    std::ifstream file(path_or_text);
    if (!file) return path_or_text;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

Result<Tree> tree_of(const std::string& path_or_text) {
    const std::string text = text_of(path_or_text);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool is_json = first != std::string::npos && text[first] == '{';
    return is_json ? tree_from_json(text, -1) : tree_from_expression(text, -1);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; in >> line;) lines.push_back(line);
    return lines;
}

Status resolve_hosts(const Raw& raw, Options& options) {
    options.hosts =
        lines_of(raw.hosts_path.empty() ? hosts_of(*options.tree) : text_of(raw.hosts_path));
    const auto ranks = static_cast<std::size_t>(options.tree->rank_count());
    if (options.hosts.size() < ranks)
        return {Code::invalid_argument,
                fmt::format("--hosts: {} hosts for {} ranks", options.hosts.size(), ranks)};
    options.hosts.resize(ranks);
    return {};
}

Status resolve_algorithms(const Options& options) {
    for (const std::string& name : options.algorithms) {
        const auto is_in = [&](const std::vector<std::string>& names) {
            return std::find(names.begin(), names.end(), name) != names.end();
        };
        if (name != "ours" && name != "executor" && !is_in(agreement_names()) &&
            !is_in(rival_names()))
            return {Code::invalid_argument,
                    fmt::format("--algorithm {}: allowed are {}", name, known_algorithms())};
    }
    return {};
}

Status resolve(const Raw& raw, Options& options) {
    Result<Tree> tree = tree_of(raw.tree);
    if (!tree.ok()) return tree.status();
    options.tree = std::move(*tree);
    GRADCOLL_TRY(resolve_hosts(raw, options));
    GRADCOLL_TRY(resolve_algorithms(options));
    Result<HopCodecs> codecs = hop_codecs_from(options.codec_text);
    if (!codecs.ok()) return codecs.status();
    for (const CodecId codec : codecs->named()) GRADCOLL_TRY(check_told(codec));
    options.policy.codecs = std::move(*codecs);
    Result<std::vector<ExchangeWish>> exchanges = level_exchanges_from(raw.exchange);
    if (!exchanges.ok()) return exchanges.status();
    options.policy.level_exchanges = std::move(*exchanges);
    if (raw.chunk_bytes >= 0) options.policy.chunk_bytes = raw.chunk_bytes;
    if (raw.compress_if == "pays") options.policy.compress_if = CompressIf::pays;
    options.way.paced = raw.paced == "auto" ? knows_links(*options.tree) : raw.paced == "on";
    if (raw.print_platform) options.task = Task::print_platform;
    if (raw.print_hosts) options.task = Task::print_hosts;
    return {};
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
    OptionParser app{"Replays our allreduce plans in SimGrid, beside SimGrid's own algorithms",
                     "gradcoll simulate"};
    CommandLine line;
    Raw raw;
    declare_scene(app, line.options, raw);
    declare_calls(app, line.options, raw);
    declare_speeds(app, line.options.speeds);
    app.parse_into(line, argc, argv, [&] {
        const Status status = resolve(raw, line.options);
        return status.ok() ? Problem() : Problem(status.message());
    });
    return line;
}

}  // namespace gradcoll::simulate
