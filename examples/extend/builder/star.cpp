// star - every rank sends its vector to rank 0, which adds in rank order and sends the sum back.
#include <fmt/format.h>

#include "collectives/build/builder.hpp"
#include "collectives/build/transfer.hpp"

namespace gradcoll {
namespace {

class Star : public TreeBuilder {
  public:
    Star(const Tree& tree, const PlanSpec& spec)
        : rank_count_(tree.rank_count()),
          level_(static_cast<std::uint8_t>(tree.height() - 1)),
          spec_(spec) {}

    std::uint32_t stage_count() const override { return 2; }

    Result<Schedule> schedule(int rank, std::int64_t chunk_elems) const override {
        Schedule empty;
        empty.count_elems = chunk_elems;
        StepList steps(spec_, std::move(empty));
        Transfer transfer(spec_, steps);
        const Range all{0, chunk_elems};
        if (rank == 0)
            append_centre(transfer, all);
        else
            append_ray(transfer, all);
        return std::move(steps).finish();
    }

  private:
    static constexpr int up = 0;
    static constexpr int down = 1;

    void append_centre(Transfer& transfer, Range all) const {
        transfer.at(level_, up);
        std::vector<Slot> incoming;
        for (int from = 1; from < rank_count_; ++from) {
            incoming.push_back(transfer.parcel({all}, CodecId::exact).message);
            transfer.recv(from, incoming.back(), all, CodecId::exact);
        }
        // Out of place, the first sum takes the rank's own values from the input.
        for (std::size_t i = 0; i < incoming.size(); ++i)
            transfer.reduce(incoming[i], Slot::output(), all, CodecId::exact,
                            i == 0 && !spec_.in_place);
        transfer.at(level_, down);
        for (int to = 1; to < rank_count_; ++to)
            transfer.send(to, Slot::output(), all, CodecId::exact);
    }

    void append_ray(Transfer& transfer, Range all) const {
        transfer.at(level_, up);
        transfer.send(0, spec_.in_place ? Slot::output() : Slot::input(), all, CodecId::exact);
        transfer.at(level_, down);
        transfer.recv(0, Slot::output(), all, CodecId::exact);
    }

    int rank_count_;
    std::uint8_t level_;  ///< level of the root
    PlanSpec spec_;
};

template <class... Args>
Status refused(fmt::format_string<Args...> why, Args&&... args) {
    return {Code::unsupported, fmt::format(why, std::forward<Args>(args)...)};
}

Status check(const Tree& tree, const PlanSpec& spec) {
    constexpr int most_ranks = 1024;  // the centre has memory for all vectors
    if (spec.collective != Collective::allreduce)
        return refused("it is for allreduce only, not {}", name_of(spec.collective));
    if (spec.feedback) return refused("it cannot have feedback");
    if (is_lossy(spec)) return refused("it is for exact calls only");
    if (tree.rank_count() < 2 || tree.rank_count() > most_ranks)
        return refused("it is for 2 to {} ranks, not {}", most_ranks, tree.rank_count());
    for (const VertexChoice& choice : spec.choices)
        if (choice.exchange != Exchange::direct) return refused("it has no exchange to choose");
    return {};
}

Result<std::shared_ptr<const TreeBuilder>> make(const Tree& tree, const PlanSpec& spec) {
    GRADCOLL_TRY(check(tree, spec));
    return std::shared_ptr<const TreeBuilder>(std::make_shared<const Star>(tree, spec));
}

}  // namespace

const BuilderRow& star_builder() {
    static constexpr BuilderRow row{
        .number = Builder{first_outside_number},
        .name = "star",
        .text = "all ranks send to rank 0, which adds and sends the sum back: exact allreduces",
        .make = make};
    return row;
}

}  // namespace gradcoll
