// Ranks as threads hand in gradients in orders of their own: every sum is right, with the same bits
// on all ranks, whoever makes the turns.
#include "engine/engine.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "engine/host_circles.hpp"
#include "runtime/operation_numbers.hpp"
#include "runtime/thread_ranks.hpp"

namespace gradcoll {
namespace {

/// Owned is what one rank has of a gradient.
struct Owned {
    Floats input;
    Floats output;
};

/// A WorkOfTest is a sum over a plan of its own.
class WorkOfTest final : public Work {
  public:
    WorkOfTest(const Scenario& shape, Channel& channel, OperationNumbers& numbers, Owned& data)
        : executor_(make_executor(shape, channel)), numbers_(numbers), data_(data) {}

    Status start() override {
        Binding binding = binding_of(data_.input, data_.output);
        binding.numbers = &numbers_;
        return executor_->start(binding);
    }
    Result<Progress> advance() override { return executor_->advance_messages(); }
    std::size_t take_local(std::span<LocalStep> out) override { return executor_->take_local(out); }
    void abandon() override { executor_.reset(); }

  private:
    std::unique_ptr<Executor> executor_;
    OperationNumbers& numbers_;
    Owned& data_;
};

/// A PackerOfTest sums several gradients as one, one behind the other; it makes a sum for each
/// pack.
class PackerOfTest final : public GradientPacker {
  public:
    using Find = std::function<Owned&(const Gradient&)>;
    PackerOfTest(std::string tree, Channel& channel, OperationNumbers& numbers, Find find)
        : tree_(std::move(tree)), channel_(channel), numbers_(numbers), find_(std::move(find)) {}

    Result<Work*> pack(std::span<Gradient* const> gradients) override {
        sums_.push_back(std::make_unique<Sum>(*this, gradients));
        packed_ += gradients.size();
        return sums_.back().get();
    }
    std::size_t packed() const { return packed_; }

  private:
    class Sum final : public Work {
      public:
        Sum(PackerOfTest& packer, std::span<Gradient* const> gradients) {
            for (const Gradient* gradient : gradients) {
                parts_.push_back(&packer.find_(*gradient));
                data_.input.insert(data_.input.end(), parts_.back()->input.begin(),
                                   parts_.back()->input.end());
            }
            data_.output.resize(data_.input.size());
            work_ = std::make_unique<WorkOfTest>(
                scenario(packer.tree_, static_cast<std::int64_t>(data_.input.size())),
                packer.channel_, packer.numbers_, data_);
        }
        Status start() override { return work_->start(); }
        Result<Progress> advance() override {
            auto progress = work_->advance();
            if (!progress.ok() || *progress != Progress::complete) return progress;
            auto from = data_.output.cbegin();
            for (Owned* part : parts_) {
                const auto size = static_cast<std::ptrdiff_t>(part->output.size());
                std::copy(from, from + size, part->output.begin());
                from += size;
            }
            return progress;
        }
        std::size_t take_local(std::span<LocalStep> out) override { return work_->take_local(out); }
        void abandon() override { work_->abandon(); }

      private:
        std::vector<Owned*> parts_;
        Owned data_;
        std::unique_ptr<WorkOfTest> work_;
    };

