// collectives/exchange/exchange_row.hpp - the row of an exchange in the table.
//
// A new exchange is a folder with an extension.cmake (`gradcoll_extension(exchange NAME SOURCES
// ...)`) and a source that defines `const ExchangeRow& NAME_exchange()`, which always returns the
// same row. It knows branches and parts by number only: ranges, ranks, codecs, sums and messages
// are flexreduce's work. Everything else in the library asks the table: settings and their
// messages, forecasts, explanations, tools.
#pragma once

#include <string_view>
#include <vector>

#include "collectives/plan/plan.hpp"

namespace gradcoll {

/// A Hop says "these parts of every interval go between us and the interval's owner in branch
/// `branch`": one message for each peer and round.
struct Hop {
    int branch = 0;
    std::vector<int> parts;  ///< each once, in any order
    friend bool operator==(const Hop&, const Hop&) = default;
};

/// A Round is what one branch does at the same time. A round's sends may need the receives of the
/// rounds before it.
struct Round {
    std::vector<Hop> sends;
    std::vector<Hop> recvs;
};

/// An ExchangeRow describes an exchange. Its functions are pure and thread safe. Degrees are 2 or
/// more; branches and parts are numbered from 0, and there are as many parts as branches. Both
/// sides of a message must name it in the same round.
struct ExchangeRow {
    using Rounds = std::vector<Round>(int degree, int branch);
    using OfDegree = int(int degree);
    static constexpr int from_all = 0;

    /// This number is the same on all ranks, and no other row's; in folders outside the project it
    /// is first_outside_number or more.
    Exchange number = Exchange::direct;
    std::string_view name;  ///< the name for gc_exchange; one word, without commas
    std::string_view text;  ///< one line for people, without the name

    /// Returns the reduce-scatter for `branch`: afterwards it holds the sum of part `branch`. What
    /// is received for a part is added to what the branch holds of it; what is sent for a part is
    /// what it holds then.
    Rounds* up = nullptr;
    /// Returns the allgather: from part `branch` alone to all parts. Null: the way up backwards.
    Rounds* down = nullptr;
    OfDegree* rounds_up = nullptr;
    OfDegree* rounds_down = nullptr;  ///< null: as many as on the way up
    /// This many branches send to one at the same time; from_all: all others.
    int senders_at_once = 1;
    /// Says that each branch sends only to the next one. If near branches are neighbours, each link
    /// between them then carries a vector at most once each way.
    bool to_next_only = false;
    /// Returns how many times the least possible, (degree - 1) / degree of the vector, a branch's
    /// link carries in each direction and phase. Null: once.
    double (*times_least_bytes)(int degree) = nullptr;
    /// Returns how often a contribution is encoded on its way up, if the codec is lossy: partial
    /// sums that travel on are encoded again.
    OfDegree* encodings_up = nullptr;
    /// Says that gc_exchange=auto may choose it, if the forecast says that it is the fastest.
    bool automatic = false;
};

}  // namespace gradcoll
