// pair - two ranks give each other their vectors, and each adds both: one message each way, and no
// plan. It takes the exact allreduces of communicators of two ranks, unless somebody has
// chosen an exchange, a builder or chunks.
#include <limits>
#include <optional>
#include <vector>

#include "ways/way.hpp"

namespace gradcoll {

const WayInfo& pair_way();

namespace {

/// A Pair is this way on one communicator.
class Pair final : public Way {
  public:
    explicit Pair(const WayParts& parts)
        : comm_(parts.comm), settings_(parts.settings), statistics_(parts.statistics) {}

    const WayInfo& info() const override { return pair_way(); }

    /// Both ranks come here for the same call, so both make the duplicate of the communicator that
    /// their messages go over.
    WayOffer offers(const WayQuestion& question) override {
        if (!foreseen(question).exact) return {};
        if (!own_) {
            auto made = PrivateComm::make(comm_.private_comm());
            if (!made) return {};
            own_.emplace(std::move(made).value());
        }
        return {.exact = true};
    }

    WayOffer foreseen(const WayQuestion& question) const override {
        const bool fits = question.kind == CallKind::allreduce && comm_.rank_count() == 2 &&
                          !question.shape.by_mpi() && !settings_.current().chooses_plan();
        return {.exact = fits && question.shape.size_bytes() <=
                                     static_cast<std::uint64_t>(std::numeric_limits<int>::max())};
    }

    Status run(const WayCall& call) override {
        const int mine = call.refusal != nullptr ? static_cast<int>(call.refusal->code()) : 0;
        int others = 0;
        GRADCOLL_TRY(swap(&mine, &others, sizeof mine));
        if (call.refusal != nullptr) return *call.refusal;
        if (others != 0) return {Code::peer_failed, "the other rank cannot take part"};
        return add(binding_of(call.arguments, call.shape), call.shape);
    }

  private:
    Status swap(const void* given, void* taken, std::size_t size_bytes) {
        const int peer = 1 - comm_.rank();
        const int count = static_cast<int>(size_bytes);
        return from_mpi(PMPI_Sendrecv(given, count, MPI_BYTE, peer, 0, taken, count, MPI_BYTE, peer,
                                      0, own_->handle(), MPI_STATUS_IGNORE),
                        "MPI_Sendrecv");
    }

    /// Both ranks add in the order of ranks, so that both have the same bits.
    Status add(const Binding& binding, const CallShape& shape) {
        const auto size_bytes = static_cast<std::size_t>(shape.size_bytes());
        others_.resize(size_bytes);
        GRADCOLL_TRY(swap(binding.input, others_.data(), size_bytes));
        const bool is_first = comm_.rank() == 0;
        binding.reducer(is_first ? binding.input : others_.data(),
                        is_first ? others_.data() : binding.input, binding.output,
                        static_cast<std::size_t>(shape.count));
        CallRecord record;
        record.bytes = record.bytes_sent = record.bytes_sent_exact = size_bytes;
        statistics_.count_served(record);
        return {};
    }

    const CommIdentity& comm_;
    const CommSettings& settings_;
    CommStatistics& statistics_;
    std::optional<PrivateComm> own_;
    std::vector<std::byte> others_;
};

}  // namespace

const WayInfo& pair_way() {
    static constexpr WayInfo info{.name = "pair",
                                  .says = "goes from each of the two ranks to the other",
                                  .over_tree = false,
                                  .is_timed = false,
                                  .make = [](const WayParts& parts) -> std::unique_ptr<Way> {
                                      return std::make_unique<Pair>(parts);
                                  }};
    return info;
}

}  // namespace gradcoll
