// topology/sources/host/hosts_file.hpp - which host is described by what: a file of lines
// `host-name-or-* synthetic-string-or-xml-path`, or a folder of HOSTNAME.xml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// A host is looked up by its name, then without its domain; a name without domain also finds the
/// only description whose name without domain it is; then `*`, which stands for every host that has
/// nothing of its own.
class HostsFile {
  public:
    /// `#` starts a comment at the beginning of a line; empty lines are skipped. An XML path that
    /// is not absolute is relative to the folder of the hosts file. `path` is for messages and
    /// relative paths. Errors: invalid_argument with file and line.
    static Result<HostsFile> parse(std::string_view text, const std::string& path);

    /// A file that parse() takes, or a folder, of which every file that ends in .xml, but not in
    /// .diff.xml (of netloc), describes the host of its name. Errors: io; those of parse();
    /// invalid_argument if the folder holds none.
    static Result<HostsFile> read(const std::string& path);

    /// How the host is described, as described_cores() takes it; nothing if it is not.
    std::optional<std::string> description_of(const std::string& host_name) const;

    bool is_of_folder() const { return is_of_folder_; }

    /// The hosts that have something of their own, in no order.
    std::vector<std::string> host_names() const;

  private:
    static Result<HostsFile> read_folder(const std::string& path);
    Status add_line(std::string_view line, int number);
    /// False if the host is there already.
    bool add(const std::string& host, std::string description);

    std::string path_;
    bool is_of_folder_ = false;
    std::unordered_map<std::string, std::string> description_of_;
    std::unordered_map<std::string, std::vector<std::string>> hosts_without_domain_;
};

}  // namespace gradcoll
