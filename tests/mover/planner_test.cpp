// tests/mover/planner_test.cpp - whatever there is more of, no plan gets slower: kinds that may
// move, memory of devices and hosts, bytes a second of the link. The checker, which does not know
// how plans are made, accepts them, and none is shorter than the bound.
#include <gtest/gtest.h>

#include <array>

#include "mover/analysis/memory.hpp"
#include "mover/check/check.hpp"
#include "mover/files/inputs.hpp"
#include "mover/plan/planner.hpp"
#include "mover/plan/planner_parts.hpp"
#include "mover/random_steps.hpp"

namespace gradcoll::mover {
namespace {

MovableKinds kinds_of(std::int64_t bits) {
    return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0, 1};
}

/// A Budget is what a step is planned for.
struct Budget {
    Rooms rooms;
    MovableKinds kinds;
};

/// Compares plans of a model for two budgets.
class Pairs {
  public:
    void compare(const Program& program, const Budget& less, const Budget& more,
                 const Effort& effort, const std::string& what) {
        const auto before = plan_moves(program, less.rooms, less.kinds, effort);
        const auto after = plan_moves(program, more.rooms, more.kinds, effort);
        if (after.ok()) check(program, more, *after, what);
        // There is a plan, or it is clear what there is too little of.
        const std::string why = after.ok() ? "host_memory" : after.status().message();
        ASSERT_TRUE(why.find("with all away that may be") != std::string::npos ||
                    why.find("host_memory") != std::string::npos)
            << what << ": " << why;
        if (!before.ok()) return;
        ASSERT_TRUE(after.ok()) << what << ": " << after.status().message();
        ASSERT_LE(after->plan.step_ticks, before->plan.step_ticks) << what;
        ++compared;
        shorter += after->plan.step_ticks < before->plan.step_ticks ? 1 : 0;
        waited += before->slowdown() > 0 ? 1 : 0;
    }

    int compared = 0, shorter = 0, waited = 0;

