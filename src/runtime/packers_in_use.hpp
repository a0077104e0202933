// runtime/packers_in_use.hpp - what packs the messages of a plan.
#pragma once

#include <memory>
#include <vector>

#include "base/status.hpp"
#include "collectives/plan/plan.hpp"
#include "compress/lossless/packer.hpp"

namespace gradcoll {

/// PackersInUse is used by the thread that has the messages, and allocates only when it is made.
class PackersInUse {
  public:
    /// Makes the packers of every message of the plan. Errors: out_of_memory.
    static Result<PackersInUse> of(const Plan& plan);

    /// Returns the packer of a message whose codec packs.
    Packer& of(const Step& message) const { return *find(packing_of(message.codec)); }

  private:
    Packer* find(Packing packing) const;
    Status add(const Schedule& schedule);

    std::vector<std::unique_ptr<Packer>> packers_;
};

}  // namespace gradcoll