    std::string tree_;
    Channel& channel_;
    OperationNumbers& numbers_;
    Find find_;
    std::size_t packed_ = 0;
    std::vector<std::unique_ptr<Sum>> sums_;
};

struct Job {
    std::string tree = "((0 1) 2)";
    std::vector<std::int64_t> counts;  ///< counts of the gradients
    CodecId codec = CodecId::exact;
    EngineOptions options{.compute_threads = 1,
                          .own_thread = true,
                          .yields = true,
                          .most_bytes = 1 << 20,
                          .stall_ns = 60'000'000'000};
    int steps = 2;
    bool flushes = false;
    std::uint64_t pack_bytes = 0;           ///< gradients of up to a fourth of it are packed
    std::vector<std::vector<int>> hosts{};  ///< hosts whose lowest ranks tell for all; empty: none
};

Floats input_of(const Job& job, int rank, std::size_t gradient, int step) {
    Floats values = job.codec == CodecId::exact ? whole_input(rank, job.counts[gradient])
                                                : dense_input(rank, job.counts[gradient]);
    for (float& value : values) value *= static_cast<float>(1 + step);
    return values;
}

std::string name_of_gradient(std::size_t gradient) {
    return "layer." + std::to_string(gradient);
}

/// A RankOfJob is one rank's part: all gradients, in an order of its own in every step.
class RankOfJob {
  public:
    RankOfJob(const Job& job, Channel& data, Channel& control)
        : job_(job),
          data_(data),
          numbers_(*TagLayout::make(data.tag_limit(), 1)),
          owned_(job.counts.size()),
          packer_(job.tree, data, numbers_,
                  [this](const Gradient& gradient) -> Owned& {
                      return owned_[std::stoul(gradient.name().substr(6))];
                  }),
          engine_(Engine::make(control, options_with(job, packer_, data.rank())).value()),
          random_(static_cast<unsigned>(data.rank()) + 1) {}

    /// Returns the results by step and by gradient.
    std::vector<std::vector<Floats>> run() {
        std::vector<std::vector<Floats>> results;
        for (int step = 0; step < job_.steps; ++step) {
            for (const std::size_t gradient : order()) submit(gradient, step);
            if (job_.flushes) engine_->flush();
            results.emplace_back(owned_.size());
            for (const std::size_t gradient : order()) {
                Gradient& it = engine_->gradient(name_of_gradient(gradient));
                engine_->wait(it);
                const Status outcome = engine_->take_outcome(it);
                EXPECT_TRUE(outcome.ok()) << outcome.message();
                results.back()[gradient] = owned_[gradient].output;
            }
            EXPECT_EQ(engine_->under_way(), 0U);
        }
        engine_->settle();
        return results;
    }

    /// Returns how many gradients were packed; its engine must have counted as many.
    std::size_t packed() const {
        const EngineFigures figures = engine_->figures();
        EXPECT_EQ(figures.sums, job_.counts.size() * static_cast<std::size_t>(job_.steps));
        EXPECT_EQ(figures.failed, 0U);
        EXPECT_EQ(figures.packed, packer_.packed());
        EXPECT_LE(figures.waited_ns, figures.busy_ns);
        return packer_.packed();
    }

  private:
    static EngineOptions options_with(const Job& job, PackerOfTest& packer, int rank) {
        EngineOptions options = job.options;
        if (!job.hosts.empty()) options.circle = circle_of_hosts(tree_of_hosts(job.hosts), rank);
        options.packer = &packer;
        options.most_pack_bytes = job.pack_bytes;
        return options;
    }
    std::vector<std::size_t> order() {
        std::vector<std::size_t> order(job_.counts.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), random_);
        return order;
    }
    void submit(std::size_t gradient, int step) {
        if (random_() % 4 == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300));
        Owned& mine = owned_[gradient];
        mine.input = input_of(job_, data_.rank(), gradient, step);
        mine.output.assign(mine.input.size(), -99.0F);
        Gradient& it = engine_->gradient(name_of_gradient(gradient));
        if (it.work == nullptr)
            it.work = std::make_unique<WorkOfTest>(
                scenario(job_.tree, job_.counts[gradient], job_.codec), data_, numbers_, mine);
        const auto count = static_cast<std::uint64_t>(job_.counts[gradient]);
        EXPECT_TRUE(engine_
                        ->submit(it, {.shape = count,
                                      .shape_text = std::to_string(count) + " elements",
                                      .bytes = count * 4,
                                      .priority = static_cast<std::int32_t>(gradient % 3),
                                      .pack = count * 4 <= job_.pack_bytes / 4 ? 1U : 0U})
                        .ok());
    }

