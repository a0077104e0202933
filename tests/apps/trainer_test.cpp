// apps.trainer - training on a small made-up problem gives the same network whatever the number of
// ranks.
#include "trainer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "random.hpp"
#include "replicas.hpp"

namespace {

using namespace train;

/// Returns pictures of 64 pixels; a bright stripe is at the label's place in noise.
Dataset striped_pictures(std::size_t count, std::uint64_t seed) {
    constexpr std::size_t features = 64;
    Random random(seed);
    Dataset data{count, features, std::vector<std::uint8_t>(count * features),
                 std::vector<std::uint8_t>(count)};
    for (std::size_t i = 0; i < count; ++i) {
        data.labels[i] = static_cast<std::uint8_t>(random.below(Dataset::classes));
        for (std::size_t f = 0; f < features; ++f) {
            const std::size_t stripe = f / 6 == data.labels[i] ? 100 : 0;
            data.pixels[i * features + f] = static_cast<std::uint8_t>(stripe + random.below(150));
        }
    }
    return data;
}

/// A Communicator is a duplicate whose errors are returned, as the trainer wants it.
class Communicator {
  public:
    explicit Communicator(MPI_Comm parent) {
        MPI_Comm_dup(parent, &comm_);
        MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    }
    ~Communicator() { MPI_Comm_free(&comm_); }
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    operator MPI_Comm() const { return comm_; }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

Options options_for(const char* codec) {
    Options options;
    options.codec = codec;
    options.batch = 30;
    options.epochs = 3;
    options.quiet = true;
    options.check_first_step = true;
    if (options.uses_gradcoll()) options.min_bytes = "1K";
    return options;
}

/// Returns the trained weights, one vector after the other.
std::vector<float> trained_weights(const Options& options, MPI_Comm parent) {
    const Dataset train = striped_pictures(300, 1);
    const Dataset test = striped_pictures(100, 2);
    const Communicator comm(parent);
    Report report(options, 1, 1);  // not rank 0: silent
    Trainer trainer(options, {train, test}, comm);
    EXPECT_TRUE(trainer.run(report));
    std::vector<float> weights;
    for (const Parameter& parameter : trainer.network().parameters())
        weights.insert(weights.end(), parameter.values.begin(), parameter.values.end());
    return weights;
}

float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    float largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
    return largest;
}

TEST(Trainer, ExactSumsGiveTheNetworkOfOneRankUpToRounding) {
    const std::vector<float> alone = trained_weights(options_for("mpi"), MPI_COMM_SELF);
    for (const char* codec : {"mpi", "exact"})
        EXPECT_LT(largest_difference(trained_weights(options_for(codec), MPI_COMM_WORLD), alone),
                  1e-4F)
            << codec;
    Options by_engine = options_for("exact");
    by_engine.engine = true;
    EXPECT_LT(largest_difference(trained_weights(by_engine, MPI_COMM_WORLD), alone), 1e-4F);
    by_engine.survive = true;  // nobody dies
    EXPECT_LT(largest_difference(trained_weights(by_engine, MPI_COMM_WORLD), alone), 1e-4F);
}

TEST(Trainer, LossySumsChangeTheNetworkAndKeepRanksIdentical) {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks == 1) GTEST_SKIP() << "one rank sends nothing";
    const std::vector<float> exact = trained_weights(options_for("exact"), MPI_COMM_WORLD);
    for (const bool engine : {false, true}) {
        Options options = options_for("1:4");
        options.engine = engine;
        const std::vector<float> lossy = trained_weights(options, MPI_COMM_WORLD);
        EXPECT_GT(largest_difference(lossy, exact), 1e-4F) << engine;
        EXPECT_TRUE(same_on_all_ranks(hash_values(lossy), MPI_COMM_WORLD)) << engine;
    }
}

TEST(Trainer, RefusedSettingsAreASettingsErrorOnEveryRank) {
    const Communicator comm(MPI_COMM_WORLD);
    const Dataset data = striped_pictures(30, 1);
    const Options options = options_for("3:4");
    EXPECT_THROW(Trainer(options, {data, data}, comm), SettingsError);
}

TEST(SameOnAllRanks, TellsEqualFromDifferentValues) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    EXPECT_TRUE(same_on_all_ranks(42, MPI_COMM_WORLD));
    EXPECT_EQ(same_on_all_ranks(rank == ranks - 1 ? 41 : 42, MPI_COMM_WORLD), ranks == 1);
}

TEST(SumChecker, FindsASumThatIsWrongByMoreThanTheBound) {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::vector<Parameter> parameters{{"p", {}, {1.0F, -2.0F, 0.0F}}};
    SumChecker checker(parameters);
    checker.keep(parameters[0], 0);
    for (float& value : parameters[0].gradient) value *= static_cast<float>(ranks);
    EXPECT_LE(checker.compare(parameters, MPI_COMM_WORLD)[0].order_bounds, 1.0);
    parameters[0].gradient[1] += 1e-4F;
    const SumCheck wrong = checker.compare(parameters, MPI_COMM_WORLD)[0];
    EXPECT_GT(wrong.order_bounds, 1.0);
    EXPECT_GT(wrong.relative_l2, 0.0);
    EXPECT_TRUE(wrong.identical_bits);
}

}  // namespace
