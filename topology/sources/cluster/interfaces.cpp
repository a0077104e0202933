#include "topology/sources/cluster/interfaces.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <vector>

namespace gradcoll {
namespace {

constexpr double gbytes_per_mbit = 1.0 / 8000;
constexpr double gbytes_per_gbit = 1.0 / 8;

using Path = std::filesystem::path;

std::vector<Path> entries_of(const Path& folder) {
    std::vector<Path> entries;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        entries.push_back(entry->path());
    return entries;
}

/// Returns the number that a file begins with; 0 if there is none, or it is negative.
double number_in(const Path& path) {
    double number = 0;
    std::ifstream file(path);
    return file >> number && number > 0 ? number : 0;
}

}  // namespace

double fastest_interface_gbytes_per_s(const Path& classes) {
    double fastest = 0;
    for (const Path& interface : entries_of(classes / "net"))
        fastest = std::max(fastest, number_in(interface / "speed") * gbytes_per_mbit);
    for (const Path& device : entries_of(classes / "infiniband"))
        for (const Path& port : entries_of(device / "ports"))
            fastest = std::max(fastest, number_in(port / "rate") * gbytes_per_gbit);
    return fastest;
}

}  // namespace gradcoll
