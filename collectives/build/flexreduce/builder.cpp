// collectives/build/flexreduce/builder.cpp - flexreduce's row of the table of builders.
#include "collectives/build/builder.hpp"

#include "collectives/build/flexreduce/flexreduce.hpp"
#include "collectives/build/merge.hpp"

namespace gradcoll {
namespace {

class Flexreduce : public TreeBuilder {
  public:
    explicit Flexreduce(PlannedTree planned)
        : planned_(std::move(planned)), facts_(planned_.tree(), planned_.spec()) {}

    std::uint32_t stage_count() const override { return facts_.stage_count; }

    Result<Schedule> schedule(int rank, std::int64_t chunk_elems) const override {
        auto made =
            flexreduce_schedule(planned_.tree(), planned_.spec(), facts_, rank, chunk_elems);
        if (made.ok()) planned_.number_levels(rank, *made);
        return made;
    }

    bool encodings_go_one_hop() const override {
        return gradcoll::encodings_go_one_hop(planned_.tree(), planned_.spec());
    }

  private:
    PlannedTree planned_;
    FlexreduceFacts facts_;
};

Result<std::shared_ptr<const TreeBuilder>> make_flexreduce(const Tree& tree, const PlanSpec& spec) {
    GRADCOLL_TRY(check_merged(tree, spec.choices));
    PlannedTree planned(tree, spec);
    GRADCOLL_TRY(check_planned(planned.tree(), planned.spec()));
    return std::shared_ptr<const TreeBuilder>(
        std::make_shared<const Flexreduce>(std::move(planned)));
}

}  // namespace

const BuilderRow& flexreduce_builder() {
    static constexpr BuilderRow row{
        .number = Builder::flexreduce,
        .name = "flexreduce",
        .text =
            "an exchange between the branches of every vertex, from the leaves to the root and "
            "back: any call",
        .make = make_flexreduce};
    return row;
}

}  // namespace gradcoll
