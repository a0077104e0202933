// collectives/exchange/exchange.hpp - the table of the exchanges, asked by number: in which rounds
// the branches of one vertex swap parts, and what that costs. `single` (single/) and `merged`
// (build/merge.hpp) swap no parts, so they are no rows, but they have names, rounds and costs, too.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/exchange/exchange_row.hpp"
#include "collectives/plan/plan.hpp"

namespace gradcoll {

/// Returns the rows, in the order of the table. Errors in it (a duplicate number or name) throw
/// std::logic_error from every function of this file that needs it.
std::span<const ExchangeRow* const> exchange_table();

/// Returns all numbers that a vertex may have: the rows, single, merged.
std::span<const Exchange> all_exchanges();
/// Returns whether the number is one of those.
bool is_known(Exchange exchange);
/// Returns whether it is a row of the table: branches swap parts in rounds.
bool is_split(Exchange exchange);

std::string_view name_of(Exchange exchange);
/// Returns one line for people.
std::string_view text_of(Exchange exchange);
/// Returns the names that a user may choose, all_exchanges() without merged: "direct, ring,
/// recursive, single".
std::string exchange_names();
/// Returns nothing if a user cannot choose that name.
std::optional<Exchange> exchange_named(std::string_view name);

/// Return the rounds of a row (see ExchangeRow). Both need is_split().
std::vector<Round> reduce_scatter_rounds(Exchange exchange, int degree, int branch);
std::vector<Round> allgather_rounds(Exchange exchange, int degree, int branch);

/// Each round has this many stages. Two ranks meet at one vertex only, the lowest above both: phase
/// and round number their messages. Reduce-scatter round r is stage 2r, allgather round r is stage
/// 2r + 1.
inline constexpr int stages_per_round = 2;

/// Returns the number of rounds on the way up, for any exchange that is_known(); 0 at a merged
/// vertex.
int round_count(Exchange exchange, int degree);
/// Returns the number of rounds on the way down: 0 after a single exchange.
int rounds_down(Exchange exchange, int degree);

/// Returns how many branches send to one at the same time.
int senders_at_once(Exchange exchange, int degree);
/// Returns whether that is all others, whatever the degree.
bool is_all_at_once(Exchange exchange);

/// Returns how many times (degree - 1) / degree of the vector a branch's link carries in each
/// direction, in a phase; for a single exchange, whose one phase is both, `degree` times.
double times_least_bytes(Exchange exchange, int degree);

/// Returns how often a contribution is encoded on its way up through a vertex, if its codec is
/// lossy.
int encodings_up(Exchange exchange, int degree);

}  // namespace gradcoll
