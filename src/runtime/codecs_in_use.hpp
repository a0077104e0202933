// runtime/codecs_in_use.hpp - the codecs of a plan, with their kernels on this CPU.
#pragma once

#include <algorithm>
#include <vector>

#include "base/status.hpp"
#include "collectives/plan/plan.hpp"
#include "compress/codec.hpp"

namespace gradcoll {

/// Few, so that looking one up is quick. Allocates only when made.
class CodecsInUse {
  public:
    /// Those of every step that encodes, decodes, or moves what is encoded; and the exact one, for
    /// blocks that are plain, and for what somebody else has decoded. Errors: unsupported for the
    /// plan's type.
    static Result<CodecsInUse> of(const Plan& plan);

    /// What a part is of the loss (loss_parts_of()) that an operation that begins allows, where the
    /// plan leaves it to the call. The same on every rank, or frames do not check out.
    void tell_tolerance(double part);

    /// Precondition: a step of the plan has it.
    const Codec& operator[](CodecId id) const {
        return *std::find_if(codecs_.begin(), codecs_.end(),
                             [id](const Codec& codec) { return codec.id == id; });
    }

  private:
    Status add(CodecId codec, ElementType type);
    bool has(CodecId id) const {
        return std::any_of(codecs_.begin(), codecs_.end(),
                           [id](const Codec& codec) { return codec.id == id; });
    }

    std::vector<Codec> codecs_;
};

}  // namespace gradcoll
