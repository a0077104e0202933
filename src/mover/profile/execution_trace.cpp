// mover/profile/execution_trace.cpp - see execution_trace.hpp.
#include "mover/profile/execution_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "mover/input/fields.hpp"
#include "mover/profile/json_list.hpp"
#include "mover/program/ticks.hpp"

namespace gradcoll::mover {
namespace {

constexpr std::string_view known_schema = "1.1.";
constexpr std::string_view kind_of_schema = "-chakra";
constexpr int user_scope = 7;
constexpr std::int64_t latest_id = std::int64_t{1} << 53;  // fits a double

bool is_tensor(const nlohmann::json& value) {
    if (!value.is_array() || value.size() != 6 || !value[5].is_string()) return false;
    return std::all_of(value.begin(), value.end() - 1,
                       [](const nlohmann::json& part) { return part.is_number_integer(); });
}

std::vector<std::int64_t> sizes_of(const nlohmann::json& list) {
    std::vector<std::int64_t> out;
    if (!list.is_array()) return out;
    for (const nlohmann::json& size : list)
        if (size.is_number_integer()) out.push_back(size.get<std::int64_t>());
    return out;
}

const nlohmann::json& element(const nlohmann::json& list, std::size_t index) {
    static const nlohmann::json none;
    return list.is_array() && index < list.size() ? list[index] : none;
}

/// Returns the bytes of a storage from its start to the last number of a tensor in it.
std::int64_t reach(const nlohmann::json& tensor, const std::vector<std::int64_t>& shape,
                   const std::vector<std::int64_t>& strides) {
    const auto offset = std::max<std::int64_t>(0, tensor[2].get<std::int64_t>());
    const auto number_bytes = std::clamp<std::int64_t>(tensor[4].get<std::int64_t>(), 0, 64);
    const auto numbers = std::clamp<std::int64_t>(tensor[3].get<std::int64_t>(), 0, most_bytes);
    if (numbers == 0) return 0;
    std::int64_t reached = numbers;
    if (strides.size() == shape.size() && !shape.empty()) {
        reached = 1;
        for (std::size_t d = 0; d < shape.size(); ++d)
            reached = std::min(most_bytes,
                               reached + size_product({std::max<std::int64_t>(0, shape[d] - 1),
                                                       std::max<std::int64_t>(0, strides[d])}));
    }
    return size_product({std::min(offset, most_bytes) + reached, number_bytes});
}

/// Adds the tensors of a value, which may be a list of tensors.
void add_tensors(const nlohmann::json& value, const nlohmann::json& shape,
                 const nlohmann::json& strides, std::vector<ExecutedTensor>& out) {
    if (is_tensor(value)) {
        std::vector<std::int64_t> sizes = sizes_of(shape);
        const std::int64_t bytes = reach(value, sizes, sizes_of(strides));
        out.push_back({value[1].get<std::int64_t>(), bytes, std::move(sizes)});
        return;
    }
    if (!value.is_array()) return;
    for (std::size_t n = 0; n < value.size(); ++n)
        add_tensors(value[n], element(shape, n), element(strides, n), out);
}

class NodeReader {
  public:
    explicit NodeReader(std::string origin) { out_.origin = std::move(origin); }

    void take(const nlohmann::json& json) {
        const std::string place = fmt::format("/nodes/{}", count_++);
        if (!status_.ok()) return;
        Fields in(json, out_.origin, place);
        ExecutedNode node;
        in.require({"name", "id", "ctrl_deps"});
        in.text("name", node.name);
        in.integer("id", 0, latest_id, node.id);
        in.integer("ctrl_deps", 0, latest_id, node.parent);
        node.last_id = node.id;
        for (const auto& [key, tensors] :
             {std::pair{"inputs", &node.inputs}, std::pair{"outputs", &node.outputs}}) {
            const nlohmann::json* side = in.inner(key);
            if (side == nullptr || !side->is_object()) continue;
            const auto part = [side](const char* name) {
                return side->contains(name) ? side->at(name) : nlohmann::json();
            };
            add_tensors(part("values"), part("shapes"), part("strides"), *tensors);
        }
        if (const nlohmann::json* attributes = in.inner("attrs"))
            take_attributes(*attributes, node);
        status_ = in.done_ignoring_others();
        out_.nodes.push_back(std::move(node));
    }

    Result<ExecutionTrace> result() && {
        if (!status_.ok()) return status_;
        std::sort(out_.nodes.begin(), out_.nodes.end(),
                  [](const ExecutedNode& a, const ExecutedNode& b) { return a.id < b.id; });
        for (std::size_t n = 0; n < out_.nodes.size(); ++n) indices_[out_.nodes[n].id] = n;
        find_last_ids();
        cut_evaluations();
        for (const ExecutedNode& node : out_.nodes) add_span(node);
        out_.spans.origin = out_.origin;
        return std::move(out_);
    }

