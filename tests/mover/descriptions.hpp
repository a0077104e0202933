// mover/descriptions.hpp - short texts of descriptions, for tests.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "mover/files/inputs.hpp"
#include "mover/input/any_form.hpp"

namespace gradcoll::mover {

inline const char* const cluster_text =
    R"({"devices_per_host": 8, "device_memory": "80GiB", "host_memory": "1024GiB",)"
    R"( "device_tflops": 312, "device_memory_gbytes_per_s": 2039, "link_gbytes_per_s": 25})";

/// Returns the result; a test that was given a wrong text ends.
template <class T>
T given(Result<T> result) {
    if (!result.ok()) throw std::runtime_error(result.status().message());
    return std::move(result).value();
}

/// Returns "" or what is wrong.
template <class Read>
std::string fault_of(Read&& read, const std::string& text) {
    const auto document = document_of_text("f", text);
    if (!document.ok()) return document.status().message();
    const auto result = read(*document);
    return result.ok() ? std::string() : result.status().message();
}

}  // namespace gradcoll::mover
