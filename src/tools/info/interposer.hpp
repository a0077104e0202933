// info/interposer.hpp - what the interposer says of the MPI library in this process.
#pragma once

#include <string>

namespace gradcoll::info {

/// Returns a sentence on names of the MPI library for intercepted calls that the interposer does
/// not know; empty if there are none, or if there is no interposer: preloaded, or installed beside
/// libgradcoll. Names of Fortran are among them where its library is in this process.
std::string uncovered_names_hint();

}  // namespace gradcoll::info