  private:
    static void take_attributes(const nlohmann::json& list, ExecutedNode& node) {
        if (!list.is_array()) return;
        for (const nlohmann::json& attribute : list) {
            if (!attribute.is_object() || !attribute.contains("name")) continue;
            const nlohmann::json& name = attribute["name"];
            const nlohmann::json value = attribute.value("value", nlohmann::json());
            if (name == "op_schema")
                node.is_operator = value.is_string() && value != "";
            else if (!value.is_number_integer())
                continue;
            else if (name == "seq_id")
                node.sequence = value.get<std::int64_t>();
            else if (name == "tid")
                node.thread = value.get<int>();
            else if (name == "scope")
                node.is_annotation = value == user_scope;
        }
    }

    /// Returns the node around another one: it has a smaller id.
    ExecutedNode* around(const ExecutedNode& node) {
        const auto parent = indices_.find(node.parent);
        return parent == indices_.end() || node.parent >= node.id ? nullptr
                                                                  : &out_.nodes[parent->second];
    }

    void find_last_ids() {
        for (auto node = out_.nodes.rbegin(); node != out_.nodes.rend(); ++node)
            if (ExecutedNode* parent = around(*node))
                parent->last_id = std::max(parent->last_id, node->last_id);
    }

    /// Ends evaluations where the next one of their thread begins. Where a checkpoint leaves its
    /// forward early, PyTorch writes all that follows as if it were inside. Functions of programs,
    /// whose names have no number, may really have others inside.
    void cut_evaluations() {
        std::unordered_map<int, std::size_t> open;
        for (std::size_t n = 0; n < out_.nodes.size(); ++n) {
            const ExecutedNode& node = out_.nodes[n];
            if (!is_evaluation(node)) continue;
            const auto before = open.find(node.thread);
            if (before != open.end() && out_.nodes[before->second].last_id >= node.id) {
                const ExecutedNode& outer = out_.nodes[before->second];
                if (is_of_program(outer)) continue;
                for (ExecutedNode* inside = around(node); inside != nullptr;
                     inside = around(*inside)) {
                    inside->last_id = std::min(inside->last_id, node.id - 1);
                    if (inside == &outer) break;
                }
            }
            open[node.thread] = n;
        }
    }

    void add_span(const ExecutedNode& node) {
        TraceSpan span{.name = node.name,
                       .start_us = static_cast<double>(node.id),
                       .end_us = static_cast<double>(node.last_id) + 0.5,
                       .thread = node.thread,
                       .sequence = node.sequence};
        // Processes and threads are annotations, too.
        if (node.name.starts_with("[pytorch|profiler|execution_trace|")) return;
        if (!node.inputs.empty()) span.numbers = numbers_in(node.inputs.front().shape);
        if (node.name == checkpoint_name)
            for (const ExecutedTensor& tensor : node.inputs)
                span.checkpointed.push_back(numbers_in(tensor.shape));
        (node.is_annotation ? out_.spans.annotations : out_.spans.operators)
            .push_back(std::move(span));
    }

    static std::int64_t numbers_in(const std::vector<std::int64_t>& shape) {
        std::int64_t product = 1;
        for (const std::int64_t size : shape)
            product = size_product({product, std::max<std::int64_t>(0, size)});
        return product;
    }

    ExecutionTrace out_;
    std::unordered_map<std::int64_t, std::size_t> indices_;  ///< of nodes, by their ids
    Status status_;
    std::size_t count_ = 0;
};

}  // namespace

bool is_evaluation(const ExecutedNode& node) {
    return node.name.starts_with("autograd::engine::evaluate_function: ");
}

bool is_of_program(const ExecutedNode& evaluation) {
    return evaluation.name.ends_with("Backward") ||
           evaluation.name.find("CppNode") != std::string::npos;
}

bool is_execution_trace(const std::string& text) {
    const std::string_view start = std::string_view(text).substr(0, std::size_t{1} << 16);
    return start.find("\"ctrl_deps\"") != start.npos;
}

Result<ExecutionTrace> execution_trace_of_text(const std::string& origin, const std::string& text) {
    NodeReader reader(origin);
    const nlohmann::json rest = GRADCOLL_VALUE(
        read_list(origin, text, "nodes", [&](const nlohmann::json& node) { reader.take(node); }));
    Fields in(rest, origin);
    std::string schema;
    in.require({"schema"});
    in.text("schema", schema);
    if (!schema.starts_with(known_schema) || schema.find(kind_of_schema) == schema.npos)
        in.wrong("schema", "allowed are 1.1.0-chakra and later ones of 1.1");
    GRADCOLL_TRY(in.done_ignoring_others());
    return std::move(reader).result();
}

}  // namespace gradcoll::mover
