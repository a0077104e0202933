// An engine's sums through the memory of each host and between their leaders, many at a time; ranks
// are dealt to hosts that are not there.
#include "call/gradients/gradient_hosts.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "comm/identified_comm.hpp"
#include "ways/hosts/dealt_hosts.hpp"
#include "ways/hosts/several_hosts.hpp"

namespace gradcoll::test {
namespace {

/// Vector is one vector that is summed again and again.
struct Vector {
    int count = 0;
    std::unique_ptr<Executor> between;  ///< null on ranks that are no leaders
    std::unique_ptr<HostsSum> sum = std::make_unique<HostsSum>();
    std::vector<float> data;
    bool is_over = false;
    Status outcome;
};

class EngineHostsTest : public testing::TestWithParam<Hosts> {
  protected:
    void use(const char* codec) {
        SettingsText text = SettingsText::from_environment();
        text.set(OptionId::codec, codec);
        text.set(OptionId::compress_bytes, "4K");
        text.set(OptionId::compress_if, "always");
        settings_ = *Settings::parse(text);
        const Deal& deal = GetParam().deal;
        hosts_ =
            std::move(GradientHosts::make(comm_.identity(), settings_,
                                          HostGroups::make(comm_.identity(), deal(rank_, ranks_))))
                .value();
        ASSERT_NE(hosts_, nullptr);
        const DiscoveredTree tree{tree_of(deal, ranks_), "test", {}};
        auto between = BetweenHosts::make(tree, settings_, hosts_->leader_of());
        ASSERT_TRUE(between.ok()) << between.status().message();
        between_ = std::move(between).value();
    }

    /// Makes a vector of `count` elements on this rank; other ranks may have another count.
    Vector vector_of(int count, bool compress = false) {
        Vector made;
        made.count = count;
        made.data.resize(static_cast<std::size_t>(count));
        if (hosts_->is_leader()) {
            CallKey key;
            key.type = ElementType::f32;
            key.elem_bytes = 4;
            key.count = count;
            key.in_place = true;
            key.compress = compress;
            auto call = hosts_->plans().plan_apart(between_->tree->tree, between_->settings, key);
            EXPECT_TRUE(call.ok());
            made.between = std::move((*call)->take_executor({})).value();
            calls_.push_back(std::move(call).value());
        }
        return made;
    }

    /// Returns whole numbers, so that the order of sums does not matter.
    static float value(int rank, std::size_t index, unsigned turn) {
        return static_cast<float>((index * 7 + static_cast<std::size_t>(rank) * 13 + turn) % 31);
    }

    void begin(Vector& vector, unsigned turn) {
        for (std::size_t i = 0; i < vector.data.size(); ++i) vector.data[i] = value(rank_, i, turn);
        const CallShape shape = classify(vector.count, MPI_FLOAT, MPI_SUM).shape;
        vector.is_over = false;
        HostsSum::Call call{.lanes = hosts_->lanes(),
                            .binding = binding_of({MPI_IN_PLACE, vector.data.data(), vector.count,
                                                   MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD},
                                                  shape),
                            .shape = shape,
                            .between = vector.between.get(),
                            .leaves_steps = true};
        if (vector.between != nullptr) call.binding.numbers = &hosts_->plans().numbers();
        vector.sum->start(call);
        vector.sum->come_down();
    }

    /// Advances all sums to their end, in an order of this rank's own, with rests.
    void run(std::vector<Vector>& vectors, unsigned seed) {
        std::minstd_rand random(seed * 100 + static_cast<unsigned>(rank_));
        for (std::size_t over = 0; over < vectors.size();) {
            Vector& vector = vectors[random() % vectors.size()];
            if (vector.is_over) continue;
            const auto progress = vector.sum->advance();
            std::array<LocalStep, 4> steps;
            for (const LocalStep& step :
                 std::span(steps).first(vector.sum->take_local(std::span(steps))))
                ASSERT_TRUE(step.executor->finish_local(step, run_step(step)).ok());
            if (progress.ok() && *progress == Progress::idle) std::this_thread::yield();
            if (random() % 200 == 0)
                std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
            if (progress.ok() && *progress != Progress::complete) continue;
            vector.is_over = true;
            vector.outcome = progress.status();
            ++over;
        }
    }

    void expect_sums(const Vector& vector, unsigned turn) const {
        ASSERT_TRUE(vector.outcome.ok()) << vector.outcome.message();
        for (std::size_t i = 0; i < vector.data.size(); ++i) {
            float expected = 0;
            for (int rank = 0; rank < ranks_; ++rank) expected += value(rank, i, turn);
            ASSERT_EQ(vector.data[i], expected) << vector.count << " at " << i;
        }
    }

    IdentifiedComm comm_;
    int rank_ = rank_of(MPI_COMM_WORLD);
    int ranks_ = size_of(MPI_COMM_WORLD);
    Settings settings_;
    std::unique_ptr<GradientHosts> hosts_;
    std::optional<BetweenHosts> between_;
    std::vector<std::shared_ptr<PlannedCall>> calls_;
};

TEST_P(EngineHostsTest, ManySumsAtATimeAreThoseOfMpi) {
    use("exact");
    std::vector<Vector> vectors;
    for (const int count : {1, 100, 4096, 7, 100003, 2000, 3000, 1 << 18})
        vectors.push_back(vector_of(count));
    for (unsigned turn = 1; turn <= 6; ++turn) {
        for (Vector& vector : vectors) begin(vector, turn);
        run(vectors, turn);
        for (const Vector& vector : vectors) expect_sums(vector, turn);
    }
}

TEST_P(EngineHostsTest, CompressedSumsAreAlikeOnAllRanks) {
    use("2:4");
    std::vector<Vector> vectors;
    for (const int count : {5000, 70001, 12345}) vectors.push_back(vector_of(count, true));
    for (unsigned turn = 1; turn <= 3; ++turn) {
        for (Vector& vector : vectors) begin(vector, turn);
        run(vectors, turn);
        for (const Vector& vector : vectors) {
            ASSERT_TRUE(vector.outcome.ok()) << vector.outcome.message();
            std::vector<float> first = vector.data;
            MPI_Bcast(first.data(), vector.count, MPI_FLOAT, 0, MPI_COMM_WORLD);
            ASSERT_EQ(vector.data, first);
        }
    }
}

/// The last rank has another count. Its host finds that, and tells the others.
TEST_P(EngineHostsTest, WhatFailsOnOneHostEndsWithAnErrorOnAllRanks) {
    use("exact");
    if (hosts_->leader_of()[static_cast<std::size_t>(ranks_ - 1)] == ranks_ - 1)
        GTEST_SKIP() << "the last rank is alone on its host";
    std::vector<Vector> wrong, right;
    for (const int count : {10, 50000}) {
        wrong.clear();
        wrong.push_back(vector_of(rank_ == ranks_ - 1 ? count - 1 : count));
        begin(wrong.front(), 1);
        run(wrong, 1);
        // A rank that only gives its vector next to its flag learns of the error on the way down.
        EXPECT_FALSE(wrong.front().outcome.ok()) << count;
    }
    right.push_back(vector_of(3000));
    begin(right.front(), 2);
    run(right, 2);
    expect_sums(right.front(), 2);
}

INSTANTIATE_TEST_SUITE_P(Hosts, EngineHostsTest, testing::ValuesIn(all_hosts), name_of_hosts);

}  // namespace
}  // namespace gradcoll::test
