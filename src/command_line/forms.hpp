// command_line/forms.hpp - words that stand for one of several forms of output.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "command_line/command_line.hpp"

namespace gradcoll {

template <class Form, std::size_t count>
using Forms = std::array<std::pair<std::string_view, Form>, count>;

/// Finds a form by its name; the problem lists all: "text, json, dot" and the like.
template <class Form, std::size_t count>
Problem find_form(std::string_view option, std::string_view name, const Forms<Form, count>& forms,
                  Form& out) {
    std::string allowed;
    for (const auto& [known, form] : forms) {
        allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", known);
        if (name != known) continue;
        out = form;
        return std::nullopt;
    }
    return fmt::format("{} {}: allowed are {}; Graphviz makes pictures of dot: dot -Tsvg", option,
                       printable(name), allowed);
}

}  // namespace gradcoll
