// tests/mover/exact_test.cpp - how far plans of tiny steps are from the best that there is: all
// selections of gaps, each coming back at any operator, and tensors at home or not. The bound is
// never above it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mover/analysis/memory.hpp"
#include "mover/analysis/timeline.hpp"
#include "mover/plan/carry_out.hpp"
#include "mover/plan/planner.hpp"
#include "mover/plan/planner_parts.hpp"
#include "mover/random_steps.hpp"

namespace gradcoll::mover {
namespace {

/// Exact tries everything for one rank, and gives up a selection as soon as it cannot be best.
class Exact {
  public:
    Exact(const Program& program, const Rooms& rooms, const MovableKinds& kinds)
        : rank_(program.ranks[0]),
          lane_(rooms.ranks[0].lane),
          kinds_(kinds),
          carry_out_(program, rooms) {}

    /// Returns nothing if there is no plan, or if more than `most` choices would have to be tried.
    std::optional<Tick> best(std::size_t most) {
        const Homes states = may_live_in_host(rank_, kinds_);
        if (states.size() > 3) return {};
        for (std::size_t selection = 0; selection < (std::size_t{1} << states.size());
             ++selection) {
            Homes homes;
            for (std::size_t n = 0; n < states.size(); ++n)
                if ((selection >> n & 1U) != 0) homes.push_back(states[n]);
            std::sort(homes.begin(), homes.end());
            gaps_ = gaps_of(rank_, lane_, kinds_, homes);
            double count = 1;
            for (const Gap& gap : gaps_) count *= gap.need - gap.after + 1 + ahead_of(gap);
            if (count > static_cast<double>(most)) return {};
            choice_.clear();
            try_from(0);
        }
        return best_ == none ? std::nullopt : std::optional(best_);
    }

  private:
    static constexpr Tick none = std::numeric_limits<Tick>::max();

    void try_from(std::size_t g) {
        if (g == gaps_.size()) {
            if (const auto step = carry_out_.step({choice_}, best_)) best_ = *step;
            return;
        }
        const Gap& gap = gaps_[g];
        if (!gap.must()) try_from(g + 1);
        const std::int32_t first = std::max(gap.after, gap.in_host) + 1;
        for (std::int32_t back = first; back <= (gap.prefetches() ? gap.need : first); ++back)
            try_with(g, back);
        for (std::int32_t n = 0; n < ahead_of(gap); ++n) try_with(g, last_use_of(gap) + 1 + n);
    }
    void try_with(std::size_t g, std::int32_t back) {
        choice_.push_back({gaps_[g], back});
        try_from(g + 1);
        choice_.pop_back();
    }

    std::int32_t last_use_of(const Gap& gap) const {
        return rank_.tensors[static_cast<std::size_t>(gap.tensor)].uses.back();
    }
    /// Returns at how many operators of the step before the tensor may come back.
    std::int32_t ahead_of(const Gap& gap) const {
        return gap.part == GapPart::head
                   ? static_cast<std::int32_t>(rank_.operators.size()) - last_use_of(gap)
                   : 0;
    }

