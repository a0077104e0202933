// contest.hpp - compares a codec kernel with a copy of as many bytes, in turns.
#pragma once

#include <string_view>
#include <vector>

#include "compress/codec_cuda.hpp"
#include "gpu.hpp"
#include "job_sets.hpp"
#include "options.hpp"
#include "report.hpp"

namespace gradcoll::bench {

/// A Form is one of the kernels that give the same bytes.
struct Form {
    std::string_view name;
    CodecForm form;
};
/// Returns two forms for N:M codecs, one for others.
std::vector<Form> forms_of(const Kind& kind);

/// A Contest is for one kind, work and size; it measures all forms, cold and, if the buffers fit,
/// in the L2.
class Contest {
  public:
    Contest(const GpuOptions& options, const GpuFacts& facts, Kind kind, CodecWork work,
            std::size_t size_bytes);

    /// Returns what differs from the CPU's bytes; empty if nothing does.
    std::string wrong_with(const Form& form);
    std::vector<Residency> residencies() const;
    GpuRow measure(const Form& form, Residency residency);

  private:
    void launch(const Form& form, std::size_t set) const;
    void copy(std::size_t pair) const;
    int calls_for(std::size_t sets) const;
    bool called_invalid() const;
    std::string name_of_case(const Form& form) const;

    const GpuOptions& options_;
    const GpuFacts& facts_;
    Kind kind_;
    CodecWork work_;
    std::size_t size_bytes_;
    std::size_t count_;
    MovedBytes moved_;
    Expected expected_;
    JobSets sets_;
    std::vector<GpuBuffer> copies_;  ///< pairs of source and target
    GpuBuffer invalid_;
    GpuStream stream_;
};

}  // namespace gradcoll::bench
