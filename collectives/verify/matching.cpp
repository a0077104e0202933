// collectives/verify/matching.cpp - sends meet their receives, and nobody waits in a circle.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "collectives/verify/ensemble.hpp"

namespace gradcoll::verification {
namespace {

using Key = std::tuple<int, int, int>;  ///< from, to, stage

class Matcher {
  public:
    explicit Matcher(const Ensemble& all) : all_(all) {
        for (const Schedule* schedule : all.schedules)
            event_of_.emplace_back(schedule->steps.size(), no_event);
    }

    Result<std::vector<Event>> run() {
        GRADCOLL_TRY(collect());
        return order();
    }

  private:
    static constexpr std::size_t no_event = static_cast<std::size_t>(-1);

    Status collect() {
        for (int rank = 0; rank < all_.rank_count; ++rank)
            for (std::uint32_t i = 0; i < all_.schedule(rank).steps.size(); ++i)
                if (all_.step(rank, i).kind != StepKind::recv) GRADCOLL_TRY(add(rank, i));
        for (int rank = 0; rank < all_.rank_count; ++rank)
            for (std::uint32_t i = 0; i < all_.schedule(rank).steps.size(); ++i)
                if (all_.step(rank, i).kind == StepKind::recv) GRADCOLL_TRY(join(rank, i));
        for (const auto& [key, event] : open_)
            return broken(events_[event].rank, events_[event].step, "nobody receives");
        return {};
    }

    Status add(int rank, std::uint32_t index) {
        const Step& step = all_.step(rank, index);
        if (step.kind == StepKind::send &&
            !open_.try_emplace(Key{rank, step.peer, step.stage}, events_.size()).second)
            return broken(rank, index, "a second message with the same receiver and stage");
        mine(rank)[index] = events_.size();
        events_.push_back({rank, index, -1, 0});
        return {};
    }

    Status join(int rank, std::uint32_t index) {
        const Step& step = all_.step(rank, index);
        const auto found = open_.find(Key{step.peer, rank, step.stage});
        if (found == open_.end()) return broken(rank, index, "nobody sends this message");
        Event& event = events_[found->second];
        const std::string wrong =
            mismatch_of(all_.step(event.rank, event.step), all_.schedule(event.rank), event.rank,
                        step, all_.schedule(rank), all_.spec.elem_bytes);
        if (!wrong.empty()) return broken(rank, index, wrong);
        event.to_rank = rank;
        event.to_step = index;
        mine(rank)[index] = found->second;
        open_.erase(found);
        return {};
    }

    /// Orders the events by Kahn's algorithm; a message waits for the dependencies of both its
    /// sides.
    Result<std::vector<Event>> order() {
        std::vector<std::vector<std::size_t>> followers(events_.size());
        std::vector<std::size_t> waits(events_.size(), 0);
        for (int rank = 0; rank < all_.rank_count; ++rank) link(rank, followers, waits);
        std::vector<std::size_t> ready;
        for (std::size_t event = 0; event < events_.size(); ++event)
            if (waits[event] == 0) ready.push_back(event);
        std::vector<Event> ordered;
        while (!ready.empty()) {
            const std::size_t event = ready.back();
            ready.pop_back();
            ordered.push_back(events_[event]);
            for (std::size_t follower : followers[event])
                if (--waits[follower] == 0) ready.push_back(follower);
        }
        for (std::size_t event = 0; event < events_.size(); ++event)
            if (waits[event] != 0)
                return broken(events_[event].rank, events_[event].step,
                              "waits in a circle: deadlock");
        return ordered;
    }

    void link(int rank, std::vector<std::vector<std::size_t>>& followers,
              std::vector<std::size_t>& waits) {
        const Schedule& schedule = all_.schedule(rank);
        for (std::uint32_t i = 0; i < schedule.steps.size(); ++i)
            for (std::uint32_t d = 0; d < schedule.steps[i].dep_count; ++d) {
                followers[mine(rank)[schedule.deps[schedule.steps[i].first_dep + d]]].push_back(
                    mine(rank)[i]);
                ++waits[mine(rank)[i]];
            }
    }

    std::vector<std::size_t>& mine(int rank) { return event_of_[static_cast<std::size_t>(rank)]; }

    const Ensemble& all_;
    std::vector<Event> events_;
    std::vector<std::vector<std::size_t>> event_of_;  ///< by rank, by step
    std::map<Key, std::size_t> open_;                 ///< sends whose receive has not been seen yet
};

}  // namespace

std::string mismatch_of(const Step& send, const Schedule& sender, int sending_rank,
                        const Step& recv, const Schedule& receiver, std::uint32_t elem_bytes) {
    const std::uint64_t sent = message_bytes(send, sender, elem_bytes);
    const std::uint64_t expected = message_bytes(recv, receiver, elem_bytes);
    if (sent == expected && send.codec == recv.codec && send.range.size() == recv.range.size())
        return {};
    return fmt::format("expects {} bytes of {}, but rank {} sends {} of {}", expected,
                       name_of(recv.codec), sending_rank, sent, name_of(send.codec));
}

Result<std::vector<Event>> match_and_order(const Ensemble& all) {
    return Matcher(all).run();
}

}  // namespace gradcoll::verification
