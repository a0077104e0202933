// gradcoll move - what leaves a device in a training step, and when it comes back: planned, proved,
// checked again. Exit status: 0; 1 where there is no such plan or a plan is wrong; 2 for what the
// user wrote.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/files.hpp"
#include "mover/check/check.hpp"
#include "mover/files/plan_file.hpp"
#include "mover/input/any_form.hpp"
#include "mover/input/frameworks.hpp"
#include "mover/input/tree_cluster.hpp"
#include "mover/profile/measured_peak.hpp"
#include "mover/profile/profiled_model.hpp"
#include "options.hpp"
#include "reports.hpp"
#include "tools/progress/progress.hpp"
#include "topology/sources/job/foreseen.hpp"

namespace gradcoll::move {
namespace {

using namespace gradcoll::mover;

constexpr int failure = 1;

int refuse(const Status& status, int exit_status) {
    fmt::print(stderr, "gradcoll move: {}\n", status.message());
    return exit_status;
}

/// Reads a model. A trace is replaced by the layers that it shows, also in the plan's file.
Result<ProfiledModel> read_model(const std::string& argument) {
    if (is_trace_file(argument)) return read_profiled_model("--model", argument);
    return ProfiledModel{GRADCOLL_VALUE(read_document("--model", argument)), {}};
}

/// Adds a topology with as many ranks as the strategy has devices.
Status add_topology(const Options& options, Inputs& inputs) {
    if (options.topology.empty()) return {};
    const Parallel parallel = GRADCOLL_VALUE(parallel_of(inputs.parallel));
    const auto tree = gradcoll::foreseen_tree(
        options.topology, static_cast<int>(parallel.data * parallel.tensor * parallel.pipeline));
    if (!tree.ok()) return {tree.status().code(), "--topology " + tree.status().message()};
    return add_from_tree(tree->tree, "--topology", inputs.cluster);
}

/// A Subject is what the options name.
struct Subject {
    Inputs inputs;
    Scene scene;
    std::string found;  ///< lines for people about what was found there
};

Result<Subject> read_subject(const Options& options) {
    Inputs inputs;
    ProfiledModel model = GRADCOLL_VALUE(read_model(options.model));
    inputs.model = std::move(model.model);
    inputs.parallel = GRADCOLL_VALUE(read_parallel("--parallel", options.parallel));
    inputs.cluster = GRADCOLL_VALUE(read_document("--cluster", options.cluster));
    GRADCOLL_TRY(add_topology(options, inputs));
    inputs.device_bytes = options.device_bytes;
    inputs.kinds = options.policy.kinds;
    Scene scene = GRADCOLL_VALUE(scene_of(inputs));
    return Subject{std::move(inputs), std::move(scene), std::move(model.found)};
}

/// Writes the file, if there is a path.
template <class Text>
Status write_for(const char* option, const std::string& path, Text&& text) {
    if (path.empty()) return {};
    const Status status = gradcoll::write_file(path, text());
    if (status.ok()) return {};
    return {status.code(), std::string(option) + " " + status.message()};
}

Status write_files(const Options& options, const Inputs& inputs, const Scene& scene,
                   const MovePlan& plan) {
    GRADCOLL_TRY(write_for("--out", options.out, [&] {
        return options.out.ends_with(".csv") ? csv_of(scene.program, plan)
                                             : json_of(inputs, scene.program, plan);
    }));
    GRADCOLL_TRY(
        write_for("--trace", options.trace, [&] { return trace_of(scene.program, plan); }));
    return write_for("--draw", options.drawing,
                     [&] { return drawing_of(scene.program, scene.rooms, plan); });
}

/// Returns an empty text if nothing was measured.
Result<std::string> comparison(const Options& options, const Scene& scene) {
    if (options.measured.empty()) return std::string();
    const Trace trace = GRADCOLL_VALUE(read_trace("--measured", options.measured));
    return measured_report(scene, options.measured, GRADCOLL_VALUE(measured_peak(trace)));
}

int plan(const Options& options, const Subject& subject) {
    const auto& [inputs, scene, found] = subject;
    const auto measured = comparison(options, scene);
    if (!measured.ok()) return refuse(measured.status(), gradcoll::usage_error);
    const auto step = plan_by(scene.program, scene.rooms, options.policy);
    if (!step.ok()) return refuse(step.status(), failure);
    if (const Status right = check_plan(scene.program, scene.rooms, step->plan); !right.ok())
        return refuse({Code::internal, "a plan that is wrong was made: " + right.message()},
                      failure);
    if (const Status written = write_files(options, inputs, scene, step->plan); !written.ok())
        return refuse(written, gradcoll::usage_error);
    std::fputs(
        (found + peak_report(scene) + *measured + plan_report(scene, *step, options.policy.rule))
            .c_str(),
        stdout);
    return 0;
}

int smallest(const Options& options, const Subject& subject) {
    const auto& [inputs, scene, found] = subject;
    static constexpr std::array slowdowns = {0.0, 0.01, 0.05, 0.2};
    std::vector<RuleRows> rows;
    Policy policy = options.policy;
    gradcoll::ProgressLine progress("gradcoll move", static_cast<double>(options.rules.size()),
                                    gradcoll::ProgressLine::Shown::on_terminal);
    for (const Rule rule : options.rules) {
        policy.rule = rule;
        const std::string what = fmt::format("smallest memory by the rule {}", name_of(rule));
        progress.begin(what);
        rows.push_back(
            {rule, smallest_memory(scene.program, scene.rooms, policy, slowdowns, [&](double part) {
                 progress.add(part);
                 progress.begin(what);
             })});
    }
    progress.clear();
    std::fputs((found + smallest_report(scene, rows)).c_str(), stdout);
    return 0;
}

int layers(const Subject& subject) {
    const Description& described = subject.scene.description;
    const auto rows = layers_on_device(described.model, described.parallel, described.cluster);
    if (!rows.ok()) return refuse(rows.status(), gradcoll::usage_error);
    const std::string report = layers_report(described.model, described.parallel, *rows);
    std::fputs((subject.found + report).c_str(), stdout);
    return 0;
}

int check(const Options& options) {
    const auto text = gradcoll::read_file(options.plan);
    if (!text.ok())
        return refuse({Code::io, "--check " + text.status().message()}, gradcoll::usage_error);
    const auto document = document_of_text(options.plan, *text);
    if (!document.ok()) return refuse(document.status(), gradcoll::usage_error);
    const auto inputs = inputs_of_plan(*document);
    if (!inputs.ok()) return refuse(inputs.status(), gradcoll::usage_error);
    const auto scene = scene_of(*inputs);
    if (!scene.ok()) return refuse(scene.status(), gradcoll::usage_error);
    const auto plan = plan_of(*document);
    if (!plan.ok()) return refuse(plan.status(), gradcoll::usage_error);
    if (const Status right = check_plan(scene->program, scene->rooms, *plan); !right.ok())
        return refuse(right, failure);
    std::size_t moves = 0;
    for (const RankMoves& rank : plan->ranks) moves += rank.moves.size();
    fmt::print("{}: right: {} ranks, {} moves\n", options.plan, plan->ranks.size(), moves);
    return 0;
}

int body(int argc, char** argv) {
    const auto line = parse_command_line(argc, argv);
    if (!line.run) {
        print(line);
        return line.exit_status;
    }
    if (line.options.mode == Mode::check) return check(line.options);
    const auto subject = read_subject(line.options);
    if (!subject.ok()) return refuse(subject.status(), gradcoll::usage_error);
    if (line.options.mode == Mode::smallest) return smallest(line.options, *subject);
    return line.options.mode == Mode::layers ? layers(*subject) : plan(line.options, *subject);
}

}  // namespace
}  // namespace gradcoll::move

int main(int argc, char** argv) {
    return gradcoll::guarded("gradcoll move", gradcoll::move::body, argc, argv);
}
