// plan/check_report.cpp - reports on plans of some ranks: what they cost, what they hold,
// whether they are right.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <unordered_set>
#include <vector>

#include "base/text.hpp"
#include "collectives/build/planner.hpp"
#include "collectives/verify/verify.hpp"
#include "reports.hpp"

namespace gradcoll::plan {
namespace {

/// A Sample is a rank whose plan is checked.
struct Sample {
    int rank = 0;
    std::string why;  ///< "first", "smallest branches", "random", ...
};

/// Goes down from the root, always to the branch for which `measure` is largest (the first of equal
/// ones).
template <class Measure>
int descend(const Tree& tree, Measure measure) {
    int vertex = tree.root();
    while (!tree.is_leaf(vertex)) {
        const auto children = tree.children(vertex);
        vertex = *std::ranges::max_element(children, {},
                                           [&](int child) { return measure(tree.vertex(child)); });
    }
    return tree.vertex(vertex).rank;
}

/// Returns at most `count` different ranks, all if there are no more: the first, the last, those
/// that the smallest, the largest and the deepest branch at every vertex lead to, then random ones,
/// which depend only on the seed.
std::vector<Sample> samples_of(const Tree& tree, int count, std::int64_t seed) {
    const int most = std::min(count, tree.rank_count());
    std::vector<Sample> samples;
    std::unordered_set<int> taken;
    const auto take = [&](int rank, const char* why) {
        if (static_cast<int>(samples.size()) < most && taken.insert(rank).second)
            samples.push_back({rank, why});
    };
    take(0, "first");
    take(tree.rank_count() - 1, "last");
    take(descend(tree, [](const Vertex& v) { return -v.leaf_count; }), "smallest branches");
    take(descend(tree, [](const Vertex& v) { return v.leaf_count; }), "largest branches");
    take(descend(tree, [](const Vertex& v) { return v.height; }), "deepest branches");
    if (most == tree.rank_count())
        for (int rank = 0; rank < most; ++rank) take(rank, "all");
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    while (static_cast<int>(samples.size()) < most)
        take(static_cast<int>(random() % static_cast<std::uint64_t>(tree.rank_count())), "random");
    return samples;
}

/// LevelSums counts what a rank does at one level of the tree, in one call.
struct LevelSums {
    std::uint64_t messages = 0;  ///< messages sent
    std::uint64_t bytes = 0;     ///< bytes sent
    std::uint64_t steps = 0;
};

struct PlannedSample {
    Sample sample;
    double seconds = 0;  ///< time to make the plan
    std::size_t held_bytes = 0;
    std::uint64_t peers = 0;
    LevelSums all;
    std::vector<LevelSums> levels;
};

struct Findings {
    double planner_seconds = 0;  ///< time to check spec and tree, once for all ranks
    std::vector<PlannedSample> samples;
    std::uint64_t peers_checked = 0;
    double check_seconds = 0;
    bool verified = false;  ///< all ranks' plans were proved together
    std::size_t shared_bytes = 0;
};

void add(PlannedSample& sums, const Plan& plan, const Schedule& schedule, std::int64_t times) {
    const auto often = static_cast<std::uint64_t>(times);
    for (const Step& step : schedule.steps) {
        const bool sends = step.kind == StepKind::send;
        const std::uint64_t bytes = sends ? message_bytes(step, schedule, plan.spec.elem_bytes) : 0;
        const auto count_in = [&](LevelSums& sum) {
            sum.steps += often;
            sum.messages += sends ? often : 0;
            sum.bytes += often * bytes;
        };
        count_in(sums.all);
        // The steps of a rank that is alone have no level.
        if (step.level < sums.levels.size()) count_in(sums.levels[step.level]);
    }
}

/// Returns the ranks that the rank sends to or receives from.
std::set<int> peers_of(const Plan& plan) {
    std::set<int> peers;
    for (const Schedule* schedule : {&plan.body, &plan.tail})
        for (const Step& step : schedule->steps)
            if (step.peer >= 0) peers.insert(step.peer);
    return peers;
}

Status look_at(const Planner& planner, const Tree& tree, const Sample& sample, Findings& findings) {
    const double start = cpu_seconds();
    const Result<Plan> plan = planner.plan(sample.rank);
    const double seconds = cpu_seconds() - start;
    if (!plan.ok()) return plan.status();
    PlannedSample planned{sample, seconds, bytes_held(*plan), 0, {}, {}};
    planned.levels.resize(static_cast<std::size_t>(tree.height()));
    const bool has_tail = plan->tail.count_elems > 0;
    add(planned, *plan, plan->body, plan->chunk_count - (has_tail ? 1 : 0));
    add(planned, *plan, plan->tail, 1);

    const double then = cpu_seconds();
    GRADCOLL_TRY(verify_alone(*plan));
    const std::set<int> peers = peers_of(*plan);
    planned.peers = peers.size();
    for (const int peer : peers) {
        const Result<Plan> other = planner.plan(peer);
        if (!other.ok()) return other.status();
        GRADCOLL_TRY(verify_messages(*plan, *other));
    }
    findings.peers_checked += peers.size();
    findings.check_seconds += cpu_seconds() - then;
    findings.samples.push_back(std::move(planned));
    return {};
}

Status verify_all(const Planner& planner, const Tree& tree) {
    std::vector<Plan> plans;
    for (int rank = 0; rank < tree.rank_count(); ++rank) {
        Result<Plan> plan = planner.plan(rank);
        if (!plan.ok()) return plan.status();
        plans.push_back(std::move(*plan));
    }
    return verify(tree, plans);
}

Result<Findings> look(const Subject& subject, const Options& options) {
    const Tree& tree = subject.tree;
    Findings findings;
    const double start = cpu_seconds();
    const Result<Planner> planner = Planner::make(tree, subject.decision.spec);
    findings.planner_seconds = cpu_seconds() - start;
    if (!planner.ok()) return planner.status();
    findings.shared_bytes = subject.decision.spec.choices.size() * sizeof(VertexChoice);
    for (const Sample& sample : samples_of(tree, options.check_ranks, options.seed))
        GRADCOLL_TRY(look_at(*planner, tree, sample, findings));
    findings.verified = options.verify || tree.rank_count() <= most_verified_ranks;
    if (findings.verified) GRADCOLL_TRY(verify_all(*planner, tree));
    return findings;
}

double median_seconds(const Findings& findings) {
    std::vector<double> seconds;
    for (const PlannedSample& sample : findings.samples) seconds.push_back(sample.seconds);
    std::ranges::sort(seconds);
    return seconds[seconds.size() / 2];
}

double most_seconds(const Findings& findings) {
    return std::ranges::max_element(findings.samples, {}, &PlannedSample::seconds)->seconds;
}
std::size_t most_held(const Findings& findings) {
    return std::ranges::max_element(findings.samples, {}, &PlannedSample::held_bytes)->held_bytes;
}

void write_samples(const Findings& findings, std::string& text) {
    auto out = std::back_inserter(text);
    fmt::format_to(out, "{:>8} {:>9} {:>9} {:>7} {:>9} {:>10} {:>9}  {}\n", "rank", "CPU", "memory",
                   "peers", "steps", "messages", "sends", "picked as");
    for (const PlannedSample& s : findings.samples)
        fmt::format_to(out, "{:>8} {:>9} {:>9} {:>7} {:>9} {:>10} {:>9}  {}\n", s.sample.rank,
                       seconds_text(s.seconds), bytes_text(s.held_bytes), s.peers, s.all.steps,
                       s.all.messages, bytes_text(s.all.bytes), s.sample.why);
}

/// Returns the largest figures of the samples at each level.
std::vector<LevelSums> largest_levels(const Findings& findings) {
    std::vector<LevelSums> largest(findings.samples.front().levels.size());
    for (const PlannedSample& sample : findings.samples)
        for (std::size_t i = 0; i < largest.size(); ++i) {
            largest[i].messages = std::max(largest[i].messages, sample.levels[i].messages);
            largest[i].bytes = std::max(largest[i].bytes, sample.levels[i].bytes);
            largest[i].steps = std::max(largest[i].steps, sample.levels[i].steps);
        }
    return largest;
}

std::string text_report(const Subject& subject, const Findings& findings) {
    std::string text = heading_of(subject);
    auto out = std::back_inserter(text);
    fmt::format_to(out,
                   "once: tree read and made in {}, call decided in {}, checked against the tree "
                   "in {}; choices of {} shared by all plans\n",
                   seconds_text(subject.tree_seconds), seconds_text(subject.decision_seconds),
                   seconds_text(findings.planner_seconds), bytes_text(findings.shared_bytes));
    fmt::format_to(out,
                   "plan of a rank: {} of CPU time (median of {}), {} at most; memory {} at most\n",
                   seconds_text(median_seconds(findings)), findings.samples.size(),
                   seconds_text(most_seconds(findings)), bytes_text(most_held(findings)));
    write_samples(findings, text);
    const std::vector<LevelSums> levels = largest_levels(findings);
    for (std::size_t i = 0; i < levels.size(); ++i)
        fmt::format_to(out, "level {}: a rank sends up to {} messages, {}, in {} steps\n", i,
                       levels[i].messages, bytes_text(levels[i].bytes), levels[i].steps);
    fmt::format_to(out, "checked in {}: {}; against each other: {} of a rank and a peer{}\n",
                   seconds_text(findings.check_seconds), counted(findings.samples.size(), "plan"),
                   counted(findings.peers_checked, "pair"),
                   findings.verified ? "; all ranks' plans proved together" : "");
    return text;
}

nlohmann::json json_of(const LevelSums& sums) {
    return {{"messages", sums.messages}, {"bytes", sums.bytes}, {"steps", sums.steps}};
}

nlohmann::json json_of(const PlannedSample& sample) {
    nlohmann::json levels = nlohmann::json::array();
    for (const LevelSums& level : sample.levels) levels.push_back(json_of(level));
    nlohmann::json row = json_of(sample.all);
    row.update({{"rank", sample.sample.rank},
                {"why", sample.sample.why},
                {"seconds", sample.seconds},
                {"held_bytes", sample.held_bytes},
                {"peers", sample.peers},
                {"levels", std::move(levels)}});
    return row;
}

std::string json_report(const Subject& subject, const Findings& findings) {
    nlohmann::json samples = nlohmann::json::array();
    for (const PlannedSample& sample : findings.samples) samples.push_back(json_of(sample));
    const nlohmann::json report = {
        {"tree", json_of_tree(subject)},
        {"call", json_of_call(subject)},
        {"once_seconds",
         {{"tree", subject.tree_seconds},
          {"decision", subject.decision_seconds},
          {"planner", findings.planner_seconds}}},
        {"shared_bytes", findings.shared_bytes},
        {"plan_seconds", {{"median", median_seconds(findings)}, {"max", most_seconds(findings)}}},
        {"plan_held_bytes_max", most_held(findings)},
        {"peers_checked", findings.peers_checked},
        {"check_seconds", findings.check_seconds},
        {"verified_all", findings.verified},
        {"samples", std::move(samples)}};
    return dumped(report);
}

}  // namespace

Result<std::string> check_report(const Subject& subject, const Options& options) {
    const Result<Findings> findings = look(subject, options);
    if (!findings.ok()) return findings.status();
    return options.json ? json_report(subject, *findings) : text_report(subject, *findings);
}

}  // namespace gradcoll::plan
