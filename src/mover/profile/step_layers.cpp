// mover/profile/step_layers.cpp - see step_layers.hpp.
#include "mover/profile/step_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "mover/profile/aside.hpp"

namespace gradcoll::mover {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// A Mark is an annotation of the program.
struct Mark {
    TraceSpan span;
    double first_backward = never;
    bool recomputed = false;
    bool wrapper = false;

    bool is_layer() const { return !recomputed && !wrapper && first_backward < never; }
};

/// ThreadLayers finds the layers of one thread.
class ThreadLayers {
  public:
    ThreadLayers(const Trace& trace, const std::vector<Evaluation>& evaluations, int thread)
        : evaluations_(evaluations), nodes_(nodes_of(trace, evaluations, thread)) {
        for (const TraceSpan& span : trace.annotations)
            if (span.thread == thread && annotator_of(span.name) == Annotator::program)
                marks_.push_back({span});
        for (Node& node : nodes_) enter_only_mark(node);
        std::stable_sort(nodes_.begin(), nodes_.end(),
                         [](const Node& a, const Node& b) { return a.made_us < b.made_us; });
        for (Mark& mark : marks_) {
            look_at_nodes(mark);
            mark.recomputed = evaluation_at(evaluations, mark.span.start_us, thread) != nullptr;
        }
        choose();
        while (last_.size() == 1 && holds_several_layers(*last_.front())) {
            const std::string name = last_.front()->span.name;
            for (Mark& mark : marks_)
                mark.wrapper |= mark.span.name == name && holds_several_layers(mark);
            choose();
        }
    }

    std::size_t count() const { return last_.size(); }

    std::vector<TraceSpan> layers() const {
        std::vector<TraceSpan> out;
        std::unordered_map<std::string, int> calls;
        for (const Mark* mark : last_) {
            out.push_back(mark->span);
            if (const int call = ++calls[mark->span.name]; call > 1)
                out.back().name += fmt::format(", call {}", call);
        }
        return out;
    }

    /// Returns what autograd ran for the layers. Sums of gradients have no number: they belong to
    /// the node before them.
    std::vector<BackwardSpan> backward() const {
        std::unordered_map<std::size_t, std::size_t> layer_of;
        std::unordered_map<std::size_t, const TraceSpan*> makers;
        for (const Node& node : nodes_) {
            makers[node.evaluation] = node.maker;
            const auto next = std::upper_bound(
                last_.begin(), last_.end(), node.made_us,
                [](double us, const Mark* mark) { return us < mark->span.start_us; });
            if (next != last_.begin() && node.made_us < (*(next - 1))->span.end_us)
                layer_of[node.evaluation] = static_cast<std::size_t>(next - last_.begin()) - 1;
        }
        std::vector<BackwardSpan> out;
        std::unordered_map<int, std::size_t> layer_before;
        for (std::size_t e = 0; e < evaluations_.size() && !last_.empty(); ++e) {
            const Evaluation& run = evaluations_[e];
            if (run.start_us < last_.back()->span.end_us) continue;
            const auto found = layer_of.find(e);
            const auto before = layer_before.emplace(run.thread, last_.size()).first;
            if (found != layer_of.end())
                before->second = found->second;
            else if (run.sequence >= 0)
                before->second = last_.size();
            if (before->second < last_.size())
                out.push_back({run.start_us, run.end_us, run.thread, before->second,
                               parameters_of(run, makers[e])});
        }
        return out;
    }

    /// Says of the marks that are no layers why; of a thread that is not `chosen` none is one.
    void explain(bool chosen, StepLayers& out) const {
        std::set<std::string> layers;
        if (chosen)
            for (const Mark* mark : all_) layers.insert(mark->span.name);
        for (const Mark& mark : marks_)
            if (!layers.contains(mark.span.name) || mark.recomputed)
                note(out, why_no_layer(mark, chosen), mark.span.name);
    }

    bool holds_layers(const TraceSpan& span) const {
        return std::any_of(all_.begin(), all_.end(), [&](const Mark* mark) {
            return span.thread == mark->span.thread && span.start_us <= mark->span.start_us &&
                   mark->span.end_us <= span.end_us;
        });
    }

    static void note(StepLayers& out, NotALayer why, const std::string& name) {
        std::vector<std::string>& names = out.left_out[why];
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }

  private:
    static NotALayer why_no_layer(const Mark& mark, bool chosen) {
        if (mark.wrapper) return NotALayer::holds_layers;
        if (mark.recomputed) return NotALayer::recomputed;
        if (!mark.is_layer()) return NotALayer::without_backward;
        return chosen ? NotALayer::in_a_layer : NotALayer::other_thread;
    }

