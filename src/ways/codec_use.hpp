// ways/codec_use.hpp - whether calls of a shape use the codecs that the settings name, or are
// better exact. Pure; rests only on facts that all ranks share.
#pragma once

#include <utility>
#include <vector>

#include "collectives/choose/codec_choice.hpp"
#include "settings/settings.hpp"
#include "topology/tree.hpp"
#include "ways/route.hpp"

namespace gradcoll {

struct CodecQuestion {
    const Tree& tree;  ///< that the call takes if it is compressed
    const Settings& settings;
    CallKey key;           ///< of the compressed call
    int memory_ranks = 0;  ///< an exact one goes through the memory of so many ranks of one host;
                           ///< 0: it does not
};

struct CodecUse {
    ExactReason left_out = ExactReason::none;  ///< none: some exchange is compressed
    LossParts loss_parts;                      ///< see Plan
    std::vector<CodecVerdict> levels;          ///< that were weighed, nearest the ranks first
    double compressed_us = 0;  ///< of the whole call, if it was compared with one ...
    double memory_us = 0;      ///< ... through the memory of one host; 0: it was not
};

/// With gc_compress_if=always only what no exchange compresses is left out. Time: that of a
/// decision, and with a codec once more for each level.
CodecUse codec_use(const CodecQuestion& question);

/// The answers for the last shapes of one communicator, until its tree or its settings change.
class CodecUses {
  public:
    /// Null: not known.
    const CodecUse* find(const CallKey& key) const;
    const CodecUse& add(const CallKey& key, CodecUse use);
    void forget() { known_.clear(); }

  private:
    std::vector<std::pair<CallKey, CodecUse>> known_;
    std::size_t next_ = 0;
};

}  // namespace gradcoll
