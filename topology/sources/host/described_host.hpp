// topology/sources/host/described_host.hpp - the places for ranks on a host that hwloc's strings or
// files describe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/sources/job_host.hpp"

namespace gradcoll {

/// Returns the cores of a described host in order (the PUs if no core is described), at least one.
/// `description` is an hwloc synthetic string ("pack:2 core:4 pu:1") or the path of an hwloc XML
/// file (it ends in .xml, holds a slash, or names a file that exists). `notes` say if a recording
/// hides most of its machine. Errors: invalid_argument/io naming the file or the string and hwloc's
/// reason.
Result<std::vector<HostPath>> described_cores(std::string_view description,
                                              std::vector<std::string>& notes);
Result<std::vector<HostPath>> cores_from_synthetic(std::string_view description,
                                                   std::vector<std::string>& notes);
Result<std::vector<HostPath>> cores_from_xml(std::string_view path,
                                             std::vector<std::string>& notes);

/// Returns the GPUs of a host, by PCI address, for ranks to be dealt to; a partitioned GPU once
/// for each of its parts; its cores if the description shows no GPU. `notes` say so, and say if
/// links join GPUs but not each with each. `description` and errors as described_cores().
Result<std::vector<HostPath>> described_gpus(std::string_view description,
                                             std::vector<std::string>& notes);

}  // namespace gradcoll
