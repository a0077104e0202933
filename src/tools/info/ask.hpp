// info/ask.hpp - asks the library.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "gradcoll/gradcoll.h"

namespace gradcoll::info {

/// Refused is thrown when the library returns an error; the message is for people.
struct Refused : std::runtime_error {
    Refused(int its_class, const std::string& message)
        : std::runtime_error(message), mpi_class(its_class) {}
    int mpi_class;
};

/// Throws Refused with the library's message unless `code` is MPI_SUCCESS.
void require(int code);

/// Returns the text of a call with the length protocol of GC_Comm_get_tree: call(char* text,
/// size_t* length).
template <class Call>
std::string text_of(Call&& call) {
    std::size_t length = 0;
    require(call(nullptr, &length));
    std::string text(length, '\0');
    require(call(text.data(), &length));
    text.resize(length - 1);
    return text;
}

GC_Build build();
std::vector<GC_Setting> settings();
std::vector<GC_List_entry> entries(GC_List list);

}  // namespace gradcoll::info
