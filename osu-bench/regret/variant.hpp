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

/// Reads "NAME;KEY=VALUE;KEY=VALUE...". Returns nothing if a part is not KEY=VALUE, or the name is
/// empty.
std::optional<Variant> variant_from(std::string_view text);

/// A Way sums a vector of floats over MPI_COMM_WORLD as a variant says.
class Way {
  public:
    /// Makes the communicator. Collective. refusal() tells whether the library refused a setting.
    Way(Variant variant, const std::vector<std::pair<std::string, std::string>>& common);
    ~Way();
    Way(const Way&) = delete;
    Way& operator=(const Way&) = delete;

    const std::string& name() const { return variant_.name; }
    /// Returns the library's message; empty: nothing is refused.
    const std::string& refusal() const { return refusal_; }
    /// Sums `count` floats. Returns an error code of MPI.
    int run(const float* input, float* output, int count) const;

  private:
    void apply(const std::pair<std::string, std::string>& setting);

    Variant variant_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    std::string refusal_;
};

}  // namespace gradcoll::bench
