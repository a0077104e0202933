// mover/profile/trace_file.cpp - see trace_file.hpp.
#include "mover/profile/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/files.hpp"
#include "base/text.hpp"
#include "mover/input/fields.hpp"
#include "mover/profile/json_list.hpp"
#include "mover/program/ticks.hpp"

namespace gradcoll::mover {
namespace {

using TraceJson = nlohmann::json;

constexpr std::size_t longest_trace = std::size_t{1} << 30;
constexpr double latest_us = 1e18;  // since 1970, with room

/// TraceReader takes one event after the other, so that the trace is never in memory as a whole
/// tree.
class TraceReader {
  public:
    explicit TraceReader(std::string origin) { out_.origin = std::move(origin); }

    void take(const TraceJson& event) {
        const std::string place = fmt::format("/traceEvents/{}", count_++);
        if (!status_.ok() || !event.is_object()) return;
        const std::string phase = text_of(event, "ph"), kind = text_of(event, "cat");
        Fields in(event, out_.origin, place);
        if (phase == "i" && text_of(event, "name") == "[memory]") return take_memory(in);
        if (phase != "X") return;
        if (kind == "cpu_op") take_span(event, in, out_.operators);
        if (kind == "user_annotation") take_span(event, in, out_.annotations);
        if (kind == "kernel" || kind == "gpu_memcpy" || kind == "gpu_memset") take_kernel(in);
    }

    Result<Trace> result() && {
        if (!status_.ok()) return status_;
        out_.memory = std::move(on_device_.empty() ? on_host_ : on_device_);
        const auto by_start = [](const TraceSpan& a, const TraceSpan& b) {
            // If an outer span and an inner one start together, the outer one comes first.
            return a.start_us != b.start_us ? a.start_us < b.start_us : a.end_us > b.end_us;
        };
        std::stable_sort(out_.annotations.begin(), out_.annotations.end(), by_start);
        std::stable_sort(out_.operators.begin(), out_.operators.end(), by_start);
        std::stable_sort(
            out_.memory.begin(), out_.memory.end(),
            [](const TraceMemory& a, const TraceMemory& b) { return a.at_us < b.at_us; });
        return std::move(out_);
    }

  private:
    static std::string text_of(const TraceJson& event, const char* key) {
        const auto found = event.find(key);
        return found != event.end() && found->is_string() ? found->get<std::string>()
                                                          : std::string();
    }

    void keep(const Fields& in) {
        if (status_.ok()) status_ = in.done_ignoring_others();
    }

    static const TraceJson& arguments(Fields& in) {
        static const TraceJson none = TraceJson::object();
        const TraceJson* found = in.inner("args");
        return found != nullptr && found->is_object() ? *found : none;
    }

    void take_memory(Fields& in) {
        TraceMemory memory;
        in.require({"ts", "args"});
        in.number("ts", 0, latest_us, memory.at_us);
        Fields args(arguments(in), in.origin(), in.pointer_to("args"));
        args.require({"Addr", "Bytes"});
        constexpr std::int64_t any = INT64_MAX;
        std::int64_t device_type = 0;
        args.integer("Addr", -any, any, memory.address);
        args.integer("Bytes", -most_trace_bytes, most_trace_bytes, memory.bytes);
        args.integer("Total Allocated", -most_trace_bytes, most_trace_bytes, memory.total);
        args.integer("Device Type", 0, 1 << 20, device_type);
        keep(in);
        keep(args);
        (device_type == 0 ? on_host_ : on_device_).push_back(memory);
    }

    /// Returns the number of the event's thread; processes and threads may have names or numbers.
    int thread_of(const TraceJson& event) {
        std::string name;
        for (const char* key : {"pid", "tid"})
            if (const auto found = event.find(key); found != event.end())
                name += found->dump() + " ";
        return threads_.emplace(name, static_cast<int>(threads_.size())).first->second;
    }

    void take_span(const TraceJson& event, Fields& in, std::vector<TraceSpan>& to) {
        TraceSpan span;
        double duration = 0;
        in.require({"name", "ts", "dur"});
        in.text("name", span.name);
        in.number("ts", 0, latest_us, span.start_us);
        in.number("dur", 0, latest_us, duration);
        span.end_us = span.start_us + duration;
        span.thread = thread_of(event);
        const TraceJson& json = arguments(in);
        Fields args(json, in.origin(), in.pointer_to("args"));
        args.integer("Sequence number", -1, INT64_MAX, span.sequence);
        args.integer("External id", 0, INT64_MAX, span.external);
        add_numbers(json, span);
        keep(in);
        keep(args);
        to.push_back(std::move(span));
    }

    /// Adds the numbers in the first input, if its dimensions are there.
    static void add_numbers(const TraceJson& arguments, TraceSpan& span) {
        const auto dimensions = arguments.find("Input Dims");
        if (dimensions == arguments.end() || !dimensions->is_array() || dimensions->empty()) return;
        span.numbers = numbers_in(dimensions->front());
        if (span.name != checkpoint_name) return;
        for (const TraceJson& input : *dimensions)
            if (const std::int64_t numbers = numbers_in(input); numbers > 0)
                span.checkpointed.push_back(numbers);
    }

    /// Returns the product of the dimensions of an input; 0 if it is no tensor.
    static std::int64_t numbers_in(const TraceJson& dimensions) {
        if (!dimensions.is_array()) return 0;
        std::int64_t numbers = 1;
        for (const TraceJson& size : dimensions) {
            if (!size.is_number_integer() || size.get<std::int64_t>() < 0) return 0;
            numbers = size_product({numbers, size.get<std::int64_t>()});
        }
        return numbers;
    }

    void take_kernel(Fields& in) {
        TraceKernel kernel;
        in.require({"dur"});
        in.number("dur", 0, latest_us, kernel.us);
        const TraceJson& json = arguments(in);
        Fields args(json, in.origin(), in.pointer_to("args"));
        args.integer("External id", 0, INT64_MAX, kernel.external);
        args.integer("external id", 0, INT64_MAX, kernel.external);  // older versions write it so
        keep(in);
        keep(args);
        out_.kernels.push_back(kernel);
    }

    static constexpr std::int64_t most_trace_bytes = 2 * most_bytes;

    Trace out_;
    Status status_;
    std::unordered_map<std::string, int> threads_;
    std::vector<TraceMemory> on_host_, on_device_;
    std::size_t count_ = 0;
};

Status no_trace(const std::string& origin, const std::string& found) {
    return wrong_input(origin, "",
                       found +
                           ", allowed is a trace of PyTorch's profiler (with Kineto): an object "
                           "with traceEvents");
}

}  // namespace

Result<Trace> trace_of_text(const std::string& origin, const std::string& text) {
    TraceReader reader(origin);
    bool was_there = false;
    GRADCOLL_TRY(read_list(origin, text, "traceEvents", [&](const TraceJson& event) {
                     was_there = true;
                     reader.take(event);
                 }).status());
    if (!was_there) return no_trace(origin, "it has no events");
    return std::move(reader).result();
}

Result<std::string> trace_text(std::string_view option, const std::string& path) {
    auto bytes = bytes_of_file(path, largest_file_bytes);
    if (!bytes.ok())
        return Status(Code::io,
                      fmt::format("{} {}: {}", option, printable(path), bytes.status().message()));
    auto text = unpacked(std::move(*bytes), longest_trace);
    if (!text.ok()) return wrong_input(path, "", text.status().message());
    return text;
}

Result<Trace> read_trace(std::string_view option, const std::string& path) {
    return trace_of_text(path, GRADCOLL_VALUE(trace_text(option, path)));
}

}  // namespace gradcoll::mover
