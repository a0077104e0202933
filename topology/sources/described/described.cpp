// topology/sources/described/described.cpp - hosts that hwloc's strings and files describe: one
// description for all of them, or one for each. (NCCL's files have a source file of their own.)
#include <optional>
#include <utility>

#include "topology/sources/described/described_source.hpp"
#include "topology/sources/host/described_host.hpp"
#include "topology/sources/host/hosts_file.hpp"
#include "topology/sources/job/source_table.hpp"

namespace gradcoll {

namespace {

bool holds_hwloc_xml(const PathContent& content) {
    return content.xml_element() == "topology";
}

/// HostsSource reads a hosts file or folder, which says what describes which host.
class HostsSource : public DescribedSource {
  public:
    HostsSource(std::string path, ReadPlaces* read, const char* place_name)
        : DescribedSource(std::move(path), read, place_name) {}

    Result<std::vector<std::string>> host_names() override {
        GRADCOLL_TRY(open());
        return hosts_->host_names();
    }

  private:
    Status open() override {
        if (hosts_) return {};
        hosts_ = GRADCOLL_VALUE(HostsFile::read(value()));
        return {};
    }
    std::optional<std::string> description_of(const std::string& host_name) const override {
        return hosts_->description_of(host_name);
    }
    /// Returns true for a folder, since nobody chose its files: one of many hosts may have been
    /// recorded badly.
    bool does_without_damaged() const override { return hosts_->is_of_folder(); }

    std::optional<HostsFile> hosts_;
};

/// GpusSource looks at the path to see what it is.
class GpusSource : public TreeSource {
  public:
    explicit GpusSource(std::string path) : path_(std::move(path)) {}

    Needs needs() const override { return {Reports::host_names, false, {}}; }
    const char* place_name() const override { return "GPU"; }

    Status learn(const Job& job, TreeDraft& draft) override {
        GRADCOLL_TRY(open());
        return found_->learn(job, draft);
    }
    Result<std::vector<std::string>> host_names() override {
        GRADCOLL_TRY(open());
        return found_->host_names();
    }
    Result<std::size_t> places_on(const std::string& host_name) override {
        GRADCOLL_TRY(open());
        return found_->places_on(host_name);
    }

  private:
    Status open() {
        if (found_) return {};
        const PathContent content = GRADCOLL_VALUE(content_at(path_));
        const SourceRow& nccl = source_row(Part::inside, "nccl");
        if (nccl.holds(content))
            found_ = nccl.make(path_);
        else if (holds_hwloc_xml(content))
            found_ = std::make_unique<DescribedSource>(path_, described_gpus, place_name());
        else
            found_ = std::make_unique<HostsSource>(path_, described_gpus, place_name());
        return {};
    }

    std::string path_;
    std::unique_ptr<TreeSource> found_;
};

std::unique_ptr<TreeSource> make_synthetic(std::string description) {
    return std::make_unique<DescribedSource>(std::move(description), cores_from_synthetic);
}

std::unique_ptr<TreeSource> make_xml(std::string path) {
    return std::make_unique<DescribedSource>(std::move(path), cores_from_xml);
}

std::unique_ptr<TreeSource> make_hosts(std::string path) {
    return std::make_unique<HostsSource>(std::move(path), described_cores, "core");
}

}  // namespace

SourceRow synthetic_source_row() {
    return {.part = Part::inside,
            .word = "synthetic",
            .takes = Takes::a_string,
            .forms = "synthetic:STRING",
            .make = make_synthetic,
            .help = "inside: as an hwloc string such as pack:2 core:4 pu:1 describes"};
}

SourceRow xml_source_row() {
    return {.part = Part::inside,
            .word = "xml",
            .takes = Takes::a_file,
            .forms = "xml:FILE",
            .make = make_xml,
            .holds = holds_hwloc_xml,
            .found = "holds hwloc XML",
            .expected = "hwloc XML",
            .help = "inside: as a file that lstopo wrote describes"};
}

SourceRow hosts_source_row() {
    return {.part = Part::inside,
            .word = "hosts",
            .takes = Takes::a_file,
            .forms = "hosts:FILE-OR-FOLDER",
            .make = make_hosts,
            .holds =
                [](const PathContent& content) {
                    return content.is_folder && content.subnet_names().empty();
                },
            .found = "is a folder (of hosts' XML files)",
            .expected = "a folder of hosts' XML files",
            .example = "hosts:PATH",
            .help = "inside: a file of lines HOST SYNTHETIC-OR-XML, or a folder of HOST.xml"};
}

SourceRow gpus_source_row() {
    return {.part = Part::inside,
            .word = "gpus",
            .takes = Takes::a_file,
            .forms = "gpus:PATH",
            .make = make_source<GpusSource>,
            .help = "inside: as xml or hosts, with ranks on GPUs instead of cores"};
}

}  // namespace gradcoll