  private:
    static void check(const Program& program, const Budget& budget, const PlannedStep& step,
                      const std::string& what) {
        const Status right = check_plan(program, budget.rooms, step.plan);
        ASSERT_TRUE(right.ok()) << what << ": " << right.message();
        ASSERT_GE(step.plan.step_ticks, step.shortest_ticks) << what;
        ASSERT_GE(step.shortest_ticks, step.unmoved_ticks) << what;
    }
};

/// Returns activations, the optimizer's states or both, as a rule; a plan of all kinds takes
/// longest.
MovableKinds some_kinds(Chance& chance) {
    static constexpr std::array<std::int64_t, 3> usual = {1, 8, 9};
    return kinds_of(from_to(chance, 0, 9) == 0
                        ? from_to(chance, 1, 15)
                        : usual[static_cast<std::size_t>(from_to(chance, 0, 2))]);
}

Budget some_budget(const Description& description, const Program& program, Chance& chance) {
    std::int64_t peak = 1;
    for (const RankProgram& rank : program.ranks)
        peak = std::max(peak, peak_of(memory_of(rank)).bytes);
    const std::int64_t device = std::max<std::int64_t>(1, peak * from_to(chance, 30, 99) / 100);
    Budget budget{rooms_of(description, program, device).value(), kinds_of(from_to(chance, 1, 15))};
    for (Sharing& host : budget.rooms.hosts) host.most = from_to(chance, 1, 8) * peak;
    budget.rooms.move_ticks = from_to(chance, 0, 3) == 0 ? 1000 : 0;
    return budget;
}

void add_something(Budget& budget, std::int64_t what, Chance& chance) {
    const double factor = 1 + static_cast<double>(from_to(chance, 1, 100)) / 100;
    const auto raise = [&](std::int64_t& value) {
        value = static_cast<std::int64_t>(static_cast<double>(value) * factor) + 1;
    };
    if (what == 0) {
        const MovableKinds more = some_kinds(chance);
        for (bool MovableKinds::*kind : {&MovableKinds::activations, &MovableKinds::parameters,
                                         &MovableKinds::gradients, &MovableKinds::optimizer})
            budget.kinds.*kind = budget.kinds.*kind || more.*kind;
    } else if (what == 1) {
        const std::int64_t more = from_to(chance, 1, budget.rooms.ranks[0].device_bytes);
        for (RankRoom& room : budget.rooms.ranks) room.device_bytes += more;
    } else if (what == 2) {
        for (Sharing& host : budget.rooms.hosts) raise(host.most);
    } else {
        for (RankRoom& room : budget.rooms.ranks) raise(room.lane.bytes_per_second);
        for (Sharing& rate : budget.rooms.rates) rate.most = most_bytes;
    }
}

/// Plans `models` steps for two budgets each, of which the second has more of something.
template <class EffortOf>
void expect_that_more_never_costs(std::uint64_t models, EffortOf&& effort_of) {
    static constexpr std::array names = {"kinds", "device memory", "host memory", "link"};
    std::array<Pairs, names.size()> pairs;
    for (std::uint64_t seed = 0; seed < models; ++seed) {
        Chance chance(seed);
        const Description description = random_description(chance);
        const auto program = program_of(description);
        ASSERT_TRUE(program.ok()) << program.status().message();
        const Budget less = some_budget(description, *program, chance);
        const auto what = static_cast<std::size_t>(from_to(chance, 0, 3));
        Budget more = less;
        add_something(more, static_cast<std::int64_t>(what), chance);
        ASSERT_NO_FATAL_FAILURE(
            pairs[what].compare(*program, less, more, effort_of(*program),
                                "seed " + std::to_string(seed) + ", more " + names[what]));
    }
    const int all = static_cast<int>(models);
    for (std::size_t what = 0; what < names.size(); ++what) {
        EXPECT_GT(pairs[what].compared, all / 12) << names[what];
        EXPECT_GT(pairs[what].waited, all / 40) << names[what];
        testing::Test::RecordProperty(names[what], pairs[what].shorter);
    }
}

TEST(Planner, MoreOfAnythingNeverCostsInTenThousandModelsByChance) {
    expect_that_more_never_costs(10'000, effort_for);
}

TEST(Planner, MoreOfAnythingNeverCostsWithTheEffortForLongSteps) {
    expect_that_more_never_costs(1'000,
                                 [](const Program&) { return Effort::for_long_steps(30'000); });
}

/// Returns a step of four pipeline ranks on hosts with so much memory.
Scene four_ranks(const char* host_memory, bool both_ways = true) {
    Inputs inputs;
    inputs.model.json = {{"transformer",
                          {{"layers", 24},
                           {"hidden", 2048},
                           {"heads", 16},
                           {"kv_heads", 8},
                           {"feedforward", 5632},
                           {"vocabulary", 32000},
                           {"sequence", 2048},
                           {"gated", true},
                           {"biases", false},
                           {"dropout", false}}}};
    inputs.parallel.json = {{"data", 2}, {"tensor", 2}, {"pipeline", 4}, {"micro_batches", 8}};
    inputs.cluster.json = {{"devices_per_host", 8},
                           {"device_memory", "4400MiB"},
                           {"host_memory", host_memory},
                           {"device_tflops", 312},
                           {"device_memory_gbytes_per_s", 1555},
                           {"link_gbytes_per_s", 25},
                           {"link_both_ways", both_ways},
                           {"devices_per_link", 2}};
    auto scene = scene_of(inputs);
    EXPECT_TRUE(scene.ok()) << scene.status().message();
    return std::move(scene).value();
}

std::size_t moves_of(const PlannedStep& step) {
    std::size_t most = 0;
    for (const RankMoves& rank : step.plan.ranks) most = std::max(most, rank.moves.size());
    return most;
}

TEST(Planner, MovesThatCostTheProgramTimeAreFewer) {
    Scene scene = four_ranks("512GiB");
    for (RankRoom& room : scene.rooms.ranks) room.device_bytes = std::int64_t{4800} << 20;
    const auto free = plan_moves(scene.program, scene.rooms, {.optimizer = false});
    ASSERT_TRUE(free.ok()) << free.status().message();
    scene.rooms.move_ticks = 1'000'000;
    const auto dear = plan_moves(scene.program, scene.rooms, {.optimizer = false});
    ASSERT_TRUE(dear.ok()) << dear.status().message();
    EXPECT_LT(moves_of(*dear), moves_of(*free));
    EXPECT_GE(dear->plan.step_ticks,
              dear->unmoved_ticks + 1'000'000 * static_cast<Tick>(moves_of(*dear)));
    EXPECT_LT(dear->plan.step_ticks,
              free->plan.step_ticks + 1'000'000 * static_cast<Tick>(moves_of(*free)));
    const Status right = check_plan(scene.program, scene.rooms, dear->plan);
    EXPECT_TRUE(right.ok()) << right.message();
}

std::int64_t pinned_by(const Scene& scene, const PlannedStep& step) {
    std::int64_t most = 0;
    for (const Sharing& host : scene.rooms.hosts) most = std::max(most, pinned_in(host, step.plan));
    return most;
}

TEST(Planner, ChoosesWhatTheHostsHaveRoomFor) {
    const Scene wide = four_ranks("512GiB");
    const auto free = plan_moves(wide.program, wide.rooms, {});
    ASSERT_TRUE(free.ok()) << free.status().message();
    const std::int64_t enough = pinned_by(wide, *free);
    ASSERT_GT(enough, 0);
    // A little less than that plan needs leads to another one, not to an error.
    const Scene tight = four_ranks(std::to_string(enough - 4096).c_str());
    const auto other = plan_moves(tight.program, tight.rooms, {});
    ASSERT_TRUE(other.ok()) << other.status().message();
    EXPECT_LT(pinned_by(tight, *other), enough);
    EXPECT_TRUE(check_plan(tight.program, tight.rooms, other->plan).ok());
    const Scene none = four_ranks("1MiB");
    const auto refused = plan_moves(none.program, none.rooms, {});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(Code::out_of_memory, refused.status().code());
    EXPECT_NE(std::string::npos, refused.status().message().find("host_memory: what moves takes"))
        << refused.status().message();
}

TEST(Planner, OneWayAtATimeIsPlannedAtTheFullRateOfTheLink) {
    const Scene both = four_ranks("512GiB"), one = four_ranks("512GiB", false);
    EXPECT_EQ(both.rooms.ranks[0].lane.bytes_per_second, one.rooms.ranks[0].lane.bytes_per_second);
    const auto step = plan_moves(one.program, one.rooms, {});
    ASSERT_TRUE(step.ok()) << step.status().message();
    const Status right = check_plan(one.program, one.rooms, step->plan);
    ASSERT_TRUE(right.ok()) << right.message();
    for (const RankMoves& rank : step->plan.ranks)
        for (const Move& out : rank.moves)
            for (const Move& in : rank.moves)
                EXPECT_TRUE(in.prefetch.start >= out.transfer.end ||
                            in.prefetch.end <= out.transfer.start);
}

}  // namespace
}  // namespace gradcoll::mover
