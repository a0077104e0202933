// smpi_lane.cpp - the transport's channel over SMPI.
#include "smpi_lane.hpp"

#include <smpi/smpi.h>

#include <algorithm>
#include <vector>

namespace gradcoll::simulate {

class SmpiChannel::SmpiLane : public Lane {
  public:
    explicit SmpiLane(const SmpiChannel& channel) : channel_(channel) {}

    Status start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override {
        GRADCOLL_TRY(check_envelope(channel_, peer, tag));
        MPI_Isend(data, static_cast<int>(size_bytes), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                  new_request(cookie));
        return {};
    }
    Status start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override {
        GRADCOLL_TRY(check_envelope(channel_, peer, tag));
        MPI_Irecv(data, static_cast<int>(size_bytes), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                  new_request(cookie));
        return {};
    }
    Result<std::size_t> poll(std::span<Completion> out) override {
        look(MPI_Testsome);
        const std::size_t count = std::min(out.size(), completed_.size());
        std::move(completed_.begin(), completed_.begin() + static_cast<std::ptrdiff_t>(count),
                  out.begin());
        completed_.erase(completed_.begin(),
                         completed_.begin() + static_cast<std::ptrdiff_t>(count));
        return count;
    }
    std::size_t in_flight() const override { return requests_.size(); }
    void abandon() override {
        for (MPI_Request& request : requests_) MPI_Cancel(&request);
        requests_.clear();
        cookies_.clear();
    }
    void block() {
        if (completed_.empty()) look(MPI_Waitsome);
    }

  private:
    using Some = int (*)(int, MPI_Request*, int*, int*, MPI_Status*);

    MPI_Request* new_request(std::uint32_t cookie) {
        cookies_.push_back(cookie);
        return &requests_.emplace_back();
    }

    void look(Some some) {
        if (requests_.empty()) return;
        int count = 0;
        std::vector<int> done(requests_.size());
        std::vector<MPI_Status> statuses(requests_.size());
        some(static_cast<int>(requests_.size()), requests_.data(), &count, done.data(),
             statuses.data());
        for (int i = 0; i < count; ++i) {
            const auto which = static_cast<std::size_t>(done[static_cast<std::size_t>(i)]);
            int bytes = 0;
            MPI_Get_count(&statuses[static_cast<std::size_t>(i)], MPI_BYTE, &bytes);
            completed_.push_back({cookies_[which], static_cast<std::size_t>(bytes), {}});
        }
        if (count > 0) forget_finished();
    }
    void forget_finished() {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            if (requests_[i] == MPI_REQUEST_NULL) continue;
            requests_[kept] = requests_[i];
            cookies_[kept++] = cookies_[i];
        }
        requests_.resize(kept);
        cookies_.resize(kept);
    }

    const SmpiChannel& channel_;
    std::vector<MPI_Request> requests_;
    std::vector<std::uint32_t> cookies_;
    std::vector<Completion> completed_;
};

SmpiChannel::SmpiChannel() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count_);
}

/// Returns a limit of our own: SMPI does not state its limit, and keeps tags in an int; the small
/// ones are its collectives' own.
int SmpiChannel::tag_limit() const {
    return 0x7fffffff;
}

std::unique_ptr<Lane> SmpiChannel::open_lane(std::size_t) {
    auto lane = std::make_unique<SmpiLane>(*this);
    lane_ = lane.get();
    return lane;
}

void SmpiChannel::block() {
    lane_->block();
}

}  // namespace gradcoll::simulate
