// ways/mpi/mpi_way.cpp - the way of blocking allreduces that the MPI library sums after all: short
// exact ones, and those that are faster there or are being tried.
#include "ways/way.hpp"

namespace gradcoll {
namespace {

class MpiWay final : public Way {
  public:
    explicit MpiWay(const WayParts& parts) : statistics_(parts.statistics) {}

    const WayInfo& info() const override { return mpi_way(); }
    bool reads_devices() const override { return true; }

    Status run(const WayCall& call) override {
        if (call.refusal != nullptr) return *call.refusal;
        statistics_.count_passed(CallKind::allreduce, call.shape.size_bytes(), call.pass_reason);
        return pass_allreduce(call.arguments).as_status("MPI_Allreduce");
    }

  private:
    CommStatistics& statistics_;
};

}  // namespace

const WayInfo& mpi_way() {
    static constexpr WayInfo info{.name = "mpi",
                                  .says = "passes to the MPI library",
                                  .over_tree = false,
                                  .is_timed = true,
                                  .make = [](const WayParts& parts) -> std::unique_ptr<Way> {
                                      return std::make_unique<MpiWay>(parts);
                                  }};
    return info;
}

}  // namespace gradcoll
