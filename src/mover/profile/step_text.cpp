// mover/profile/step_text.cpp - says which layers were found in a trace; see step_layers.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "mover/input/fields.hpp"
#include "mover/profile/step_layers.hpp"

namespace gradcoll::mover {
namespace {

std::string_view words_of(NotALayer why) {
    switch (why) {
        case NotALayer::holds_layers:
            return "looked into";
        case NotALayer::of_a_tool:
            return "left out, of PyTorch or a tool";
        case NotALayer::without_backward:
            return "left out, no backward of its operators is there";
        case NotALayer::recomputed:
            return "left out, runs again in backward";
        case NotALayer::in_a_layer:
            return "left out, inside a layer";
        case NotALayer::other_thread:
            break;
    }
    return "left out, in another thread than most layers";
}

/// Replaces the numbers of a name.
std::string pattern_of(const std::string& name) {
    std::string out;
    for (const char letter : name)
        if (letter < '0' || letter > '9')
            out += letter;
        else if (!out.ends_with('#'))
            out += '#';
    return out;
}

constexpr std::size_t most_shown = 16;

/// Joins texts, but not too many.
std::string joined(const std::vector<std::string>& texts) {
    std::string out;
    for (std::size_t t = 0; t < texts.size(); ++t) {
        if (t == most_shown) return out + fmt::format(" and {} more", texts.size() - t);
        out += (t == 0 ? "" : ", ") + texts[t];
    }
    return out;
}

/// Lists layers. Of neighbours that differ in numbers alone the first and the last are shown.
std::string listed(const std::vector<TraceSpan>& layers) {
    std::vector<std::string> texts;
    for (std::size_t from = 0, to = 0; from < layers.size(); from = to) {
        const std::string pattern = pattern_of(layers[from].name);
        for (to = from + 1; to < layers.size() && pattern_of(layers[to].name) == pattern;) ++to;
        texts.push_back(printable(layers[from].name));
        if (to - from == 2) texts.push_back(printable(layers[to - 1].name));
        if (to - from > 2) texts.back() += " to " + printable(layers[to - 1].name);
    }
    return joined(texts);
}

/// Lists names; those that differ in numbers alone are one.
std::string listed(const std::vector<std::string>& names) {
    std::vector<std::string> patterns, texts;
    for (const std::string& name : names) {
        const std::string pattern = pattern_of(name);
        const auto found = std::find(patterns.begin(), patterns.end(), pattern);
        if (found == patterns.end()) {
            patterns.push_back(pattern);
            texts.push_back(printable(name));
        } else {
            texts[static_cast<std::size_t>(found - patterns.begin())] = printable(pattern);
        }
    }
    return joined(texts);
}

}  // namespace

std::string text_of(const StepLayers& step, const std::string& file) {
    std::string text = fmt::format("Layers in the last step of {}, {} in all: {}\n",
                                   printable(file), step.layers.size(), listed(step.layers));
    for (const auto& [why, left_out] : step.left_out)
        text += fmt::format("  {}: {}\n", words_of(why), listed(left_out));
    return text + "\n";
}

Status no_layers(const StepLayers& step, const std::string& origin, const std::string& place) {
    std::string found;
    for (const auto& [why, left_out] : step.left_out)
        found +=
            fmt::format("{}{}: {}", found.empty() ? "" : "; ", words_of(why), listed(left_out));
    return wrong_input(origin, place,
                       fmt::format("no layer is named ({}): allowed are traces of programs that "
                                   "run each layer under torch.profiler.record_function(), and its "
                                   "backward after it",
                                   found.empty() ? "nothing is annotated" : found));
}

}  // namespace gradcoll::mover
