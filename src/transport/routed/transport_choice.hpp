// transport/routed/transport_choice.hpp - which transports may be used (GC_TRANSPORTS).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// NicUse says whether messages that leave a host go by the NIC agents of hosts (GC_NIC).
enum class NicUse : std::uint8_t {
    off,
    on,        ///< the agents that run are used
    on_demand  ///< a host that has none starts one
};
struct NicChoice {
    NicUse use = NicUse::off;
    bool sums = false;  ///< whether agents add whole vectors, too (transport/vector_sums.hpp)
};

/// A TransportChoice allows all transports, unless it says which.
class TransportChoice {
  public:
    /// Reads "auto", or names of the table with commas between them, in any order. Errors:
    /// invalid_argument naming the word and what is allowed.
    static Result<TransportChoice> parse(std::string_view text);

    bool allows(std::string_view name) const;
    bool allows_all() const { return names_.empty(); }
    /// Returns the text in the form that parse() reads.
    std::string text() const;

  private:
    std::vector<std::string> names_;  ///< allowed ones; empty: all
};

}  // namespace gradcoll
