// transport/routed/transport_choice.hpp - which transports may be used (GC_TRANSPORTS).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// Whether messages that leave a host go by the NIC agents of hosts (GC_NIC).
enum class NicUse : std::uint8_t {
    off,
    on,        ///< by those that run
    on_demand  ///< a host that has none starts one
};
struct NicChoice {
    NicUse use = NicUse::off;
    bool sums = false;  ///< agents add whole vectors, too (transport/vector_sums.hpp)
};

/// All, unless it says which.
class TransportChoice {
  public:
    /// "auto", or names of the table with commas between them, in any order. Errors:
    /// invalid_argument naming the word and what is allowed.
    static Result<TransportChoice> parse(std::string_view text);

    bool allows(std::string_view name) const;
    bool allows_all() const { return names_.empty(); }
    /// As parse() reads it.
    std::string text() const;

  private:
    std::vector<std::string> names_;  ///< empty: all
};

}  // namespace gradcoll
