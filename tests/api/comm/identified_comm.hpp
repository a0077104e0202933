// tests/api/comm/identified_comm.hpp - communicators of tests with what the library knows of them.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "api/comm/comm_identity.hpp"

namespace gradcoll::test {

inline int world_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

inline int world_size() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

/// A communicator of this test with its identity.
class IdentifiedComm {
  public:
    /// A duplicate of all, or ranks by colour in the order of their keys.
    IdentifiedComm() { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
    IdentifiedComm(int colour, int key) { MPI_Comm_split(MPI_COMM_WORLD, colour, key, &comm_); }
    ~IdentifiedComm() {
        identity_.reset();
        MPI_Comm_free(&comm_);
    }
    IdentifiedComm(const IdentifiedComm&) = delete;
    IdentifiedComm& operator=(const IdentifiedComm&) = delete;

    const CommIdentity& identity() {
        if (!identity_) {
            auto made = CommIdentity::make(comm_);
            EXPECT_TRUE(made.ok()) << made.status().message();
            identity_.emplace(std::move(made).value());
        }
        return *identity_;
    }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    std::optional<CommIdentity> identity_;
};

}  // namespace gradcoll::test