    /// Moves a node into the only mark that its operator holds, as a checkpoint with a layer inside
    /// does.
    void enter_only_mark(Node& node) const {
        const auto inside =
            std::lower_bound(marks_.begin(), marks_.end(), node.made_us,
                             [](const Mark& mark, double us) { return mark.span.start_us < us; });
        if (inside == marks_.end() || inside->span.end_us > node.made_until_us) return;
        const auto next = std::find_if(inside, marks_.end(), [&](const Mark& mark) {
            return mark.span.start_us >= inside->span.end_us;
        });
        if (next == marks_.end() || next->span.start_us >= node.made_until_us)
            node.made_us = inside->span.start_us;
    }

    /// Finds when the first node of a mark ran backward; a mark that lasts longer is a wrapper.
    void look_at_nodes(Mark& mark) const {
        auto node = std::lower_bound(nodes_.begin(), nodes_.end(), mark.span.start_us,
                                     [](const Node& made, double us) { return made.made_us < us; });
        for (; node != nodes_.end() && node->made_us < mark.span.end_us; ++node)
            mark.first_backward =
                std::min(mark.first_backward, evaluations_[node->evaluation].start_us);
        mark.wrapper = mark.first_backward < mark.span.end_us;
    }

    /// Returns the layers right inside a mark.
    std::vector<const Mark*> layers_in(const Mark& outer) const {
        std::vector<const Mark*> out;
        // Marks are sorted: the outer one comes before what it holds.
        for (std::size_t m = static_cast<std::size_t>(&outer - marks_.data()) + 1;
             m < marks_.size() && marks_[m].span.start_us < outer.span.end_us; ++m) {
            const Mark& mark = marks_[m];
            if (!mark.is_layer() || mark.span.end_us > outer.span.end_us) continue;
            if (out.empty() || mark.span.start_us >= out.back()->span.end_us) out.push_back(&mark);
        }
        return out;
    }

    bool holds_several_layers(const Mark& mark) const {
        const std::vector<const Mark*> inner = layers_in(mark);
        return inner.size() > 1 || (inner.size() == 1 && holds_several_layers(*inner.front()));
    }

    /// Chooses the outermost layers, and those of the last step.
    void choose() {
        all_.clear();
        last_.clear();
        double first_backward = never;
        for (const Mark& mark : marks_) {
            if (!mark.is_layer()) continue;
            if (!all_.empty() && mark.span.start_us < all_.back()->span.end_us) continue;
            all_.push_back(&mark);
            if (first_backward <= mark.span.start_us) {
                last_.clear();
                first_backward = never;
            }
            last_.push_back(&mark);
            first_backward = std::min(first_backward, mark.first_backward);
        }
    }

    const std::vector<Evaluation>& evaluations_;
    std::vector<Node> nodes_;
    std::vector<Mark> marks_;
    std::vector<const Mark*> all_;   ///< layers of all steps
    std::vector<const Mark*> last_;  ///< those of the last step
};

/// Adds the annotations of tools: which of them hold layers, and which are no work of layers.
void add_tools(const Trace& trace, const std::vector<Evaluation>& evaluations,
               const ThreadLayers* layers, StepLayers& out) {
    const auto sums_gradients = [&](const TraceSpan& span) {
        const Evaluation* run = evaluation_at(evaluations, span.start_us, span.thread);
        return run != nullptr && run->sums_gradients;
    };
    for (const TraceSpan& span : trace.annotations) {
        const Annotator annotator = annotator_of(span.name);
        if (annotator == Annotator::program) continue;
        const bool holds = layers != nullptr && layers->holds_layers(span);
        ThreadLayers::note(out, holds ? NotALayer::holds_layers : NotALayer::of_a_tool, span.name);
        if (!holds && (annotator == Annotator::aside || sums_gradients(span)))
            out.aside.push_back(span);
    }
}

}  // namespace

StepLayers layers_of_last_step(const Trace& trace) {
    const std::vector<Evaluation> evaluations = evaluations_of(trace);
    std::set<int> threads;
    for (const TraceSpan& span : trace.annotations)
        if (annotator_of(span.name) == Annotator::program) threads.insert(span.thread);
    std::vector<ThreadLayers> found;
    for (const int thread : threads) found.emplace_back(trace, evaluations, thread);
    const auto most = std::max_element(
        found.begin(), found.end(),
        [](const ThreadLayers& a, const ThreadLayers& b) { return a.count() < b.count(); });
    StepLayers out;
    for (auto thread = found.begin(); thread != found.end(); ++thread)
        thread->explain(thread == most, out);
    if (most != found.end()) {
        out.layers = most->layers();
        out.backward = most->backward();
    }
    add_tools(trace, evaluations, most == found.end() ? nullptr : &*most, out);
    return out;
}

}  // namespace gradcoll::mover
