// move/reports.cpp - see reports.hpp.
#include "reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "mover/analysis/memory.hpp"
#include "mover/check/check.hpp"

namespace gradcoll::move {
namespace {

using namespace gradcoll::mover;

std::string bytes_of(std::int64_t bytes) {
    return gradcoll::bytes_text(static_cast<std::uint64_t>(bytes));
}

std::string time_of(Tick ticks) {
    return gradcoll::seconds_text(static_cast<double>(ticks) / ticks_per_second);
}

struct RankFigures {
    std::int64_t moved = 0;    ///< bytes, one way
    std::int64_t at_home = 0;  ///< bytes of the tensors that live in the host
    Tick least_slack = 0;      ///< between a prefetch's end and its need
    Tick moving = 0;           ///< both ways
};

RankFigures figures_of(const RankProgram& rank, const RankMoves& moves, Tick step_ticks) {
    RankFigures out;
    for (const Move& move : moves.moves) {
        const Tick slack = slack_of(moves, move, step_ticks);
        out.least_slack = out.moved == 0 ? slack : std::min(out.least_slack, slack);
        const std::int64_t bytes = rank.tensors[static_cast<std::size_t>(move.tensor)].bytes;
        out.moved += bytes;
        if (move.lives_in_host()) out.at_home += bytes;
        out.moving +=
            move.transfer.end - move.transfer.start + move.prefetch.end - move.prefetch.start;
    }
    return out;
}

std::int64_t most_pinned(const Rooms& rooms, const MovePlan& plan) {
    std::int64_t most = 0;
    for (const Sharing& host : rooms.hosts) most = std::max(most, pinned_in(host, plan));
    return most;
}

/// Returns what images samples have, and why there are none, of a model that reads some.
std::string images_text(const Model& model, const Parallel& parallel) {
    const auto images = images_of(model, parallel);
    if (!model.tower || !images.ok()) return {};
    const std::string one =
        fmt::format("{} x {} pixels and {} tokens", images->width, images->height, images->tokens);
    if (images->count > 0)
        return fmt::format("each sample has {} image{} of {}\n\n", images->count,
                           images->count == 1 ? "" : "s", one);
    if (parallel.images == 0) return "samples have no images\n\n";
    if (images->tokens > 0)
        return fmt::format("samples have no images: one of {} has no room there\n\n", one);
    if (images->patches > 0)
        return fmt::format("samples have no images: {} patches do not make the model's tokens\n\n",
                           images->patches);
    return "samples have no images: nothing says how large they are (image_size in --parallel)\n\n";
}

/// Returns lines that say what is not simulated, if there is such, and what images there are.
std::string left_out_of(const Model& model, const Parallel& parallel) {
    return (model.left_out.empty() ? std::string() : model.left_out + "\n\n") +
           images_text(model, parallel);
}

std::int64_t kept_by(const DeviceLayer& layer) {
    std::int64_t bytes = 0;
    for (const LayerPart& part : layer.parts)
        for (const KeptPart& kept : part.kept) bytes += kept.bytes;
    return bytes;
}

/// Returns what layers from the first to the last, which are alike, have each.
std::string layers_text(const DeviceLayer& first, const DeviceLayer& last) {
    Tick forward = 0, backward = 0;
    std::string parts;
    for (const LayerPart& part : first.parts) {
        forward += part.forward;
        backward += part.backward;
        parts += "  " + part.name;
        for (std::size_t k = 0; k < part.kept.size(); ++k)
            fmt::format_to(std::back_inserter(parts), "{} {} {}", k == 0 ? ":" : ",",
                           part.kept[k].name, part.kept[k].bytes);
        parts += "\n";
    }
    return fmt::format("{}{}: {} parameters, keeps {} bytes, forward {}, backward {}\n{}",
                       first.name, &first == &last ? "" : " to " + last.name, first.parameters,
                       kept_by(first), time_of(forward), time_of(backward), parts);
}

/// Returns what a rule has counted; nothing for ours.
std::string counted_text(Rule rule, std::int64_t counted) {
    if (rule == Rule::ours) return {};
    const bool counts_tensors = rule == Rule::torchtune || rule == Rule::deepspeed;
    return fmt::format("{} {}", counted,
                       rule == Rule::te ? "layers"
                       : counts_tensors ? "tensors"
                                        : "modules");
}

}  // namespace

std::string plan_report(const Scene& scene, const PlannedStep& step, Rule rule) {
    const Rooms& rooms = scene.rooms;
    const std::vector<std::int64_t> after = peaks_of(scene.program, step.plan);
    const std::int64_t pinned = most_pinned(rooms, step.plan);
    std::string text =
        rule == Rule::ours
            ? std::string()
            : fmt::format(
                  "by the rule of {}: {} of each {}\n", name_of(rule),
                  counted_text(rule, step.counted),
                  rule == Rule::te || rule == Rule::megatron ? "rank move" : "micro-batch stay");
    text += fmt::format(
        "step: {} with everything in the device, {} with moves: {:.2f} % slower\n"
        "no moves of these kinds have a step of less than {}: this one is {:.2f} % longer\n"
        "a device may hold {}; a host pins {} of {}; a device's share of its link is {}/s {}\n\n"
        "{:>5}{:>13}{:>13}{:>13}{:>9}{:>15}{:>13}{:>11}{:>13}\n",
        time_of(step.unmoved_ticks), time_of(step.plan.step_ticks), 100 * step.slowdown(),
        time_of(step.shortest_ticks), 100 * step.beyond_shortest(),
        bytes_of(rooms.ranks.front().device_bytes), bytes_of(pinned),
        bytes_of(scene.description.cluster.host_memory),
        bytes_of(rooms.ranks.front().lane.bytes_per_second),
        rooms.ranks.front().one_way_at_a_time ? "one way at a time" : "each way", "rank",
        "peak before", "peak after", "moved", "moves", "lives in host", "pool", "slack",
        "link busy");
    for (std::size_t r = 0; r < after.size(); ++r) {
        const RankMoves& moves = step.plan.ranks[r];
        const RankFigures figures = figures_of(scene.program.ranks[r], moves, step.plan.step_ticks);
        const double busy =
            static_cast<double>(figures.moving) / (2 * static_cast<double>(step.plan.step_ticks));
        fmt::format_to(std::back_inserter(text),
                       "{:>5}{:>13}{:>13}{:>13}{:>9}{:>15}{:>13}{:>11}{:>11.1f} %\n", r,
                       bytes_of(peak_of(memory_of(scene.program.ranks[r])).bytes),
                       bytes_of(after[r]), bytes_of(figures.moved), moves.moves.size(),
                       bytes_of(figures.at_home), bytes_of(moves.pool_bytes),
                       moves.moves.empty() ? "-" : time_of(figures.least_slack), 100 * busy);
    }
    return text +
           "\nThe plan was checked: no operator runs before its data are there, no device, "
           "link or host is over its capacity.\n";
}

std::string peak_report(const Scene& scene) {
    std::string text = left_out_of(scene.description.model, scene.description.parallel) +
                       "At the peak of each rank, with nothing moved:\n\n" +
                       fmt::format("{:>5}", "rank");
    for (int kind = 0; kind < memory_kinds; ++kind)
        text += fmt::format("{:>13}", name_of(static_cast<MemoryKind>(kind)));
    text += "  while it runs\n";
    for (std::size_t r = 0; r < scene.program.ranks.size(); ++r) {
        const RankProgram& rank = scene.program.ranks[r];
        const MemoryPeak peak = peak_of(memory_of(rank));
        text += fmt::format("{:>5}", r);
        for (const std::int64_t bytes : peak.by_kind)
            text += fmt::format("{:>13}", bytes_of(bytes));
        text += "  " + label_of(scene.program, rank.operators[static_cast<std::size_t>(peak.at)]) +
                "\n";
    }
    return text + "\n";
}

std::string layers_report(const Model& model, const Parallel& parallel,
                          const std::vector<DeviceLayer>& layers) {
    std::string text = left_out_of(model, parallel) + "On one device, of one micro-batch:\n\n";
    std::int64_t parameters = 0, kept = 0;
    for (const DeviceLayer& layer : layers) {
        parameters += layer.parameters;
        kept += kept_by(layer);
    }
    for (std::size_t l = 0; l < layers.size();) {
        std::size_t end = l + 1;
        while (end < layers.size() && layers[end].parts == layers[l].parts &&
               layers[end].parameters == layers[l].parameters)
            ++end;
        text += layers_text(layers[l], layers[end - 1]);
        l = end;
    }
    return text + fmt::format("\n{} layers: {} parameters, {} bytes kept\n", layers.size(),
                              parameters, kept);
}

std::string smallest_report(const Scene& scene, const std::vector<RuleRows>& rules) {
    std::int64_t peak = 0;
    for (const RankProgram& rank : scene.program.ranks)
        peak = std::max(peak, peak_of(memory_of(rank)).bytes);
    std::string text =
        left_out_of(scene.description.model, scene.description.parallel) +
        fmt::format(
            "With nothing moved the fullest device holds {}. The smallest memory found, to {}:\n\n"
            "{:>12}{:>10}{:>16}{:>14}\n",
            bytes_of(peak), bytes_of(peak / 200), "slower by", "rule", "device memory",
            "slower there");
    const std::size_t slowdowns = rules.front().rows.size();
    for (std::size_t n = 0; n < slowdowns; ++n)
        for (const auto& [rule, rows] : rules)
            fmt::format_to(std::back_inserter(text), "{:>10.0f} %{:>10}{:>16}{:>12.2f} %{}{}\n",
                           100 * rows[n].slowdown, name_of(rule), bytes_of(rows[n].device_bytes),
                           100 * rows[n].slowdown_there, rule == Rule::ours ? "" : "  ",
                           counted_text(rule, rows[n].counted));
    return text;
}

std::string measured_report(const Scene& scene, const std::string& path,
                            const MeasuredPeak& measured) {
    MemoryPeak ours;
    for (const RankProgram& rank : scene.program.ranks)
        if (const MemoryPeak peak = peak_of(memory_of(rank)); peak.bytes > ours.bytes) ours = peak;
    std::int64_t of_step = ours.bytes;
    for (const MemoryKind kind :
         {MemoryKind::parameters, MemoryKind::gradients, MemoryKind::optimizer})
        of_step -= ours.by_kind[static_cast<std::size_t>(kind)];
    const auto line = [](const char* what, std::int64_t theirs, std::int64_t simulated) {
        const double error =
            theirs > 0 ? static_cast<double>(simulated - theirs) / static_cast<double>(theirs) : 0;
        return fmt::format("  {:<52}{:>10} measured, {:>10} simulated: {:+.2f} %\n", what,
                           bytes_of(theirs), bytes_of(simulated), 100 * error);
    };
    return fmt::format("\nPeak of {}, {} after it began:\n", path,
                       gradcoll::seconds_text(measured.after_us * 1e-6)) +
           line("in all", measured.bytes, ours.bytes) +
           line("beyond parameters, gradients and optimizer", measured.of_step, of_step) +
           (measured.of_step_in.empty() ? std::string()
                                        : fmt::format("  (the latter was measured in {})\n",
                                                      printable(measured.of_step_in)));
}

}  // namespace gradcoll::move
