// An executor with a trace: what the spans say is what the plan says.
#include "runtime/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "runtime/step_pool.hpp"
#include "runtime/thread_ranks.hpp"

namespace gradcoll {
namespace {

using Json = nlohmann::json;

/// A Shape is name, level, peer, chunk, operation and bytes.
using Shape = std::tuple<std::string, int, int, std::int64_t, std::uint32_t, std::uint64_t>;

Json json_of(const Trace& trace) {
    std::string text;
    trace.write([&](std::string_view piece) { text += piece; });
    return Json::parse(text);
}

std::vector<Json> spans_of(const Trace& trace) {
    std::vector<Json> spans;
    const Json file = json_of(trace);
    for (const Json& event : file.at("traceEvents"))
        if (event.at("ph") == "X") spans.push_back(event);
    return spans;
}

Shape shape_of(const Json& span) {
    const Json& args = span.at("args");
    return {span.at("name"),        args.value("level", -1),
            args.value("peer", -1), args.value("chunk", std::int64_t{-1}),
            args.at("operation"),   args.value("bytes", std::uint64_t{0})};
}

bool is_step(const Json& span) {
    return span.at("args").contains("chunk");
}

std::multiset<Shape> steps_of_plan(const Plan& plan, std::uint32_t operation) {
    std::multiset<Shape> shapes;
    for (std::int64_t chunk = 0; chunk < plan.chunk_count; ++chunk) {
        const Schedule& schedule = plan.schedule_of(chunk);
        for (const Step& step : schedule.steps) {
            const bool message = step.kind == StepKind::send || step.kind == StepKind::recv;
            const std::uint64_t bytes =
                message ? message_bytes(step, schedule, plan.spec.elem_bytes)
                        : static_cast<std::uint64_t>(step.range.size()) * plan.spec.elem_bytes;
            shapes.emplace(std::string(name_of(step.kind)), step.level, step.peer, chunk, operation,
                           bytes);
        }
    }
    return shapes;
}

double end_of(const Json& span) {
    return span.at("ts").get<double>() + span.at("dur").get<double>();
}

Status run_traced(Executor& executor, const Binding& binding, StepPool* pool) {
    if (pool == nullptr) return executor.run(binding);
    GRADCOLL_TRY(executor.start(binding));
    return finish_with(executor, *pool);
}

/// Calls check(plan, trace) on every rank after `operations` allreduces with one executor. If there
/// is a pool it runs the local steps.
template <class Check>
void trace_on_all_ranks(Scenario shape, std::uint32_t operations, std::size_t max_spans,
                        const Check& check, StepPool* pool = nullptr) {
    const int ranks = shape.rank_count();
    LoopbackWorld world(ranks);
    on_all_ranks(world, ranks, [&](Channel& channel) {
        Trace trace(channel.rank(), "host", max_spans);
        Scenario mine = shape;
        mine.options.trace = &trace;
        const auto executor = make_executor(mine, channel);
        const Floats in = sparse_input(channel.rank(), shape.spec.count_elems);
        Floats out(in.size());
        for (std::uint32_t i = 0; i < operations; ++i) {
            const Status status = run_traced(*executor, binding_of(in, out, i), pool);
            ASSERT_TRUE(status.ok()) << status.message();
        }
        check(executor->plan(), trace);
    });
}

Scenario chunked(CodecId codec) {
    Scenario shape = scenario("((0 1) (2 3 4))", 20'000, codec);
    shape.spec.chunk_elems = 4096;
    return shape;
}

TEST(Trace, EveryStepOfThePlanAppearsOnceWithItsBytes) {
    for (const CodecId codec : {CodecId::exact, CodecId::nm_2_4})
        trace_on_all_ranks(chunked(codec), 2, 1'000'000, [](const Plan& plan, const Trace& trace) {
            std::multiset<Shape> seen;
            for (const Json& span : spans_of(trace))
                if (is_step(span)) seen.insert(shape_of(span));
            std::multiset<Shape> expected = steps_of_plan(plan, 0);
            expected.merge(steps_of_plan(plan, 1));
            EXPECT_FALSE(expected.empty());
            EXPECT_EQ(seen, expected);
            EXPECT_EQ(trace.dropped_count(), 0U);
        });
}

TEST(Trace, TheOperationContainsItsStepsAndSaysWhatItIs) {
    trace_on_all_ranks(chunked(CodecId::nm_2_4), 3, 1'000'000, [](const Plan&, const Trace& trace) {
        std::map<int, Json> operations;
        const std::vector<Json> spans = spans_of(trace);
        for (const Json& span : spans)
            if (span.at("name") == "allreduce 78.1 KiB fp32 2:4")
                operations[span.at("args").at("operation").get<int>()] = span;
        ASSERT_EQ(operations.size(), 3U);
        for (const Json& span : spans) {
            const Json& whole = operations.at(span.at("args").at("operation").get<int>());
            EXPECT_GE(span.at("dur").get<double>(), 0);
            EXPECT_GE(span.at("ts").get<double>(), whole.at("ts").get<double>());
            EXPECT_LE(end_of(span), end_of(whole) + 1e-3);  // microseconds, rounded twice
            EXPECT_EQ(whole.at("args").at("bytes"), 80'000);
        }
    });
}

/// Expects no overlaps in a row: viewers would draw such spans into one another.
void expect_no_overlaps(const Trace& trace) {
    std::map<std::uint64_t, std::vector<std::pair<double, double>>> rows;
    for (const Json& span : spans_of(trace))
        rows[span.at("tid").get<std::uint64_t>()].emplace_back(span.at("ts").get<double>(),
                                                               end_of(span));
    EXPECT_GE(rows.size(), 3U);  // operations, work, messages
    for (auto& [row, spans] : rows) {
        std::sort(spans.begin(), spans.end());
        for (std::size_t i = 1; i < spans.size(); ++i)
            EXPECT_LE(spans[i - 1].second, spans[i].first + 1e-3) << "row " << row;
    }
}

TEST(Trace, SpansOfOneRowDoNotOverlap) {
    trace_on_all_ranks(chunked(CodecId::nm_2_4), 2, 1'000'000,
                       [](const Plan&, const Trace& trace) { expect_no_overlaps(trace); });
}

TEST(Trace, StepsThatRunElsewhereAreOnTheRowsOfTheirThreads) {
    StepPool pool(3);
    trace_on_all_ranks(
        chunked(CodecId::nm_2_4), 2, 1'000'000,
        [](const Plan& plan, const Trace& trace) {
            expect_no_overlaps(trace);
            std::multiset<Shape> seen;
            for (const Json& span : spans_of(trace))
                if (is_step(span)) seen.insert(shape_of(span));
            std::multiset<Shape> expected = steps_of_plan(plan, 0);
            expected.merge(steps_of_plan(plan, 1));
            EXPECT_EQ(seen, expected);
        },
        &pool);
}

TEST(Trace, EveryRowAndTheProcessHaveNames) {
    trace_on_all_ranks(
        chunked(CodecId::exact), 1, 1'000'000, [](const Plan& plan, const Trace& trace) {
            std::set<std::uint64_t> named, used;
            std::string process;
            const Json file = json_of(trace);
            for (const Json& event : file.at("traceEvents")) {
                EXPECT_EQ(event.at("pid"), plan.rank);
                if (event.at("ph") == "X") used.insert(event.at("tid").get<std::uint64_t>());
                if (event.at("name") == "thread_name")
                    named.insert(event.at("tid").get<std::uint64_t>());
                if (event.at("name") == "process_name") process = event.at("args").at("name");
            }
            EXPECT_TRUE(std::includes(named.begin(), named.end(), used.begin(), used.end()));
            EXPECT_EQ(process, "rank " + std::to_string(plan.rank) + " on host");
        });
}

TEST(Trace, WhatFindsNoRoomIsCounted) {
    static constexpr std::size_t room = 10;
    trace_on_all_ranks(chunked(CodecId::exact), 1, room, [](const Plan& plan, const Trace& trace) {
        const std::size_t steps = steps_of_plan(plan, 0).size();
        EXPECT_EQ(trace.span_count(), room);
        EXPECT_GE(trace.dropped_count() + room, steps + 1);  // and waits
        const Json file = json_of(trace);
        EXPECT_EQ(file.at("otherData").at("spans_dropped"), trace.dropped_count());
        EXPECT_EQ(spans_of(trace).size(), room);
    });
}

TEST(Trace, WithoutSpansItIsStillAFile) {
    const Trace trace(3, "a \"quoted\" host\xff", 5);
    const Json file = json_of(trace);
    EXPECT_EQ(file.at("otherData").at("rank"), 3);
    EXPECT_FALSE(file.at("otherData").at("start_unix_ns").get<std::string>().empty());
}

TEST(Trace, EqualLabelsHaveOneNumberAndThousandsMayDiffer) {
    Trace trace(0, "host", 1);
    const std::uint32_t first = trace.label("allreduce");
    EXPECT_NE(first, 0U);
    EXPECT_EQ(trace.label("allreduce"), first);
    std::set<std::uint32_t> numbers;
    for (int i = 0; i < 10'000; ++i) numbers.insert(trace.label(std::to_string(i)));
    EXPECT_GE(numbers.size(), 1000U);
    EXPECT_EQ(trace.label("one too many"), 0U);
}

TEST(Trace, ThreadsAddAtTheSameTime) {
    constexpr int threads = 4, spans = 2000;
    Trace trace(0, "host", 1'000'000);
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
        running.emplace_back([&trace] {
            for (int i = 0; i < spans; ++i) {
                const auto now = static_cast<std::uint64_t>(i) * 10;
                TraceSpan span;
                span.name = "encode";
                span.begin_ns = now;
                span.end_ns = now + 5;
                trace.add(span);
            }
        });
    for (std::thread& thread : running) thread.join();
    EXPECT_EQ(trace.span_count(), threads * spans);
    std::map<std::uint64_t, int> by_row;
    for (const Json& span : spans_of(trace)) ++by_row[span.at("tid").get<std::uint64_t>()];
    EXPECT_EQ(by_row.size(), threads);
    for (const auto& [row, count] : by_row) EXPECT_EQ(count, spans) << row;
}

}  // namespace
}  // namespace gradcoll
