// collectives/exchange/exchange.cpp - the table of the exchanges.
#include "collectives/exchange/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace gradcoll {

#define GRADCOLL_ROW(name) const ExchangeRow& name##_exchange();
#include "exchange_table.inc"
#undef GRADCOLL_ROW

namespace {

int none(int /*degree*/) {
    return 0;
}
int once(int /*degree*/) {
    return 1;
}
double whole_vectors(int degree) {
    return degree;
}

/// The messages of these kinds are no rounds of parts: see single/ and build/merge.hpp.
constexpr ExchangeRow kinds_without_parts[] = {
    {.number = Exchange::single,
     .name = "single",
     .text = "every branch sends everything to every other once, and nothing comes back: for short "
             "exact vectors",
     .rounds_up = once,
     .rounds_down = none,
     .senders_at_once = ExchangeRow::from_all,
     .times_least_bytes = whole_vectors,
     .encodings_up = none},
    {.number = Exchange::merged,
     .name = "merged",
     .text = "no exchange: the branches are branches of the vertex above",
     .rounds_up = none,
     .encodings_up = none}};

/// Table holds rows and kinds by number.
class Table {
  public:
    Table() {
#define GRADCOLL_ROW(name) rows_.push_back(&name##_exchange());
#include "exchange_table.inc"
#undef GRADCOLL_ROW
        for (const ExchangeRow* row : rows_) add(*row);
        for (const ExchangeRow& kind : kinds_without_parts) add(kind);
        std::sort(numbers_.begin(), numbers_.end());
    }

    static const Table& get() {
        static const Table table;
        return table;
    }

    const ExchangeRow* find(Exchange exchange) const {
        return by_number_[static_cast<std::size_t>(exchange)];
    }
    std::span<const ExchangeRow* const> rows() const {
        return rows_;
    }
    std::span<const Exchange> numbers() const {
        return numbers_;
    }

  private:
    void add(const ExchangeRow& row) {
        const ExchangeRow*& place = by_number_[static_cast<std::size_t>(row.number)];
        if (place != nullptr)
            throw std::logic_error(fmt::format("exchanges {} and {} both have the number {}",
                                               place->name, row.name,
                                               static_cast<int>(row.number)));
        for (const Exchange other : numbers_)
            if (find(other)->name == row.name)
                throw std::logic_error(fmt::format("two exchanges are called {}", row.name));
        place = &row;
        numbers_.push_back(row.number);
    }

    std::vector<const ExchangeRow*> rows_;
    std::array<const ExchangeRow*, 256> by_number_{};
    std::vector<Exchange> numbers_;
};

const ExchangeRow& row_of(Exchange exchange) {
    return *Table::get().find(exchange);
}

/// Returns the rounds reversed: parts return on the ways by which their contributions went.
std::vector<Round> backwards(std::vector<Round> rounds) {
    std::reverse(rounds.begin(), rounds.end());
    for (Round& round : rounds) std::swap(round.sends, round.recvs);
    return rounds;
}

}  // namespace

std::span<const ExchangeRow* const> exchange_table() {
    return Table::get().rows();
}

std::span<const Exchange> all_exchanges() {
    return Table::get().numbers();
}

bool is_known(Exchange exchange) {
    return Table::get().find(exchange) != nullptr;
}

bool is_split(Exchange exchange) {
    return is_known(exchange) && row_of(exchange).up != nullptr;
}

std::string_view name_of(Exchange exchange) {
    return is_known(exchange) ? row_of(exchange).name : "unknown";
}

std::string_view text_of(Exchange exchange) {
    return row_of(exchange).text;
}

std::string exchange_names() {
    std::string names;
    for (const Exchange exchange : all_exchanges())
        if (exchange != Exchange::merged)
            names.append(names.empty() ? "" : ", ").append(name_of(exchange));
    return names;
}

std::optional<Exchange> exchange_named(std::string_view name) {
    for (const Exchange exchange : all_exchanges())
        if (exchange != Exchange::merged && name_of(exchange) == name) return exchange;
    return {};
}

std::vector<Round> reduce_scatter_rounds(Exchange exchange, int degree, int branch) {
    return row_of(exchange).up(degree, branch);
}

std::vector<Round> allgather_rounds(Exchange exchange, int degree, int branch) {
    const ExchangeRow& row = row_of(exchange);
    return row.down != nullptr ? row.down(degree, branch) : backwards(row.up(degree, branch));
}

int round_count(Exchange exchange, int degree) {
    return row_of(exchange).rounds_up(degree);
}

int rounds_down(Exchange exchange, int degree) {
    const ExchangeRow& row = row_of(exchange);
    return (row.rounds_down != nullptr ? row.rounds_down : row.rounds_up)(degree);
}

int senders_at_once(Exchange exchange, int degree) {
    return is_all_at_once(exchange) ? degree - 1
                                    : std::min(row_of(exchange).senders_at_once, degree - 1);
}

bool is_all_at_once(Exchange exchange) {
    return row_of(exchange).senders_at_once == ExchangeRow::from_all;
}

double times_least_bytes(Exchange exchange, int degree) {
    const ExchangeRow& row = row_of(exchange);
    return row.times_least_bytes != nullptr ? row.times_least_bytes(degree) : 1;
}

int encodings_up(Exchange exchange, int degree) {
    return row_of(exchange).encodings_up(degree);
}

}  // namespace gradcoll
