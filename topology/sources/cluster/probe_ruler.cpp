// topology/sources/cluster/probe_ruler.cpp - orders and their answers. In a pair, `from` sends,
// takes the time, and reports to rank 0.
#include "topology/sources/cluster/probe_ruler.hpp"

#include <fmt/format.h>

#include "base/clock.hpp"

namespace gradcoll {

namespace {

constexpr int order_tag = 2;
constexpr int report_tag = 3;

enum class Duty : std::int32_t { leave, ping, answer_pings, send_bulk, send_stream, receive };

struct Order {
    Duty duty = Duty::leave;
    std::int32_t peer = -1;
};

Duty duty_of(Signal signal, bool sends) {
    switch (signal) {
        case Signal::latency:
            return sends ? Duty::ping : Duty::answer_pings;
        case Signal::bulk:
            return sends ? Duty::send_bulk : Duty::receive;
        case Signal::stream:
            return sends ? Duty::send_stream : Duty::receive;
    }
    return Duty::leave;
}

bool has_figure(Duty duty) {
    return duty == Duty::ping || duty == Duty::send_bulk || duty == Duty::send_stream;
}

Result<Measured> taken_figure(ProbeMeter& meter, Order order) {
    if (order.duty == Duty::ping) return Measured{GRADCOLL_VALUE(meter.ping(order.peer))};
    return order.duty == Duty::send_bulk ? meter.send_bulk(order.peer)
                                         : meter.send_stream(order.peer);
}

/// Does what the order says; sets `figure` if the duty gives one.
Status do_duty(ProbeMeter& meter, Order order, Measured& figure) {
    if (order.duty == Duty::answer_pings) return meter.answer_pings(order.peer);
    if (!has_figure(order.duty)) return meter.receive_flow(order.peer);
    figure = GRADCOLL_VALUE(taken_figure(meter, order));
    return {};
}

Status send_order(MPI_Comm comm, int rank, Order order) {
    return from_mpi(PMPI_Send(&order, sizeof order, MPI_BYTE, rank, order_tag, comm), "MPI_Send");
}

}  // namespace

MpiRuler::MpiRuler(MPI_Comm comm, std::vector<int> ranks, ProbeEffort effort,
                   std::uint64_t limit_ns)
    : comm_(comm), ranks_(std::move(ranks)), end_ns_(now_ns() + limit_ns), meter_(comm, effort) {}

bool MpiRuler::spent() const {
    return now_ns() > end_ns_;
}

Result<std::vector<Measured>> MpiRuler::measure(Signal signal, std::span<const HostPair> pairs) {
    std::vector<Measured> figures(pairs.size());
    GRADCOLL_TRY(give_orders(signal, pairs));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const int from = rank_of(pairs[i].from);
        const int to = rank_of(pairs[i].to);
        if (from != 0 && to != 0) continue;
        const Order own{duty_of(signal, from == 0), from == 0 ? to : from};
        GRADCOLL_TRY(do_duty(meter_, own, figures[i]));
    }
    GRADCOLL_TRY(collect(pairs, figures));
    return figures;
}

Status MpiRuler::give_orders(Signal signal, std::span<const HostPair> pairs) const {
    for (const HostPair pair : pairs) {
        const int from = rank_of(pair.from);
        const int to = rank_of(pair.to);
        if (from != 0) GRADCOLL_TRY(send_order(comm_, from, {duty_of(signal, true), to}));
        if (to != 0) GRADCOLL_TRY(send_order(comm_, to, {duty_of(signal, false), from}));
    }
    return {};
}

Status MpiRuler::collect(std::span<const HostPair> pairs, std::vector<Measured>& figures) const {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const int from = rank_of(pairs[i].from);
        if (from == 0) continue;
        MPI_Request request = MPI_REQUEST_NULL;
        GRADCOLL_TRY(from_mpi(
            PMPI_Irecv(&figures[i], sizeof(Measured), MPI_BYTE, from, report_tag, comm_, &request),
            "MPI_Irecv"));
        GRADCOLL_TRY(wait_gently(request));
    }
    return {};
}

Status MpiRuler::dismiss() const {
    Status first;
    for (const int rank : ranks_) {
        Status status = rank == 0 ? Status() : send_order(comm_, rank, {});
        if (first.ok()) first = std::move(status);
    }
    return first;
}

Status obey_probe(MPI_Comm comm, ProbeEffort effort) {
    ProbeMeter meter(comm, effort);
    while (true) {
        Order order;
        MPI_Request request = MPI_REQUEST_NULL;
        GRADCOLL_TRY(from_mpi(
            PMPI_Irecv(&order, sizeof order, MPI_BYTE, 0, order_tag, comm, &request), "MPI_Irecv"));
        GRADCOLL_TRY(wait_gently(request));
        if (order.duty == Duty::leave) return {};
        Measured figure;
        GRADCOLL_TRY(do_duty(meter, order, figure));
        if (has_figure(order.duty))
            GRADCOLL_TRY(from_mpi(PMPI_Send(&figure, sizeof figure, MPI_BYTE, 0, report_tag, comm),
                                  "MPI_Send"));
    }
}

}  // namespace gradcoll
