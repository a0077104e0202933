#include "device/ipc/peers_that_share.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/mpi/exchange.hpp"
#include "base/mpi/mpi.hpp"
#include "device/ipc/peer_device_memory.hpp"
#include "memory/device.hpp"

namespace gradcoll {
namespace {

/// Showing is what a rank shows to the others of its host.
struct Showing {
    std::int32_t rank = 0;  ///< rank in the whole communicator
    std::uint32_t shown = 0;
    std::uint64_t token = 0;  ///< what lies in its device's memory
    std::byte reference[reference_bytes] = {};
};

/// A Probe has a few bytes on the device and their copy in pinned memory.
class Probe {
  public:
    explicit Probe(Device& device) : device_(device) { peers_.emplace(device); }
    ~Probe() {
        if (on_device_ != nullptr) device_.release(on_device_);
        if (pinned_ != nullptr) device_.release_pinned(pinned_);
    }
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;

    Status show(Showing& showing);
    bool reads(const Showing& peer);
    /// Closes what was opened of peers, before its owner may release it.
    void forget_peers() { peers_.reset(); }

  private:
    Status copy_and_wait(void* to, const void* from);

    Device& device_;
    std::optional<PeerDeviceMemory> peers_;
    void* on_device_ = nullptr;
    void* pinned_ = nullptr;
    std::unique_ptr<DeviceStream> stream_;
    std::unique_ptr<DeviceMark> mark_;
};

Status Probe::copy_and_wait(void* to, const void* from) {
    GRADCOLL_TRY(stream_->copy(to, from, sizeof(std::uint64_t)));
    GRADCOLL_TRY(stream_->record(*mark_));
    return wait_until_passed(*mark_);
}

Status Probe::show(Showing& showing) {
    stream_ = GRADCOLL_VALUE(device_.make_stream());
    mark_ = GRADCOLL_VALUE(device_.make_mark());
    on_device_ = GRADCOLL_VALUE(device_.allocate(sizeof(std::uint64_t)));
    pinned_ = GRADCOLL_VALUE(device_.allocate_pinned(sizeof(std::uint64_t)));
    *static_cast<std::uint64_t*>(pinned_) = showing.token;
    GRADCOLL_TRY(copy_and_wait(on_device_, pinned_));
    return peers_->refer(on_device_, sizeof(std::uint64_t), showing.reference);
}

bool Probe::reads(const Showing& peer) {
    if (peer.shown == 0) return false;
    const auto bytes = peers_->resolve(peer.reference, sizeof(std::uint64_t));
    if (!bytes.ok()) return false;
    *static_cast<std::uint64_t*>(pinned_) = ~peer.token;
    return copy_and_wait(pinned_, *bytes).ok() &&
           *static_cast<const std::uint64_t*>(pinned_) == peer.token;
}

/// Every rank of the host shows itself, reads the others, and says whom it can read.
Status compare(const HostComm& host, Probe* probe, const Showing& own, std::vector<bool>& shares) {
    const auto size = static_cast<std::size_t>(host.size);
    const auto self = static_cast<std::size_t>(host.rank);
    const auto all = GRADCOLL_VALUE(gathered(host.comm.handle, own));
    std::vector<std::uint8_t> mine(size), can_read(size * size);
    if (probe != nullptr && own.shown != 0)
        for (std::size_t peer = 0; peer < size; ++peer)
            mine[peer] = peer != self && probe->reads(all[peer]) ? 1 : 0;
    if (probe != nullptr) probe->forget_peers();
    // Also tells everybody that nobody reads any more.
    GRADCOLL_TRY(from_mpi(PMPI_Allgather(mine.data(), host.size, MPI_BYTE, can_read.data(),
                                         host.size, MPI_BYTE, host.comm.handle),
                          "MPI_Allgather"));
    for (std::size_t peer = 0; peer < size; ++peer)
        shares[static_cast<std::size_t>(all[peer].rank)] =
            can_read[self * size + peer] != 0 && can_read[peer * size + self] != 0;
    return {};
}

}  // namespace

Result<std::vector<bool>> peers_that_share(MPI_Comm comm, Device* device) {
    Showing own;
    int size = 1;
    PMPI_Comm_rank(comm, &own.rank);
    PMPI_Comm_size(comm, &size);
    std::vector<bool> shares(static_cast<std::size_t>(size));
    const bool nobody_has = GRADCOLL_VALUE(all_ranks(comm, device == nullptr));
    if (nobody_has) return shares;

    const HostComm host = GRADCOLL_VALUE(HostComm::make(comm));
    const std::unique_ptr<Probe> probe =
        device != nullptr ? std::make_unique<Probe>(*device) : nullptr;
    own.token = 0x6772616400000000ULL + static_cast<std::uint32_t>(own.rank);
    own.shown = probe != nullptr && probe->show(own).ok() ? 1 : 0;
    GRADCOLL_TRY(compare(host, probe.get(), own, shares));
    return shares;
}

}  // namespace gradcoll