    const Job& job_;
    Channel& data_;
    OperationNumbers numbers_;
    std::vector<Owned> owned_;
    PackerOfTest packer_;
    std::unique_ptr<Engine> engine_;
    std::mt19937 random_;
};

std::vector<std::vector<std::vector<Floats>>> results_of(
    const Job& job, std::atomic<std::size_t>* packed = nullptr) {
    const int ranks = scenario(job.tree, 1).rank_count();
    LoopbackWorld data(ranks, {.delay_probability = 0.2, .seed = 9});
    LoopbackWorld control(ranks, {.delay_probability = 0.2, .seed = 4});
    std::vector<std::vector<std::vector<Floats>>> results(static_cast<std::size_t>(ranks));
    on_all_ranks(data, ranks, [&](Channel& channel) {
        RankOfJob rank(job, channel, control.channel(channel.rank()));
        results[static_cast<std::size_t>(channel.rank())] = rank.run();
        if (packed != nullptr) *packed += rank.packed();
    });
    return results;
}

void expect_right(const Job& job, std::atomic<std::size_t>* packed = nullptr) {
    const auto results = results_of(job, packed);
    for (int step = 0; step < job.steps; ++step)
        for (std::size_t gradient = 0; gradient < job.counts.size(); ++gradient) {
            Floats sum(static_cast<std::size_t>(job.counts[gradient]), 0.0F);
            for (std::size_t rank = 0; rank < results.size(); ++rank) {
                const Floats one = input_of(job, static_cast<int>(rank), gradient, step);
                for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
            }
            const auto at = static_cast<std::size_t>(step);
            for (const auto& rank : results) {
                EXPECT_EQ(rank[at][gradient], results[0][at][gradient]) << gradient;
                if (job.codec == CodecId::exact) {
                    EXPECT_EQ(rank[at][gradient], sum) << gradient;
                }
            }
        }
}

const std::vector<std::int64_t> some_counts{1, 70'000, 3, 512, 0, 20'000, 64, 5'000, 1'024, 40'000};

TEST(Engine, SumsAreRightInWhateverOrderTheyAreHandedIn) {
    for (const char* tree : {"(0 1)", "((0 1) 2)", "((0 (1 2)) 3 (4 5))"})
        expect_right({.tree = tree, .counts = some_counts});
}

TEST(Engine, RunsOnTheThreadsOfTheProgramToo) {
    for (const int threads : {0, 2}) {
        Job job{.counts = some_counts};
        job.options.own_thread = false;
        job.options.compute_threads = threads;
        expect_right(job);
    }
}

TEST(Engine, LossyCodecsGiveAllRanksTheSameBits) {
    for (const CodecId codec : {CodecId::nm_2_4, CodecId::int8})
        expect_right({.tree = "((0 1) (2 3))", .counts = some_counts, .codec = codec});
}

TEST(Engine, FlushWaitsForAll) {
    expect_right({.counts = some_counts, .flushes = true});
}

/// No sum has room beside another; each is begun when there is none.
TEST(Engine, BeginsNoMoreThanThereIsRoomFor) {
    Job job{.counts = some_counts};
    job.options.most_bytes = 1;
    expect_right(job);
}

/// There are long gradients among many short ones, which are packed as they meet; every rank packs
/// the same.
TEST(Engine, ShortGradientsArePacked) {
    Job job{.counts = {}, .steps = 4, .pack_bytes = 1600};
    for (std::int64_t i = 0; i < 200; ++i) job.counts.push_back(i % 10 == 0 ? 5'000 : i % 101);
    for (const bool own_thread : {true, false}) {
        job.options.own_thread = own_thread;
        std::atomic<std::size_t> packed{0};
        expect_right(job, &packed);
        EXPECT_GT(packed, 0U);
        EXPECT_EQ(packed % 3, 0U);
    }
}

/// A rank tells of all that it hands in when it waits for the first: so no gradient goes alone, in
/// the steps after the first, either, in which ranks say numbers alone.
TEST(Engine, WhatIsHandedInAtOnceBeginsTogether) {
    for (const bool flushes : {false, true}) {
        Job job{.counts = std::vector<std::int64_t>(40, 10),
                .steps = 3,
                .flushes = flushes,
                .pack_bytes = 1 << 20};
        job.options.settling_ns = 10'000'000'000;
        std::atomic<std::size_t> packed{0};
        expect_right(job, &packed);
        EXPECT_EQ(packed, 3U * 3U * 40U);
    }
}

/// Nobody waits, so the time alone lets others be told.
TEST(Engine, WhatNobodyWaitsForBeginsSoon) {
    LoopbackWorld data(2);
    LoopbackWorld control(2);
    on_all_ranks(data, 2, [&](Channel& channel) {
        OperationNumbers numbers(*TagLayout::make(channel.tag_limit(), 1));
        const auto engine = Engine::make(control.channel(channel.rank()),
                                         {.settling_ns = 1'000'000, .most_bytes = 1 << 20})
                                .value();
        Owned mine{Floats(10, 1.0F), Floats(10)};
        Gradient& it = engine->gradient("w");
        it.work = std::make_unique<WorkOfTest>(scenario("(0 1)", 10), channel, numbers, mine);
        EXPECT_TRUE(engine->submit(it, {.shape = 10, .shape_text = "10"}).ok());
        while (!it.is_complete()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_TRUE(engine->take_outcome(it).ok());
        EXPECT_EQ(mine.output, Floats(10, 2.0F));
        engine->settle();
    });
}

TEST(Engine, SeveralThreadsMayWait) {
    constexpr int threads = 3;
    LoopbackWorld data(2);
    LoopbackWorld control(2);
    on_all_ranks(data, 2, [&](Channel& channel) {
        OperationNumbers numbers(*TagLayout::make(channel.tag_limit(), 1));
        const auto engine =
            Engine::make(control.channel(channel.rank()),
                         {.settling_ns = 100'000, .most_bytes = 1, .stall_ns = 60'000'000'000})
                .value();
        std::array<Owned, threads> owned;
        std::array<Gradient*, threads> gradients{};
        for (std::size_t i = 0; i < threads; ++i) {
            owned[i] = {Floats(1000, 1.0F), Floats(1000)};
            gradients[i] = &engine->gradient(name_of_gradient(i));
            gradients[i]->work =
                std::make_unique<WorkOfTest>(scenario("(0 1)", 1000), channel, numbers, owned[i]);
        }
        for (int step = 0; step < 50; ++step) {
            std::vector<std::thread> waiting;
            for (Gradient* gradient : gradients) {
                EXPECT_TRUE(
                    engine->submit(*gradient, {.shape = 1, .shape_text = "1", .bytes = 4000}).ok());
                waiting.emplace_back([&engine, gradient] {
                    engine->wait(*gradient);
                    EXPECT_TRUE(engine->take_outcome(*gradient).ok());
                });
            }
            for (std::thread& thread : waiting) thread.join();
        }
        for (const Owned& mine : owned) EXPECT_EQ(mine.output, Floats(1000, 2.0F));
        engine->settle();
    });
}

TEST(Engine, HostsMayTellThroughOneRank) {
    for (const std::uint64_t pack_bytes : {0U, 1600U})
        expect_right({.tree = "((0 (1 2)) 3 (4 5))",
                      .counts = some_counts,
                      .steps = 4,
                      .pack_bytes = pack_bytes,
                      .hosts = {{0, 4, 5}, {1, 2}, {3}}});
}

TEST(Engine, OneRankNeedsNobody) {
    LoopbackWorld world(1);
    EngineOptions options;
    options.most_bytes = 1;
    const auto engine = Engine::make(world.channel(0), options).value();
    EXPECT_EQ(engine->under_way(), 0U);
    engine->flush();
}

/// Both ranks learn what is wrong, and go on.
TEST(Engine, ShapesThatDifferFailOnAllRanks) {
    LoopbackWorld data(2);
    LoopbackWorld control(2);
    on_all_ranks(data, 2, [&](Channel& channel) {
        const int rank = channel.rank();
        OperationNumbers numbers(*TagLayout::make(channel.tag_limit(), 1));
        const auto engine =
            Engine::make(control.channel(rank), {.most_bytes = 1 << 20, .stall_ns = 60'000'000'000})
                .value();
        Owned mine{Floats(10, 1.0F), Floats(10)};
        Gradient& it = engine->gradient("w");
        it.work = std::make_unique<WorkOfTest>(scenario("(0 1)", 10), channel, numbers, mine);
        const auto sum = [&](std::uint64_t count) {
            EXPECT_TRUE(
                engine->submit(it, {.shape = count, .shape_text = std::to_string(count)}).ok());
            engine->wait(it);
            return engine->take_outcome(it);
        };
        const Status differs = sum(rank == 0 ? 10 : 11);
        EXPECT_EQ(differs.code(), Code::invalid_argument);
        EXPECT_NE(differs.message().find("rank 0 has 10"), std::string::npos) << differs.message();
        EXPECT_TRUE(sum(10).ok());
        EXPECT_EQ(mine.output, Floats(10, 2.0F));
        engine->settle();
    });
}

/// One message of what ranks tell each other arrives spoiled.
LoopbackOptions spoiled_third(int source, int destination,
                              std::size_t (*spoil)(std::span<std::byte> bytes)) {
    const auto seen = std::make_shared<std::atomic<int>>(0);
    return {.tamper = [=](const LoopbackEnvelope& envelope, std::span<std::byte> bytes) {
        const bool is_it = envelope.source == source && envelope.destination == destination;
        return is_it && seen->fetch_add(1) == 2 ? spoil(bytes) : bytes.size();
    }};
}

std::size_t shorten(std::span<std::byte> bytes) {
    return bytes.size() - 1;
}

std::size_t flip_last(std::span<std::byte> bytes) {
    bytes.back() ^= std::byte{1};
    return bytes.size();
}

struct Damage {
    int source, destination;
    std::vector<std::vector<int>> hosts;
};

/// Whoever meets it, all ranks learn that the engine has ended; nobody waits for ever.
void expect_spoiled_messages_end_it(std::size_t (*spoil)(std::span<std::byte> bytes),
                                    bool checked) {
    const std::vector<std::vector<int>> two_hosts{{0}, {1, 2}};
    for (const Damage& damage : {Damage{1, 0, {{0, 1, 2}}}, Damage{0, 2, {{0, 1, 2}}},
                                 Damage{2, 1, two_hosts}, Damage{0, 1, two_hosts}}) {
        LoopbackWorld data(3);
        LoopbackWorld control(3, spoiled_third(damage.source, damage.destination, spoil));
        std::array<Status, 3> outcomes;
        on_all_ranks(data, 3, [&](Channel& channel) {
            const int rank = channel.rank();
            OperationNumbers numbers(*TagLayout::make(channel.tag_limit(), 1));
            const auto engine =
                Engine::make(control.channel(rank),
                             {.yields = true,
                              .most_bytes = 1,
                              .failure_patience_ns = 300'000'000,
                              .stall_ns = 60'000'000'000,
                              .checked = checked,
                              .circle = circle_of_hosts(tree_of_hosts(damage.hosts), rank)})
                    .value();
            Owned mine{Floats(1000, 1.0F), Floats(1000)};
            Gradient& it = engine->gradient("w");
            it.work =
                std::make_unique<WorkOfTest>(scenario("((0 1) 2)", 1000), channel, numbers, mine);
            Status& outcome = outcomes[static_cast<std::size_t>(rank)];
            for (int step = 0; step < 10 && outcome.ok(); ++step) {
                outcome = engine->submit(it, {.shape = 1, .shape_text = "1", .bytes = 4000});
                if (!outcome.ok()) break;
                engine->wait(it);
                outcome = engine->take_outcome(it);
            }
            EXPECT_FALSE(engine->submit(engine->gradient("x"), {}).ok());
            engine->settle();
        });
        for (const Status& outcome : outcomes)
            EXPECT_TRUE(outcome.code() == Code::corrupt || outcome.code() == Code::peer_failed)
                << outcome.message();
    }
}

TEST(Engine, WhatIsNotUnderstoodEndsItOnAllRanks) {
    expect_spoiled_messages_end_it(shorten, /*checked=*/false);
}

/// Unchecked, a flipped bit may be a priority, or another length.
TEST(Engine, WhatIsFlippedEndsItOnAllRanksWhereItIsChecked) {
    expect_spoiled_messages_end_it(flip_last, /*checked=*/true);
}

}  // namespace
}  // namespace gradcoll
