// Local steps that somebody else runs: the same results, failures and figures as the executor's
// own, and no step that runs after its operation has ended.
#include <atomic>
#include <future>

#include "runtime/spoil.hpp"
#include "runtime/step_pool.hpp"
#include "runtime/thread_ranks.hpp"

namespace gradcoll {
namespace {

constexpr std::int64_t count = 9'001;

Scenario shape_of(CodecId codec) {
    Scenario shape = scenario("((0 (1 2)) 3 (4 5))", count, codec);
    shape.spec.chunk_elems = 2048;
    return shape;
}

/// Runs one rank's part, its local steps in the pool.
Outcome run_in(StepPool& pool, Executor& executor, MakeInput input, std::uint32_t sequence) {
    const Floats in = input(executor.plan().rank, executor.plan().spec.count_elems);
    Outcome outcome{{}, Floats(in.size(), -99.0F)};
    outcome.status = executor.start(binding_of(in, outcome.output, sequence));
    if (outcome.status.ok()) outcome.status = finish_with(executor, pool);
    return outcome;
}

TEST(LocalWork, OnOtherThreadsItGivesTheSameBits) {
    for (const CodecId codec : {CodecId::exact, CodecId::nm_2_4, CodecId::bf16})
        for (const bool paced : {false, true}) {
            Scenario shape = shape_of(codec);
            shape.options.paced = paced;
            const Floats expected = allreduce(shape, dense_input)[0].output;
            StepPool pool(3);
            LoopbackWorld world(6, {.delay_probability = 0.3, .seed = 5});
            std::vector<Outcome> outcomes(6);
            on_all_ranks(world, 6, [&](Channel& channel) {
                const auto executor = make_executor(shape, channel);
                outcomes[static_cast<std::size_t>(channel.rank())] =
                    run_in(pool, *executor, dense_input, 0);
            });
            expect_all_equal(outcomes, expected);
        }
}

/// One thread a rank owns two executors; all share the pool.
TEST(LocalWork, OfSeveralExecutorsSharesThreads) {
    StepPool pool(2);
    LoopbackWorld world(6);
    on_all_ranks(world, 6, [&](Channel& channel) {
        const auto first = make_executor(shape_of(CodecId::exact), channel);
        const auto second = make_executor(shape_of(CodecId::exact), channel);
        const Floats sparse = sparse_input(channel.rank(), count);
        const Floats whole = whole_input(channel.rank(), count);
        Floats sparse_sum(count), whole_sum(count);
        ASSERT_TRUE(first->start(binding_of(sparse, sparse_sum, 0)).ok());
        ASSERT_TRUE(second->start(binding_of(whole, whole_sum, 1)).ok());
        Progress one = Progress::idle, two = Progress::idle;
        while (one != Progress::complete || two != Progress::complete) {
            one = *turn_with(*first, pool);
            two = *turn_with(*second, pool);
            std::this_thread::yield();
        }
        EXPECT_EQ(sparse_sum, sum_of_all(sparse_input, 6, count));
        EXPECT_EQ(whole_sum, sum_of_all(whole_input, 6, count));
    });
}

/// Some steps are taken, and the executor runs the others.
TEST(LocalWork, MayBeSharedWithTheExecutor) {
    StepPool pool(1);
    LoopbackWorld world(6);
    std::vector<Outcome> outcomes(6);
    const Scenario shape = shape_of(CodecId::nm_2_4);
    on_all_ranks(world, 6, [&](Channel& channel) {
        const auto executor = make_executor(shape, channel);
        const Floats in = dense_input(channel.rank(), count);
        Outcome& outcome = outcomes[static_cast<std::size_t>(channel.rank())];
        outcome.output.resize(in.size());
        outcome.status = executor->start(binding_of(in, outcome.output));
        for (Result<Progress> at = Progress::idle; outcome.status.ok();) {
            at = turn_with(*executor, pool);
            if (at.ok() && *at != Progress::complete) at = executor->advance();
            outcome.status = at.status();
            if (at.ok() && *at == Progress::complete) break;
        }
    });
    expect_all_equal(outcomes, allreduce(shape, dense_input)[0].output);
}

TEST(LocalWork, AFailureOnAnotherThreadEndsEveryRankAndTheNextOperationWorks) {
    Scenario shape = scenario("((0 1) (2 3 4))", 20'000, CodecId::nm_2_4);
    shape.spec.chunk_elems = 4096;
    StepPool pool(3);
    LoopbackWorld world(5, spoil_once(4, 2, fill_payload));
    std::vector<Outcome> first(5), second(5);
    on_all_ranks(world, 5, [&](Channel& channel) {
        const auto at = static_cast<std::size_t>(channel.rank());
        const auto executor = make_executor(shape, channel);
        first[at] = run_in(pool, *executor, sparse_input, 0);
        second[at] = run_in(pool, *executor, sparse_input, 1);
    });
    EXPECT_EQ(first[2].status.code(), Code::corrupt) << first[2].status.message();
    EXPECT_NE(first[2].status.message().find("2:4"), std::string::npos);
    expect_all_equal(second, sum_of_all(sparse_input, 5, 20'000));
}

TEST(LocalWork, IsCountedInTheStatistics) {
    Scenario shape = shape_of(CodecId::nm_2_4);
    shape.options.timed = true;
    StepPool pool(2);
    LoopbackWorld world(6);
    on_all_ranks(world, 6, [&](Channel& channel) {
        const auto executor = make_executor(shape, channel);
        EXPECT_TRUE(run_in(pool, *executor, sparse_input, 0).status.ok());
        EXPECT_EQ(executor->stats().bytes_sent, bytes_sent(executor->plan()));
        EXPECT_GT(executor->stats().codec_ns, 0U);
    });
}

// ---- by hand: two ranks on this thread, and reductions that last as long as the test wants

/// This is set while a reduction may go on.
std::atomic<bool> may_reduce{true};
std::atomic<int> reductions{0};  // that have begun

void reduce_when_allowed(const void*, const void* a, const void* b, void* out, std::size_t elems) {
    ++reductions;
    while (!may_reduce) std::this_thread::yield();
    const auto* x = static_cast<const float*>(a);
    const auto* y = static_cast<const float*>(b);
    for (std::size_t i = 0; i < elems; ++i) static_cast<float*>(out)[i] = x[i] + y[i];
}

class LocalWorkByHand : public testing::Test {
  protected:
    void SetUp() override {
        may_reduce = true;
        reductions = 0;
    }
    void TearDown() override { may_reduce = true; }

    Binding slow_binding(std::uint32_t sequence = 0) {
        Binding binding = binding_of(in_, out_, sequence);
        binding.reducer = {
            .function = reduce_when_allowed, .context = nullptr, .element_bytes = sizeof(float)};
        return binding;
    }
    /// Starts both ranks, and goes on until rank 0 has this many steps to take, which it takes.
    std::vector<LocalStep> taken_steps(std::size_t wanted) {
        EXPECT_TRUE(mine_->start(slow_binding()).ok());
        EXPECT_TRUE(other_->start(binding_of(in_, other_out_)).ok());
        std::vector<LocalStep> steps(wanted);
        std::size_t taken = 0;
        while (taken < wanted) {
            EXPECT_TRUE(mine_->advance_messages().ok());
            EXPECT_TRUE(other_->advance_messages().ok());
            taken += mine_->take_local(std::span(steps).subspan(taken));
        }
        return steps;
    }
    static Scenario shape() {
        Scenario made = scenario("(0 1)", 4000);
        made.spec.chunk_elems = 1000;
        return made;
    }

    LoopbackWorld world_{2};
    std::unique_ptr<Executor> mine_ = make_executor(shape(), world_.channel(0));
    std::unique_ptr<Executor> other_ = make_executor(shape(), world_.channel(1));
    Floats in_ = Floats(4000, 1.0F), out_ = Floats(4000), other_out_ = Floats(4000);
};

TEST_F(LocalWorkByHand, ThereIsNoneWhileNothingRuns) {
    std::array<LocalStep, 4> steps;
    EXPECT_EQ(mine_->take_local(steps), 0U);
    EXPECT_EQ(mine_->finish_local({.executor = mine_.get()}, {}).code(), Code::internal);
}

TEST_F(LocalWorkByHand, StepsSayWhatTheyAre) {
    for (const LocalStep& step : taken_steps(4)) {
        EXPECT_EQ(step.executor, mine_.get());
        EXPECT_EQ(step.kind(), StepKind::reduce);
        EXPECT_EQ(step.bytes(), 500 * sizeof(float));
        EXPECT_LT(step.chunk, 4);
        run_step(step);
    }
    EXPECT_EQ(reductions, 4);
}

TEST_F(LocalWorkByHand, TheFirstErrorThatComesBackIsKept) {
    const std::vector<LocalStep> steps = taken_steps(2);
    for (const LocalStep& step : steps) run_step(step);
    ASSERT_TRUE(mine_->finish_local(steps[1], {Status(Code::corrupt, "first")}).ok());
    ASSERT_TRUE(mine_->finish_local(steps[0], {Status(Code::corrupt, "second")}).ok());
    std::thread peer([&] { EXPECT_EQ(finish(*other_).code(), Code::peer_failed); });
    const Status status = finish(*mine_);
    peer.join();
    EXPECT_EQ(status.message(), "first");
    EXPECT_EQ(reductions, 2) << "steps after a failure do nothing";
}

TEST_F(LocalWorkByHand, WhatIsNotDueIsRefused) {
    const std::vector<LocalStep> steps = taken_steps(2);
    EXPECT_EQ(mine_->wait().code(), Code::internal);
    EXPECT_EQ(mine_->start(slow_binding(1)).code(), Code::internal);
    EXPECT_EQ(other_->finish_local(steps[0], {}).code(), Code::internal);
    for (const LocalStep& step : steps) {
        EXPECT_TRUE(mine_->finish_local(step, run_step(step)).ok());
        EXPECT_EQ(mine_->finish_local(step, {}).code(), Code::internal);
    }
    std::thread peer([&] { EXPECT_TRUE(finish(*other_).ok()); });
    EXPECT_TRUE(finish(*mine_).ok());
    peer.join();
    EXPECT_EQ(out_, Floats(4000, 2.0F));
}

TEST_F(LocalWorkByHand, TheExecutorDoesNotEndBeforeItsSteps) {
    const std::vector<LocalStep> steps = taken_steps(1);
    may_reduce = false;
    std::thread elsewhere([&] { run_step(steps[0]); });
    while (reductions == 0) std::this_thread::yield();  // else the step would be dropped
    auto ended = std::async(std::launch::async, [&] { mine_.reset(); });
    EXPECT_EQ(ended.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    may_reduce = true;
    elsewhere.join();
    ended.get();
    EXPECT_EQ(mine_, nullptr);
}

TEST_F(LocalWorkByHand, StepsOfAnAbandonedOperationDoNothing) {
    const std::vector<LocalStep> steps = taken_steps(3);
    auto ended = std::async(std::launch::async, [&] { mine_.reset(); });
    EXPECT_EQ(ended.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    for (const LocalStep& step : steps) run_step(step);
    ended.get();
    EXPECT_EQ(reductions, 0);
}

TEST(LocalWork, AfterATransportErrorTheOperationEndsWhenAllStepsAreBack) {
    LoopbackWorld world(3, {.tamper = [](const LoopbackEnvelope& at, std::span<std::byte> bytes) {
                            return at.source == 2 ? LoopbackOptions::breaks : bytes.size();
                        }});
    const auto mine = make_executor(scenario("(0 1 2)", 3000), world.channel(0));
    const auto right = make_executor(scenario("(0 1 2)", 3000), world.channel(1));
    const auto wrong = make_executor(scenario("(0 1 2)", 3000), world.channel(2));
    const Floats in(3000, 1.0F);
    Floats a(3000), b(3000), c(3000);
    ASSERT_TRUE(mine->start(binding_of(in, a)).ok());
    ASSERT_TRUE(right->start(binding_of(in, b)).ok());
    std::array<LocalStep, 1> step;
    while (mine->take_local(step) == 0) ASSERT_TRUE(mine->advance_messages().ok());
    ASSERT_TRUE(wrong->start(binding_of(in, c)).ok());
    for (int turn = 0; turn < 10; ++turn) EXPECT_EQ(*mine->advance_messages(), Progress::idle);
    EXPECT_EQ(mine->start(binding_of(in, a)).code(), Code::internal);
    ASSERT_TRUE(mine->finish_local(step[0], run_step(step[0])).ok());
    EXPECT_EQ(mine->advance_messages().status().code(), Code::transport);
    EXPECT_EQ(*mine->advance(), Progress::complete);
}

}  // namespace
}  // namespace gradcoll
