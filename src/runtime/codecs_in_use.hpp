// runtime/codecs_in_use.hpp - the codecs of a plan, with their kernels on this CPU, and what packs
// its messages.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "collectives/plan/plan.hpp"
#include "compress/codec.hpp"
#include "compress/lossless/packer.hpp"

namespace gradcoll {

/// Tells a codec that waits for a call's tolerance what its encodings may lose; others keep what
/// they have. Never sets 0, which is as good as none: a codec with none may be one of another rate.
void tell_tolerance(Codec& codec, double abs);

/// CodecsInUse keeps the few codecs of a plan, so that looking one up is quick. It allocates only
/// when it is made.
class CodecsInUse {
  public:
    /// Collects the codecs of every step that encodes, decodes, or moves what is encoded. The exact
    /// one is always among them, for blocks that are plain and for what somebody else has decoded.
    /// Errors: unsupported for the plan's type.
    static Result<CodecsInUse> of(const Plan& plan);

    /// Sets, where the plan leaves the tolerance to the call, how much of the loss
    /// (loss_parts_of()) that an operation allows falls to one part. It must be the same on every
    /// rank, or frames do not check out.
    void tell_tolerance(double part);

    /// Returns the codec `id`, which a step of the plan must have.
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
