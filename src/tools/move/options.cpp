// move/options.cpp - the command line.
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "command_line/option_parser.hpp"
#include "mover/program/ticks.hpp"

namespace gradcoll::move {
namespace {

constexpr const char* examples = R"help(Examples:
  gradcoll move --model config.json --parallel pipeline=4,micro_batches=16 --cluster cluster.json --device-memory 24GiB
                                          what a step holds, and what has to move so that it fits
  gradcoll move --model config.json --parallel parallel.json --cluster cluster.json --move activations --out plan.json
                                          the plan, with everything that it follows from
  gradcoll move --model config.json --parallel parallel.json --cluster cluster.json --smallest
                                          how little memory would do
  gradcoll move --model config.json --parallel parallel.json --cluster cluster.json --smallest --rule ours,te,megatron
                                          beside what those need who count layers
  gradcoll move --check plan.json         whether a plan is right: exit status 0, or 1 and what is wrong

MODEL is in our own form, a config.json of Hugging Face (docs/mover.md lists the families), a trace of PyTorch's profiler
or an execution trace. PARALLEL may also be the settings of DeepSpeed or Megatron-LM, and all three files Calculon's or
vTrain's. docs/mover.md and docs/schemas describe all files.
)help";

/// Raw holds the options as typed.
struct Raw {
    std::string device_memory, kinds = "activations,optimizer", least = "1M", rules = "ours";
    bool smallest = false, layers = false;
};

void declare(OptionParser& app, Options& options, Raw& raw) {
    auto* model = app.add_option("--model", options.model, "the model to train")->type_name("FILE");
    auto* parallel =
        app.add_option("--parallel", options.parallel, "how it is spread: a file, or key=value,...")
            ->type_name("FILE");
    auto* cluster =
        app.add_option("--cluster", options.cluster, "the machines: a file, or key=value,...")
            ->type_name("FILE");
    app.add_option("--topology", options.topology,
                   "a tree, as GC_TOPOLOGY: what the cluster does not say of hosts and links")
        ->needs(model)
        ->type_name("TREE");
    app.add_option("--device-memory", raw.device_memory,
                   "what a device may hold (default: the cluster's device_memory)")
        ->needs(model)
        ->type_name("SIZE");
    app.add_option("--move", raw.kinds,
                   "what may move, of activations, parameters, gradients, optimizer (default: "
                   "activations,optimizer)")
        ->needs(model)
        ->type_name("LIST");
    app.add_option("--least", raw.least, "smaller tensors stay (default: 1M)")
        ->needs(model)
        ->type_name("SIZE");
    app.add_option("--rule", raw.rules,
                   "who chooses what moves: ours (default), te (counts layers, as "
                   "TransformerEngine and --cpu-offloading-num-layers), megatron (counts "
                   "modules, as --fine-grained-activation-offloading), torchtune (all but the "
                   "last tensors, as its OffloadActivations) or deepspeed (the same of "
                   "checkpoints, as cpu_checkpointing); with --smallest a list")
        ->needs(model)
        ->type_name("LIST");
    app.add_option("--count", options.policy.count,
                   "how many layers or modules of a rank te or megatron move, or how many tensors "
                   "of a micro-batch torchtune or deepspeed leave (default: what is best, all are "
                   "tried)")
        ->needs("--rule")
        ->not_negative()
        ->type_name("N");
    app.add_option("--out", options.out, "write the plan to FILE: .json, or .csv for tables")
        ->needs(model)
        ->type_name("FILE");
    app.add_option("--trace", options.trace,
                   "write the plan to FILE as a trace that Perfetto (ui.perfetto.dev) shows")
        ->needs(model)
        ->type_name("FILE");
    app.add_option("--draw", options.drawing, "write memory over time to FILE, as SVG")
        ->needs(model)
        ->type_name("FILE");
    app.add_option("--measured", options.measured,
                   "a trace of PyTorch's profiler with memory: its peak beside ours")
        ->needs(model)
        ->type_name("FILE");
    app.add_flag("--smallest", raw.smallest,
                 "the smallest device memory for slowdowns of 0, 1, 5 and 20 % instead")
        ->needs(model)
        ->excludes("--device-memory")
        ->excludes("--out")
        ->excludes("--trace")
        ->excludes("--draw")
        ->excludes("--measured");
    app.add_flag("--layers", raw.layers,
                 "what each layer has on one device instead: parameters, what it keeps, times")
        ->needs(model)
        ->excludes("--device-memory")
        ->excludes("--out")
        ->excludes("--trace")
        ->excludes("--draw")
        ->excludes("--measured")
        ->excludes("--smallest");
    model->needs(parallel)->needs(cluster);
    parallel->needs(model);
    cluster->needs(model);
    app.add_option("--check", options.plan, "check the plan of FILE instead")
        ->excludes(model)
        ->type_name("FILE");
    app.footer(examples);
}

Problem read_bytes(std::string_view option, const std::string& text, std::int64_t& out) {
    const auto bytes = gradcoll::parse_bytes(text);
    if (!bytes.ok()) return fmt::format("{}: {}", option, bytes.status().message());
    if (*bytes == 0 || *bytes > static_cast<std::uint64_t>(gradcoll::mover::most_bytes))
        return fmt::format("{} {}: allowed are 1 to {} bytes", option, gradcoll::printable(text),
                           gradcoll::mover::most_bytes);
    out = static_cast<std::int64_t>(*bytes);
    return std::nullopt;
}

Problem read_kinds(const std::string& list, gradcoll::mover::MovableKinds& out) {
    out.activations = out.parameters = out.gradients = out.optimizer = false;
    for (const std::string_view name : gradcoll::split_at_commas(list)) {
        if (name == "activations")
            out.activations = true;
        else if (name == "parameters")
            out.parameters = true;
        else if (name == "gradients")
            out.gradients = true;
        else if (name == "optimizer")
            out.optimizer = true;
        else
            return fmt::format(
                "--move {}: allowed are activations, parameters, gradients, optimizer",
                gradcoll::printable(name));
    }
    return std::nullopt;
}

Problem read_rules(const OptionParser& app, const std::string& list, Options& options) {
    using gradcoll::mover::Rule;
    for (const std::string_view name : gradcoll::split_at_commas(list)) {
        const auto& counting = gradcoll::mover::rules_that_count;
        const auto known = std::find_if(counting.begin(), counting.end(),
                                        [&](Rule rule) { return name_of(rule) == name; });
        if (known == counting.end() && name != name_of(Rule::ours))
            return fmt::format("--rule {}: allowed are ours, te, megatron, torchtune, deepspeed",
                               gradcoll::printable(name));
        options.rules.push_back(known == counting.end() ? Rule::ours : *known);
    }
    if (options.rules.size() > 1 && options.mode != Mode::smallest)
        return fmt::format("--rule {}: several are allowed with --smallest",
                           gradcoll::printable(list));
    options.policy.rule = options.rules.front();
    const bool counts =
        std::find(options.rules.begin(), options.rules.end(), Rule::ours) == options.rules.end();
    if (app.count("--count") > 0 && !counts)
        return std::string("--count: ours does not count; allowed with the other rules");
    return std::nullopt;
}

Problem read(const OptionParser& app, const Raw& raw, Options& options) {
    if (app.count("--check") > 0) options.mode = Mode::check;
    if (options.mode != Mode::plan) return std::nullopt;
    if (raw.smallest) options.mode = Mode::smallest;
    if (raw.layers) options.mode = Mode::layers;
    if (app.count("--model") == 0)
        return "--model, --parallel and --cluster say what to plan, --check does without; gradcoll "
               "move --help shows more";
    if (!options.out.empty() && !options.out.ends_with(".json") && !options.out.ends_with(".csv"))
        return fmt::format("--out {}: allowed are names that end with .json or .csv",
                           gradcoll::printable(options.out));
    if (!raw.device_memory.empty())
        if (const Problem problem =
                read_bytes("--device-memory", raw.device_memory, options.device_bytes))
            return problem;
    if (const Problem problem = read_bytes("--least", raw.least, options.policy.kinds.least_bytes))
        return problem;
    if (const Problem problem = read_rules(app, raw.rules, options)) return problem;
    return read_kinds(raw.kinds, options.policy.kinds);
}

}  // namespace

gradcoll::CommandLine<Options> parse_command_line(int argc, const char* const* argv) {
    OptionParser app(
        "Plans which tensors leave the device during a training step and when they come back, "
        "and proves it.",
        "gradcoll move");
    gradcoll::CommandLine<Options> line;
    Raw raw;
    declare(app, line.options, raw);
    app.parse_into(line, argc, argv, [&] { return read(app, raw, line.options); });
    return line;
}

}  // namespace gradcoll::move
