// regret/variant.hpp - one way to do an allreduce: settings of a communicator, or the MPI library.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradcoll::bench {

struct Variant {
    std::string name;
    bool by_mpi = false;                                        ///< MPI_Allreduce itself
    std::vector<std::pair<std::string, std::string>> settings;  ///< info key, value
};

/// "NAME;KEY=VALUE;KEY=VALUE...". Nothing if a part is not KEY=VALUE, or the name is empty.
std::optional<Variant> variant_from(std::string_view text);

/// A vector of floats that is summed over MPI_COMM_WORLD in the way of a variant.
class Way {
  public:
    /// Collective. A setting that the library refuses: refusal().
    Way(Variant variant, const std::vector<std::pair<std::string, std::string>>& common);
    ~Way();
    Way(const Way&) = delete;
    Way& operator=(const Way&) = delete;

    const std::string& name() const { return variant_.name; }
    /// The library's message; empty: nothing is refused.
    const std::string& refusal() const { return refusal_; }
    /// Error code of MPI. Sums `count` floats.
    int run(const float* input, float* output, int count) const;

  private:
    void apply(const std::pair<std::string, std::string>& setting);

    Variant variant_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    std::string refusal_;
};

}  // namespace gradcoll::bench
