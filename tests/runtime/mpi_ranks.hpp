// A channel on a duplicate of MPI_COMM_WORLD for every test.
#pragma once

#include <memory>
#include <string>

#include "runtime/scenario.hpp"
#include "transport/mpi/mpi_channel.hpp"

namespace gradcoll {

class MpiRanks : public testing::Test {
  protected:
    void SetUp() override {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
        MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
        auto channel = MpiChannel::make(comm_);
        ASSERT_TRUE(channel.ok()) << channel.status().message();
        channel_ = std::move(channel).value();
    }
    void TearDown() override { MPI_Comm_free(&comm_); }

    /// Returns rank 0 beside a branch of all others; one rank alone for one.
    std::string lopsided_tree() const {
        const int ranks = channel_->rank_count();
        if (ranks == 1) return "0";
        if (ranks == 2) return "(0 1)";
        return "(0 (1-" + std::to_string(ranks - 1) + "))";
    }

    MPI_Comm comm_ = MPI_COMM_NULL;
    std::unique_ptr<MpiChannel> channel_;
};

}  // namespace gradcoll
