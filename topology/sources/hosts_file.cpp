// topology/sources/hosts_file.cpp - see hosts_file.hpp.
#include "topology/sources/hosts_file.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace gradcoll {

namespace {

constexpr std::string_view spaces = " \t\r";

}  // namespace

Status HostsFile::add_line(std::string_view line, int number) {
    const auto wrong = [&](const std::string& what) {
        return Status(Code::invalid_argument,
                      fmt::format("hosts file \"{}\", line {}: {}", path_, number, what));
    };
    line.remove_prefix(std::min(line.find_first_not_of(spaces), line.size()));
    line = line.substr(0, line.find_last_not_of(spaces) + 1);
    if (line.empty() || line.front() == '#') return {};
    const std::string host(line.substr(0, line.find_first_of(spaces)));
    std::string_view rest = line.substr(host.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(spaces), rest.size()));
    if (rest.empty())
        return wrong(fmt::format("host {} has no synthetic string or XML file after it", host));
    std::string description(rest);
    if (rest.ends_with(".xml"))  // an absolute path stays what it is
        description = (std::filesystem::path(path_).parent_path() / description).string();
    if (!description_of_.emplace(host, std::move(description)).second)
        return wrong(fmt::format("host {} is described twice", host));
    return {};
}

Result<HostsFile> HostsFile::parse(std::string_view text, const std::string& path) {
    HostsFile hosts;
    hosts.path_ = path;
    int number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        GRADCOLL_TRY(hosts.add_line(text.substr(0, end), ++number));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (hosts.description_of_.empty())
        return Status(Code::invalid_argument,
                      fmt::format("hosts file \"{}\": it describes no host", path));
    return hosts;
}

Result<std::string> HostsFile::description_of(const std::string& host_name) const {
    for (const std::string& key : {host_name, std::string("*")})
        if (const auto found = description_of_.find(key); found != description_of_.end())
            return found->second;
    return Status(Code::invalid_argument,
                  fmt::format("hosts file \"{}\": host {} has no line, and there is no line for *",
                              path_, host_name));
}

}  // namespace gradcoll
