// contest.hpp - a codec kernel beside a copy of as many bytes, in turns.
#pragma once

#include <string_view>
#include <vector>

#include "compress/codec_cuda.hpp"
#include "gpu.hpp"
#include "job_sets.hpp"
#include "options.hpp"
#include "report.hpp"

namespace gradcoll::bench {

/// One of the kernels that give the same bytes.
struct Form {
    std::string_view name;
    CodecForm form;
};
/// N:M codecs have two, the others one.
std::vector<Form> forms_of(const Kind& kind);

/// One kind, work and size; all its forms, cold and, where the buffers fit, in the L2.
class Contest {
  public:
    Contest(const GpuOptions& options, const GpuFacts& facts, Kind kind, CodecWork work,
            std::size_t size_bytes);

    /// What differs from the CPU's bytes; empty if nothing does.
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
    std::vector<GpuBuffer> copies_;  ///< pairs of from and to
    GpuBuffer invalid_;
    GpuStream stream_;
};

}  // namespace gradcoll::bench