    const RankProgram& rank_;
    Lane lane_;
    MovableKinds kinds_;
    CarryOut carry_out_;
    std::vector<Gap> gaps_;
    RankChoice choice_;
    Tick best_ = none;
};

Description tiny(Chance& chance) {
    Description out = random_description(chance);
    Parallel& parallel = out.parallel;
    parallel = {.micro_batches = from_to(chance, 1, 2), .schedule = ScheduleKind::gpipe};
    auto& layers = std::get<std::vector<ListedLayer>>(out.model.body);
    layers.resize(std::min<std::size_t>(layers.size(), 3));
    for (ListedLayer& layer : layers) {
        layer.kept.resize(std::min<std::size_t>(layer.kept.size(), 1));
        layer.times.forward_us += 1;
    }
    return out;
}

TEST(Exact, TinyPlansAreNearTheBestThatThereIs) {
    double logs = 0, worst = 1, bound_logs = 0;
    int compared = 0, waited = 0, bound_is_met = 0;
    for (std::uint64_t seed = 0; compared < 300; ++seed) {
        ASSERT_LT(seed, 20'000U);
        Chance chance(seed);
        const Description description = tiny(chance);
        const auto program = program_of(description);
        ASSERT_TRUE(program.ok()) << program.status().message();
        const std::int64_t peak = peak_of(memory_of(program->ranks[0])).bytes;
        const auto rooms = rooms_of(description, *program, peak * from_to(chance, 50, 95) / 100);
        if (!rooms.ok() || peak == 0) continue;
        const MovableKinds kinds{.optimizer = from_to(chance, 0, 1) == 1, .least_bytes = 1};
        const auto step = plan_moves(*program, *rooms, kinds);
        if (step.ok() && step->slowdown() == 0) continue;
        const auto best = Exact(*program, *rooms, kinds).best(60'000);
        if (!best) continue;
        ASSERT_TRUE(step.ok()) << "seed " << seed << ": " << step.status().message();
        const double ratio =
            static_cast<double>(step->plan.step_ticks) / static_cast<double>(*best);
        ASSERT_GE(ratio, 1) << "seed " << seed;
        ASSERT_GE(*best, step->shortest_ticks) << "seed " << seed;
        logs += std::log(ratio);
        bound_logs +=
            std::log(static_cast<double>(*best) / static_cast<double>(step->shortest_ticks));
        worst = std::max(worst, ratio);
        ++compared;
        waited += *best > step->unmoved_ticks ? 1 : 0;
        // The bound leaves out latencies and what times are rounded up by.
        bound_is_met +=
            *best > step->unmoved_ticks && *best - step->shortest_ticks <= *best / 100 ? 1 : 0;
    }
    EXPECT_LE(std::exp(logs / compared), 1.005);
    EXPECT_LE(worst, 1.1);
    EXPECT_GT(waited, 100);
    EXPECT_GT(bound_is_met, 40);
    RecordProperty("mean", std::to_string(std::exp(logs / compared)));
    RecordProperty("worst", std::to_string(worst));
    std::printf(
        "mean %.4f, worst %.4f of %d; %d wait, %d of them nearly as the bound says; the "
        "best are beyond it by %.4f\n",
        std::exp(logs / compared), worst, compared, waited, bound_is_met,
        std::exp(bound_logs / compared));
}

/// Makes a step of two layers, which keep what is said, and a link that carries a byte in a tick.
std::pair<Program, Rooms> two_layers(const std::vector<std::int64_t>& first, std::int64_t second,
                                     std::int64_t device_bytes) {
    RankProgram rank;
    for (std::int32_t n = 0; n < 4; ++n)
        rank.operators.push_back({.kind = n < 2 ? OperatorKind::forward : OperatorKind::backward,
                                  .layer = std::min(n, 3 - n),
                                  .duration = 10});
    for (const std::int64_t bytes : first)
        rank.tensors.push_back({.layer = 0, .micro_batch = 0, .bytes = bytes, .uses = {0, 3}});
    rank.tensors.push_back({.layer = 1, .micro_batch = 0, .bytes = second, .uses = {1, 2}});
    Rooms rooms;
    rooms.ranks.push_back({device_bytes, {ticks_per_second, 0}});
    return {Program{{"a", "b"}, {"kept"}, {std::move(rank)}}, std::move(rooms)};
}

TEST(Bound, WhatIsMissingCrossesTheLinkOutAndThenBack) {
    const auto [program, rooms] = two_layers({100}, 100, 100);
    const MovableKinds kinds{.least_bytes = 1};
    EXPECT_EQ(10 + 100 + 20 + 100 + 10, shortest_step(program, rooms, kinds));
    EXPECT_EQ(std::optional<Tick>(240), Exact(program, rooms, kinds).best(1000));
}

TEST(Bound, WholeTensorsMove) {
    const auto [program, rooms] = two_layers({60, 70}, 100, 165);
    const MovableKinds kinds{.least_bytes = 1};
    EXPECT_EQ(10 + 70 + 20 + 70 + 10, shortest_step(program, rooms, kinds));
    EXPECT_EQ(std::optional<Tick>(180), Exact(program, rooms, kinds).best(1000));
}

}  // namespace
}  // namespace gradcoll::mover
