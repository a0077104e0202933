// mover/files/trace_picture.cpp - a plan as trace events; see plan_file.hpp.
#include <fmt/format.h>

#include <iterator>

#include "mover/analysis/memory.hpp"
#include "mover/files/plan_file.hpp"
#include "topology/json_value.hpp"

namespace gradcoll::mover {
namespace {

enum class Row : std::uint8_t { compute = 1, out, in, network };

/// Returns the time in microseconds, to the nanosecond.
std::string microseconds(Tick ticks) {
    return fmt::format("{}.{:03}", ticks / 1000, ticks % 1000);
}

class PlanTrace {
  public:
    PlanTrace(const Program& program, const MovePlan& plan) : program_(program), plan_(plan) {}

    std::string text() {
        for (std::size_t r = 0; r < plan_.ranks.size(); ++r) add_rank(r);
        return R"({"displayTimeUnit":"ms","otherData":{"producer":"gradcoll move plan 1"},)"
               "\n\"traceEvents\":[\n" +
               events_ + "\n]}\n";
    }

  private:
    void add(const std::string& event) {
        if (!events_.empty()) events_ += ",\n";
        events_ += event;
    }

    void add_rank(std::size_t r) {
        const RankProgram& rank = program_.ranks[r];
        const RankMoves& moves = plan_.ranks[r];
        add_title(r, "process_name", 0, fmt::format("rank {}", r));
        for (const auto& [lane, title] : {std::pair{Row::compute, "compute"},
                                          {Row::out, "out"},
                                          {Row::in, "in"},
                                          {Row::network, "network"}})
            add_title(r, "thread_name", static_cast<int>(lane), title);
        for (std::size_t n = 0; n < rank.operators.size(); ++n) add_operator(r, n);
        for (const Move& move : moves.moves) add_move(r, move);
        add_counter(r, "device memory", device_memory_over_time(rank, moves, plan_.step_ticks));
        add_counter(r, "host memory", host_memory_over_time(rank, moves));
    }

    void add_title(std::size_t r, const char* what, int lane, const std::string& title) {
        add(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}}}})", r,
                        lane, what, json_string(title)));
    }

    void add_slice(std::size_t r, Row lane, const std::string& name, Span span,
                   const std::string& args) {
        add(fmt::format(
            R"({{"ph":"X","pid":{},"tid":{},"name":{},"ts":{},"dur":{},"args":{{{}}}}})", r,
            static_cast<int>(lane), json_string(name), microseconds(span.start),
            microseconds(span.end - span.start), args));
    }

    void add_operator(std::size_t r, std::size_t n) {
        const Operator& op = program_.ranks[r].operators[n];
        const Tick start = plan_.ranks[r].starts[n];
        add_slice(r, Row::compute, label_of(program_, op), {start, start + op.duration},
                  fmt::format(R"("operator":{},"kind":"{}")", n, name_of(op.kind)));
        if (op.kind == OperatorKind::reduce)
            add_slice(r, Row::network, label_of(program_, op), {start, start + op.duration},
                      fmt::format(R"("operator":{},"holds the link":{})", n, op.holds_lane));
        if (op.needs_rank < 0 || op.delay == 0) return;
        const auto from = static_cast<std::size_t>(op.needs_rank);
        const auto needed = static_cast<std::size_t>(op.needs_operator);
        const Tick sent =
            plan_.ranks[from].starts[needed] + program_.ranks[from].operators[needed].duration;
        add_slice(r, Row::network, fmt::format("from rank {}", from), {sent, sent + op.delay},
                  fmt::format(R"("for operator":{})", n));
    }

    void add_move(std::size_t r, const Move& move) {
        const DeviceTensor& tensor =
            program_.ranks[r].tensors[static_cast<std::size_t>(move.tensor)];
        const std::string name = label_of(program_, tensor);
        const Tick slack = slack_of(plan_.ranks[r], move, plan_.step_ticks);
        const Tick needed = move.prefetch.end + slack;
        add_slice(r, Row::out, "TRANSFER " + name, move.transfer,
                  fmt::format(R"("bytes":{},"after":{})", tensor.bytes, move.after));
        add_slice(r, Row::in, "PREFETCH " + name, move.prefetch,
                  fmt::format(R"("bytes":{},"needed by":{},"slack_ns":{})", tensor.bytes,
                              move.needed_by, slack));
        ++arrows_;
        if (move.lives_in_host()) {
            add_arrow(r, 's', Row::in, move.prefetch.start);
            add_arrow(r, 't', Row::compute, needed);
            add_arrow(r, 'f', Row::out, move.transfer.start);
            return;
        }
        add_arrow(r, 's', Row::out, move.transfer.start);
        add_arrow(r, 't', Row::in, move.prefetch.start);
        add_arrow(r, 'f', Row::compute, needed);
    }

    void add_arrow(std::size_t r, char phase, Row lane, Tick at) {
        add(fmt::format(
            R"({{"ph":"{}","bp":"e","cat":"move","name":"move","id":{},"pid":{},"tid":{},"ts":{}}})",
            phase, arrows_, r, static_cast<int>(lane), microseconds(at)));
    }

    void add_counter(std::size_t r, const char* name, const std::vector<MemoryPoint>& points) {
        for (const MemoryPoint& point : points)
            add(fmt::format(R"({{"ph":"C","pid":{},"name":"{}","ts":{},"args":{{"bytes":{}}}}})", r,
                            name, microseconds(point.at), point.bytes));
    }

    const Program& program_;
    const MovePlan& plan_;
    std::string events_;
    std::uint64_t arrows_ = 0;
};

}  // namespace

std::string trace_of(const Program& program, const MovePlan& plan) {
    return PlanTrace(program, plan).text();
}

}  // namespace gradcoll::mover
