// gradcoll plan - shows what would be planned for a tree and a call: checked plans, bytes on links,
// predicted times. It needs neither mpirun nor the machine of the tree.
#include <fmt/format.h>

#include <cstdio>

#include "collectives/build/planner.hpp"
#include "options.hpp"
#include "reports.hpp"
#include "subject.hpp"
#include "topology/draw/draw.hpp"
#include "topology/text.hpp"

namespace gradcoll::plan {
namespace {

constexpr int failure = 1;

/// Returns usage_error for what the user wrote, and failure for a plan that is wrong.
int exit_status_of(const Status& status) {
    return status.code() == Code::internal ? failure : usage_error;
}

Result<std::string> steps_of(const Subject& subject, int rank) {
    const Result<Plan> plan = make_plan(subject.tree, subject.decision.spec, rank);
    if (plan.ok()) return plan->to_text();
    return Status(plan.status().code(), fmt::format("--text: {}", plan.status().message()));
}

/// Draws the tree with where it came from, and what was assumed. JSON is the tree alone, so that it
/// can be read back; assumptions then go to stderr.
std::string drawing_of(const Subject& subject, Drawing form) {
    const std::string from = fmt::format("from: {}", subject.origin);
    gradcoll::DotAdditions additions{{from}, nullptr, {}};
    std::string lines = from + "\n";
    for (const std::string& note : subject.notes) {
        additions.heading.push_back("assumed: " + note);
        lines += additions.heading.back() + "\n";
    }
    switch (form) {
        case Drawing::json:
            for (const std::string& note : subject.notes)
                fmt::print(stderr, "gradcoll plan: assumed: {}\n", note);
            return json_of(subject.tree);
        case Drawing::dot:
            return draw_dot(subject.tree, additions);
        case Drawing::text:
            break;
    }
    return draw_text(subject.tree) + lines;
}

Result<std::string> answer_to(const Options& options) {
    const Result<Subject> subject = subject_of(options);
    if (!subject.ok()) return subject.status();
    switch (options.mode) {
        case Mode::draw:
            return drawing_of(*subject, options.drawing);
        case Mode::links:
            return link_report(*subject, options.json);
        case Mode::text:
            return steps_of(*subject, options.text_rank);
        case Mode::what_if:
            return what_if_report(*subject, options);
        case Mode::check:
            break;
    }
    return check_report(*subject, options);
}

int run(const Options& options) {
    const Result<std::string> answer = answer_to(options);
    if (!answer.ok()) {
        fmt::print(stderr, "gradcoll plan: {}\n", answer.status().message());
        return exit_status_of(answer.status());
    }
    std::fputs(answer->c_str(), stdout);
    return 0;
}

int body(int argc, char** argv) {
    const CommandLine line = parse_command_line(argc, argv);
    if (line.run) return run(line.options);
    print(line);
    return line.exit_status;
}

}  // namespace
}  // namespace gradcoll::plan

int main(int argc, char** argv) {
    return gradcoll::guarded("gradcoll plan", gradcoll::plan::body, argc, argv);
}
