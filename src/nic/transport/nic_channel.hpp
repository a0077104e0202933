// nic/transport/nic_channel.hpp - messages to ranks of other hosts by the NIC agents;
// src/nic/transport/README.md has the protocol.
#pragma once

#include <memory>
#include <vector>

#include "nic/transport/mpi_detour.hpp"
#include "nic/transport/nic_traffic.hpp"
#include "transport/channel.hpp"
#include "transport/vector_sums.hpp"

namespace gradcoll {

/// A NicChannel calls ranks as the communicator does; it does not reach those of this host. When
/// agents fail, messages go on as MPI messages, and nobody but the log notices. Lanes of several
/// threads at a time are allowed if the MPI library runs with MPI_THREAD_MULTIPLE.
class NicChannel final : public Channel, public VectorSums {
  public:
    struct Place {
        MPI_Comm comm = MPI_COMM_NULL;     ///< has to outlive the channel
        std::uint32_t rank = 0;            ///< this rank's number in `comm`
        std::uint64_t group = 0;           ///< the same on all ranks, and no other channel's
        std::vector<std::uint32_t> peers;  ///< who is reached, ascending
        std::uint32_t hosts = 0;           ///< hosts of the communicator
        bool encodes = false;  ///< all agents have the codecs of all ranks; the same on all ranks
        /// From this many bytes on agents also add vectors; 0 if they add none. It is the same on
        /// all ranks.
        std::size_t least_summed_bytes = 0;
    };
    /// `agent` has joined, and all agents are linked. Errors: transport; unsupported where the MPI
    /// library has too few tags.
    static Result<std::unique_ptr<NicChannel>> make(AgentConnection agent, Place place);

    int rank() const override { return rank_; }
    int rank_count() const override { return rank_count_; }
    /// Returns one less than MPI has: that one is for what the agents lose.
    int tag_limit() const override { return tag_limit_; }
    Capabilities capabilities(int) const override {
        return {.drives_mpi = true, .encodes_by_itself = encodes_};
    }
    std::unique_ptr<Lane> open_lane(std::size_t capacity) override;
    VectorSums* vector_sums() override { return sums_ ? this : nullptr; }

    bool takes(ElementType type, std::size_t size_bytes) const override {
        return sums_ && type != ElementType::opaque && size_bytes >= least_summed_bytes_;
    }
    bool takes_codecs() const override { return sums_ && encodes_; }
    /// Returns one for each host: all but the owner of a piece encode their part, and it the sum.
    int encodings() const override { return hosts_; }
    Result<SumOutcome> sum(const SumRequest& request) override;

  private:
    NicChannel(AgentConnection agent, Place place, int detour_tag);

    int rank_ = 0;
    int rank_count_ = 1;
    int tag_limit_;
    MPI_Comm comm_;
    int hosts_;
    bool encodes_;
    bool sums_;  ///< whether agents add, and none has failed: the same on all ranks
    std::size_t least_summed_bytes_;
    NicTraffic traffic_;
};

}  // namespace gradcoll
