// csv.cpp - writes rows as comma-separated values.
#include "csv.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradcoll::bench {
namespace {

struct CellText {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
    std::string operator()(double value) const { return fmt::format("{:.6g}", value); }
    std::string operator()(const std::string& value) const {
        if (value.find_first_of(",\"\n") == std::string::npos) {
            return value;
        }
        std::string quoted = "\"";
        for (const char c : value) {
            quoted += c == '"' ? "\"\"" : std::string(1, c);
        }
        return quoted + "\"";
    }
};

std::string header_of(const Columns& columns) {
    std::string line;
    for (const auto& [name, value] : columns) {
        line.append(line.empty() ? "" : ",").append(name);
    }
    return line;
}

std::string line_of(const Columns& columns) {
    std::string line;
    const char* separator = "";
    for (const auto& [name, value] : columns) {
        line.append(separator).append(std::visit(CellText{}, value));
        separator = ",";
    }
    return line;
}

// Returns the file's first line; empty if there is no file or nothing in it.
std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

}  // namespace

void CsvWriter::open(const std::string& header) {
    const std::string present = first_line(path_);
    if (!present.empty() && present != header) {
        throw std::runtime_error(fmt::format("--csv {}: the file has other columns", path_));
    }
    file_.open(path_, std::ios::app);
    if (present.empty()) {
        file_ << header << '\n';
    }
}

void CsvWriter::write(const Columns& columns) {
    if (!file_.is_open()) {
        open(header_of(columns));
    }
    file_ << line_of(columns) << std::endl;
    if (!file_) {
        throw std::runtime_error(fmt::format("--csv {}: cannot be written", path_));
    }
}

}  // namespace gradcoll::bench
