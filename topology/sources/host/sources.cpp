// topology/sources/host/sources.cpp - hosts as their ranks found themselves, and hosts that hwloc's
// strings and files describe: one description for all of them, or one for each. (NCCL's files have
// a source file of their own.)
#include "topology/sources/host/sources.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "topology/fabric/host_list.hpp"
#include "topology/sources/host/described_host.hpp"
#include "topology/sources/host/host_subtree.hpp"
#include "topology/sources/host/hosts_file.hpp"

namespace gradcoll {

namespace {

using Notes = std::vector<std::string>;

class HwlocSource : public TreeSource {
  public:
    Needs needs() const override { return {Reports::host_paths, false, {}}; }
    Status learn(const Job& job, TreeDraft& draft) override {
        for (const JobHost& host : job.hosts) draft.insides.push_back(subtree_as_told(host));
        return {};
    }
};

/// One description for all hosts; subclasses may have one for each. Each is read once.
class DescribedSource : public TreeSource {
  public:
    /// The cores or GPUs of a description, and notes on them.
    using ReadPlaces = Result<std::vector<HostPath>>(std::string_view description, Notes& notes);

    DescribedSource(std::string value, ReadPlaces* read, const char* place_name = "core")
        : value_(std::move(value)), read_(read), place_name_(place_name) {}

    Needs needs() const override { return {Reports::host_names, false, {}}; }
    Status learn(const Job& job, TreeDraft& draft) override;
    Result<std::size_t> places_on(const std::string& host_name) override;
    const char* place_name() const override { return place_name_; }

  protected:
    const std::string& value() const { return value_; }

  private:
    /// What ranks are dealt to on hosts of one description.
    struct Places {
        std::vector<HostPath> paths;
        Notes notes;
    };

    /// Called before the next two.
    virtual Status open() { return {}; }
    virtual std::optional<std::string> description_of(const std::string&) const { return value_; }
    /// Null: nothing describes that host. Errors name it.
    Result<const Places*> places_of(const std::string& host_name);

    std::string value_;
    ReadPlaces* read_;
    const char* place_name_;
    std::map<std::string, Places> places_of_description_;
};

Result<const DescribedSource::Places*> DescribedSource::places_of(const std::string& host_name) {
    const auto description = description_of(host_name);
    if (!description) return nullptr;
    const auto known = places_of_description_.find(*description);
    if (known != places_of_description_.end()) return &known->second;
    Places places;
    Result<std::vector<HostPath>> paths = read_(*description, places.notes);
    if (!paths.ok())
        return Status(paths.status().code(),
                      fmt::format("host {}: {}", host_name, paths.status().message()));
    places.paths = std::move(*paths);
    for (std::string& note : places.notes) note = fmt::format("\"{}\": {}", *description, note);
    return &places_of_description_.emplace(*description, std::move(places)).first->second;
}

Result<std::size_t> DescribedSource::places_on(const std::string& host_name) {
    GRADCOLL_TRY(open());
    const auto places = GRADCOLL_VALUE(places_of(host_name));
    return places == nullptr ? 0 : places->paths.size();
}

Status DescribedSource::learn(const Job& job, TreeDraft& draft) {
    GRADCOLL_TRY(open());
    Notes undescribed;
    for (const JobHost& host : job.hosts) {
        const auto places = GRADCOLL_VALUE(places_of(host.name));
        if (places == nullptr) {
            undescribed.push_back(host.name);
            draft.insides.push_back(subtree_as_told(host));
            continue;
        }
        draft.notes.insert(draft.notes.end(), places->notes.begin(), places->notes.end());
        draft.insides.push_back(subtree_as_described(host, places->paths));
    }
    if (undescribed.empty()) return {};
    if (undescribed.size() == job.hosts.size())
        return {Code::invalid_argument,
                fmt::format("\"{}\" describes none of the hosts {}, and has nothing for *", value_,
                            hosts_in_words(undescribed))};
    draft.notes.push_back(fmt::format("\"{}\" does not describe {}: ranks there are equally near",
                                      value_, hosts_in_words(undescribed)));
    return {};
}

/// A hosts file or folder says which host is described by what.
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

    std::optional<HostsFile> hosts_;
};

/// What is at the path decides.
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
        if (holds_nccl_xml(content))
            found_ = nccl_source(path_);
        else if (holds_hwloc_xml(content))
            found_ = std::make_unique<DescribedSource>(path_, described_gpus, place_name());
        else
            found_ = std::make_unique<HostsSource>(path_, described_gpus, place_name());
        return {};
    }

    std::string path_;
    std::unique_ptr<TreeSource> found_;
};

}  // namespace

std::unique_ptr<TreeSource> hwloc_source(std::string) {
    return std::make_unique<HwlocSource>();
}

std::unique_ptr<TreeSource> synthetic_source(std::string description) {
    return std::make_unique<DescribedSource>(
        std::move(description),
        [](std::string_view text, Notes&) { return cores_from_synthetic(text); });
}

std::unique_ptr<TreeSource> hwloc_xml_source(std::string path) {
    return std::make_unique<DescribedSource>(
        std::move(path), [](std::string_view file, Notes&) { return cores_from_xml(file); });
}

std::unique_ptr<TreeSource> hosts_source(std::string path) {
    return std::make_unique<HostsSource>(
        std::move(path), [](std::string_view any, Notes&) { return described_cores(any); }, "core");
}

std::unique_ptr<TreeSource> gpus_source(std::string path) {
    return std::make_unique<GpusSource>(std::move(path));
}

bool holds_hwloc_xml(const PathContent& content) {
    return content.xml_element() == "topology";
}

bool is_folder(const PathContent& content) {
    return content.is_folder;
}

}  // namespace gradcoll
