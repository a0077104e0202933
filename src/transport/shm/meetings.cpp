#include "transport/shm/meetings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "base/mpi/exchange.hpp"
#include "transport/shm/segment.hpp"
#include "transport/shm/shm_channel.hpp"

namespace gradcoll {
namespace {

std::uint64_t random_number() {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
}

/// Secret says where a rank keeps a number that only it knows.
struct Secret {
    std::int64_t process = 0;
    std::uint64_t address = 0;
    std::uint64_t value = 0;
};

/// Returns who may be read, if every rank can read its neighbour: the number tells that it is the
/// right process. Collective over the host; numbers stay where they are meanwhile.
Result<PeerMemory> probe_reading(const HostComm& host, const std::vector<Secret>& all,
                                 std::size_t least_read_bytes) {
    const Secret& next = all[static_cast<std::size_t>((host.rank + 1) % host.size)];
    std::uint64_t found = ~next.value;
    const ssize_t count =
        read_process(static_cast<pid_t>(next.process), next.address, &found, sizeof found);
    const bool is_it = count == sizeof found && found == next.value;
    const bool permitted = GRADCOLL_VALUE(all_ranks(host.comm.handle, is_it));
    PeerMemory memory;
    memory.least_bytes = least_read_bytes;
    if (!permitted) return memory;
    for (const Secret& secret : all) memory.processes.push_back(static_cast<pid_t>(secret.process));
    return memory;
}

/// A Meeting is memory, and the messages through it.
struct Meeting {
    std::unique_ptr<SharedSegment> segment;
    std::shared_ptr<ShmTraffic> traffic;
};

Result<std::shared_ptr<ShmTraffic>> new_meeting(const HostComm& host,
                                                const std::vector<Secret>& secrets,
                                                const MeetingChoice& choice) {
    auto meeting = std::make_shared<Meeting>();
    meeting->segment = GRADCOLL_VALUE(
        SharedSegment::make(host.comm.handle, choice.bytes_a_rank, choice.bytes_a_rank));
    PeerMemory memory;
    if (choice.least_read_bytes > 0)
        memory = GRADCOLL_VALUE(probe_reading(host, secrets, choice.least_read_bytes));
    meeting->traffic = GRADCOLL_VALUE(
        ShmTraffic::make({meeting->segment->data(), choice.bytes_a_rank, host.rank, host.size},
                         host.ranks, std::move(memory)));
    return std::shared_ptr<ShmTraffic>(meeting, meeting->traffic.get());
}

/// MeetingKey says whose messages go through one memory.
struct MeetingKey {
    std::vector<std::int64_t> processes;
    std::vector<int> rank_names;
    MeetingChoice choice;

    bool operator==(const MeetingKey&) const = default;
};

/// Proposal is what rank 0 of the host sends.
struct Proposal {
    std::uint64_t meeting = 0;  ///< the meeting to join; 0: a new one
    std::uint64_t next = 0;     ///< name for a new one
    std::uint64_t group = 0;    ///< number of the group in the one that is there
};

/// Meetings knows all meetings of this process, by names that no two of a host have.
class Meetings {
  public:
    Proposal propose(const MeetingKey& key) {
        const std::scoped_lock lock(mutex_);
        std::erase_if(known_, [](const Known& known) { return known.traffic.expired(); });
        Known* best = nullptr;
        std::size_t alike = 0;
        for (Known& known : known_) {
            if (known.key != key || !is_sound(known)) continue;
            ++alike;
            if (known.last_group == std::numeric_limits<std::uint16_t>::max()) continue;
            if (best == nullptr || known.traffic.use_count() < best->traffic.use_count())
                best = &known;
        }
        Proposal proposal{.next = random_number()};
        if (alike >= own_meetings && best != nullptr) {
            proposal.meeting = best->name;
            proposal.group = ++best->last_group;
        }
        return proposal;
    }
    /// Returns null if this process has the meeting no more, or never had it, or if it has failed.
    std::shared_ptr<ShmTraffic> find(std::uint64_t name) {
        const std::scoped_lock lock(mutex_);
        for (const Known& known : known_)
            if (known.name == name && is_sound(known)) return known.traffic.lock();
        return nullptr;
    }
    void add(std::uint64_t name, MeetingKey key, const std::shared_ptr<ShmTraffic>& traffic) {
        const std::scoped_lock lock(mutex_);
        known_.push_back({name, std::move(key), traffic, 0});
    }

  private:
    struct Known {
        std::uint64_t name = 0;
        MeetingKey key;
        std::weak_ptr<ShmTraffic> traffic;
        std::uint16_t last_group = 0;  ///< number of the last one that was used; dealt by rank 0
    };

    static bool is_sound(const Known& known) {
        const auto traffic = known.traffic.lock();
        return traffic != nullptr && !traffic->has_failed();
    }

    std::mutex mutex_;
    std::vector<Known> known_;
};

/// Returns the meetings, which are never destroyed: calls may still come while the process leaves.
Meetings& meetings() {
    static Meetings& meetings = *new Meetings;
    return meetings;
}

/// Joins the proposed meeting. Returns null, on every rank, if one of them does not have it as the
/// others do.
Result<std::unique_ptr<Channel>> join(const HostComm& host, const Proposal& proposal) {
    std::unique_ptr<Channel> channel;
    const auto traffic = meetings().find(proposal.meeting);
    if (traffic != nullptr && traffic->rank() == host.rank && traffic->rank_count() == host.size)
        channel = std::make_unique<ShmChannel>(traffic, static_cast<std::uint16_t>(proposal.group));
    // This also tells everybody that all have made it, before anybody sends.
    const bool all_have = GRADCOLL_VALUE(all_ranks(host.comm.handle, channel != nullptr));
    if (!all_have) channel.reset();
    return channel;
}

}  // namespace

Result<std::unique_ptr<Channel>> meet(const HostComm& host, const MeetingChoice& choice) {
    const std::uint64_t number = random_number();
    const Secret own{getpid(), reinterpret_cast<std::uintptr_t>(&number), number};
    const auto secrets = GRADCOLL_VALUE(gathered(host.comm.handle, own));
    MeetingKey key{{}, host.ranks, choice};
    for (const Secret& secret : secrets) key.processes.push_back(secret.process);
    Proposal proposal;
    if (host.rank == 0) proposal = meetings().propose(key);
    GRADCOLL_TRY(broadcast(host.comm.handle, proposal));
    if (proposal.meeting != 0)
        if (auto channel = GRADCOLL_VALUE(join(host, proposal)); channel != nullptr) return channel;
    const auto traffic = GRADCOLL_VALUE(new_meeting(host, secrets, choice));
    meetings().add(proposal.next, std::move(key), traffic);
    return std::unique_ptr<Channel>(std::make_unique<ShmChannel>(traffic, std::uint16_t{0}));
}

}  // namespace gradcoll
