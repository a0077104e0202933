// tests/runtime/one_host/host.hpp - a host for tests: memory for some ranks, which are threads.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/one_host/allgather.hpp"
#include "runtime/one_host/allreduce.hpp"
#include "runtime/one_host/bcast.hpp"
#include "runtime/one_host/reduce.hpp"
#include "runtime/one_host/reduce_scatter.hpp"

namespace gradcoll::test {

/// Returns small parts, so that short vectors already take many blocks. Two ranks reduce all sizes
/// flat, and split all allreduces that are not short.
inline OneHostChoices small_choices(int rank_count = 4) {
    OneHostChoices choices;
    choices.sizes = {1000, 4096};
    choices.flat_ranks = 4;
    choices.flat_max_bytes = rank_count == 2 ? SIZE_MAX : 2048;
    choices.early_split_bytes = 1000;
    choices.stream_min_bytes = 16384;
    return choices;
}

/// HostRank has all collectives of one rank.
struct HostRank {
    HostRank(std::byte* area, int number, int rank_count, const OneHostChoices& choices)
        : rank(number),
          group(area, number, rank_count, choices.sizes,
                Waiter(with_shared_core, nullptr, nullptr)),
          allreduce(group, choices),
          reduce(group, allreduce, choices, piece_bytes),
          bcast(group, piece_bytes),
          allgather(group, piece_bytes),
          reduce_scatter(group, choices) {}

    static constexpr std::size_t piece_bytes = 1024;
    int rank;
    SegmentGroup group;
    OneHostAllreduce allreduce;
    OneHostReduce reduce;
    OneHostBcast bcast;
    OneHostAllgather allgather;
    OneHostReduceScatter reduce_scatter;
};

/// A Host is memory for this many ranks, and what each of them does in a thread of its own.
class Host {
  public:
    Host(int rank_count, const OneHostChoices& choices)
        : rank_count_(rank_count), choices_(choices) {
        const std::size_t bytes = SegmentGroup::bytes_a_rank(rank_count, choices.sizes) *
                                  static_cast<std::size_t>(rank_count);
        area_.reset(static_cast<std::byte*>(std::aligned_alloc(4096, bytes)));
        std::memset(area_.get(), 0, bytes);
    }

    void run(const std::function<void(HostRank& rank)>& body) {
        std::vector<std::thread> threads;
        for (int number = 0; number < rank_count_; ++number)
            threads.emplace_back([&, number] {
                HostRank rank(area_.get(), number, rank_count_, choices_);
                body(rank);
            });
        for (std::thread& thread : threads) thread.join();
    }

  private:
    struct Aligned {
        void operator()(std::byte* area) const { std::free(area); }
    };
    int rank_count_;
    OneHostChoices choices_;
    std::unique_ptr<std::byte, Aligned> area_;
};

}  // namespace gradcoll::test
