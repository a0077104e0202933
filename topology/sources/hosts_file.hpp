// topology/sources/hosts_file.hpp - which host is described by what: lines `host-name-or-*
// synthetic-string-or-xml-path`.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/status.hpp"

namespace gradcoll {

/// `#` starts a comment at the beginning of a line; empty lines are skipped; `*` stands for every
/// host that has no line of its own. An XML path that is not absolute is relative to the folder of
/// the hosts file.
class HostsFile {
  public:
    /// `path` is for messages and relative paths. Errors: invalid_argument with file and line.
    static Result<HostsFile> parse(std::string_view text, const std::string& path);

    /// Errors: invalid_argument naming host and file.
    Result<std::string> description_of(const std::string& host_name) const;

  private:
    Status add_line(std::string_view line, int number);

    std::string path_;
    std::unordered_map<std::string, std::string> description_of_;
};

}  // namespace gradcoll
