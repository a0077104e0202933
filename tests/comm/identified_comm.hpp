// tests/comm/identified_comm.hpp - communicators of tests with what the library knows of them.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "api/api_support.hpp"
#include "comm/comm_identity.hpp"

namespace gradcoll::test {

/// An IdentifiedComm is a communicator of this test with its identity.
class IdentifiedComm {
  public:
    /// Makes a duplicate of MPI_COMM_WORLD, or puts ranks together by colour in the order of their
    /// keys.
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
