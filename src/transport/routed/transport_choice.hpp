// transport/routed/transport_choice.hpp - which transports may be used (GC_TRANSPORTS).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// All, unless it says which.
class TransportChoice {
  public:
    /// "auto", or names of the table with commas between them, in any order. Errors:
    /// invalid_argument naming the word and what is allowed.
    static Result<TransportChoice> parse(std::string_view text);

    bool allows(std::string_view name) const;
    /// As parse() reads it.
    std::string text() const;

  private:
    std::vector<std::string> names_;  ///< empty: all
};

}  // namespace gradcoll
