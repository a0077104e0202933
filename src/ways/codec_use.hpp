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
    const Tree& tree;  ///< tree that the call goes over if it is compressed
    const Settings& settings;
    CallKey key;           ///< key of the compressed call
    int memory_ranks = 0;  ///< number of ranks of one host through whose memory an exact call goes;
                           ///< 0: it does not
};

struct CodecUse {
    ExactReason left_out = ExactReason::none;  ///< why all is exact; none: some exchange is
                                               ///< compressed
    LossParts loss_parts;                      ///< see Plan
    std::vector<CodecVerdict> levels;  ///< levels that were weighed, nearest the ranks first
    double compressed_us = 0;          ///< time of the whole call, if it was compared
    double memory_us = 0;  ///< time through the memory of one host; 0: it was not compared
};

/// Decides whether calls of a shape use codecs. With gc_compress_if=always only what no exchange
/// compresses is left out. Time: that of a decision, and with a codec once more for each level.
CodecUse codec_use(const CodecQuestion& question);

/// CodecUses keeps the answers for the last shapes of one communicator, until its tree or its
/// settings change.
class CodecUses {
  public:
    /// Returns null if the answer is not known.
    const CodecUse* find(const CallKey& key) const;
    const CodecUse& add(const CallKey& key, CodecUse use);
    void forget() { known_.clear(); }

  private:
    std::vector<std::pair<CallKey, CodecUse>> known_;
    std::size_t next_ = 0;
};

}  // namespace gradcoll
