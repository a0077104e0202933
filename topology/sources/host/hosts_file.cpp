// topology/sources/host/hosts_file.cpp - see hosts_file.hpp.
#include "topology/sources/host/hosts_file.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"

namespace gradcoll {

namespace {

constexpr const char* every_host = "*";

/// Returns whether the file records a host. netloc's HOST.diff.xml does not: it says what differs
/// from another host.
bool is_recording(const std::filesystem::path& file) {
    return file.extension() == ".xml" && file.stem().extension() != ".diff";
}

std::string without_domain(const std::string& host) {
    return host.substr(0, host.find('.'));
}

}  // namespace

bool HostsFile::add(const std::string& host, std::string description) {
    if (!description_of_.emplace(host, std::move(description)).second) return false;
    hosts_without_domain_[without_domain(host)].push_back(host);
    return true;
}

Status HostsFile::add_line(std::string_view line, int number) {
    const auto wrong = [&](const std::string& what) {
        return Status(Code::invalid_argument,
                      fmt::format("hosts file \"{}\", line {}: {}", path_, number, what));
    };
    line = trimmed(line);
    if (line.empty() || line.front() == '#') return {};
    const std::string host(line.substr(0, line.find_first_of(" \t")));
    const std::string_view rest = trimmed(line.substr(host.size()));
    if (rest.empty())
        return wrong(fmt::format("host {} has no synthetic string or XML file after it", host));
    std::string description(rest);
    if (rest.ends_with(".xml"))  // an absolute path stays what it is
        description = (std::filesystem::path(path_).parent_path() / description).string();
    if (!add(host, std::move(description)))
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

Result<HostsFile> HostsFile::read_folder(const std::string& path) {
    HostsFile hosts;
    hosts.path_ = path;
    hosts.is_of_folder_ = true;
    std::error_code error;
    for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
         at.increment(error))
        if (const std::filesystem::path& file = at->path(); is_recording(file))
            hosts.add(file.stem().string(), file.string());
    if (error)
        return Status(Code::io,
                      fmt::format("hosts folder \"{}\" cannot be read: {}", path, error.message()));
    if (hosts.description_of_.empty())
        return Status(Code::invalid_argument,
                      fmt::format("hosts folder \"{}\": it holds no file that ends in .xml", path));
    return hosts;
}

Result<HostsFile> HostsFile::read(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return read_folder(path);
    const Result<std::string> text = read_file(path);
    return text.ok() ? parse(*text, path) : text.status();
}

std::optional<std::string> HostsFile::description_of(const std::string& host_name) const {
    const std::string short_name = without_domain(host_name);
    std::vector<std::string> keys{host_name, short_name};
    const auto alike = hosts_without_domain_.find(host_name);
    if (alike != hosts_without_domain_.end() && alike->second.size() == 1)
        keys.push_back(alike->second.front());
    keys.push_back(every_host);
    for (const std::string& key : keys)
        if (const auto found = description_of_.find(key); found != description_of_.end())
            return found->second;
    return std::nullopt;
}

std::vector<std::string> HostsFile::host_names() const {
    std::vector<std::string> names;
    for (const auto& [host, description] : description_of_)
        if (host != every_host) names.push_back(host);
    return names;
}

}  // namespace gradcoll
