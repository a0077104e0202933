// train_fashion/gradient_sync.cpp - sums by one persistent Gradcoll request for each parameter, by
// one engine for all, or by MPI_Allreduce, the peer.
#include "gradient_sync.hpp"

#include <fmt/format.h>
#include <gradcoll/gradcoll.h>

#include <array>

namespace train {
namespace {

WireBytes wire_bytes_in(const GC_Stats& stats) {
    return {stats.bytes_sent, stats.bytes_sent_exact, stats.calls_compressed};
}

WireBytes wire_bytes_of(MPI_Comm comm) {
    GC_Stats stats{};
    check_gc(GC_Comm_get_stats(comm, &stats), "statistics");
    return wire_bytes_in(stats);
}

/// Returns the value of gc_codec: a schedule is stronger than codecs by level, those than one
/// codec.
std::string codec_of(const Options& options) {
    std::string codec = !options.schedule.empty()       ? options.schedule
                        : !options.level_codecs.empty() ? options.level_codecs
                                                        : options.codec;
    if (!options.down_codec.empty()) codec += ",down=" + options.down_codec;
    return codec;
}

/// SettingsInfo holds the settings of a request or an engine as an MPI_Info, without those that the
/// user left out.
class SettingsInfo {
  public:
    explicit SettingsInfo(const Options& options) {
        MPI_Info_create(&info_);
        // What a codec does to the training is of interest even if it does not pay.
        set("gc_compress_if", "always");
        set("gc_codec", codec_of(options));
        set("gc_feedback", options.feedback);
        set("gc_compress_bytes", options.min_bytes);
        if (options.reproducible) set("gc_reproducible", "anywhere");
        if (options.survive) set("gc_fault", "survive");
    }
    ~SettingsInfo() { MPI_Info_free(&info_); }
    SettingsInfo(const SettingsInfo&) = delete;
    SettingsInfo& operator=(const SettingsInfo&) = delete;

    MPI_Info get() const { return info_; }

  private:
    void set(const char* key, const std::string& value) {
        if (!value.empty()) MPI_Info_set(info_, key, value.c_str());
    }

    MPI_Info info_ = MPI_INFO_NULL;
};

class GradcollSync : public GradientSync {
  public:
    GradcollSync(std::vector<Parameter>& parameters, const Options& options, MPI_Comm comm)
        : comm_(comm) {
        const SettingsInfo info(options);
        try {
            for (Parameter& parameter : parameters) add_request(parameter, info.get());
        } catch (const SyncError& error) {
            free_requests();
            throw SettingsError(error.what());
        }
    }
    ~GradcollSync() override { free_requests(); }

    std::optional<WireBytes> wire_bytes() const override { return wire_bytes_of(comm_); }

  private:
    void add_request(Parameter& parameter, MPI_Info info) {
        GC_Request request = GC_REQUEST_NULL;
        check_gc(GC_Allreduce_init(MPI_IN_PLACE, parameter.gradient.data(),
                                   static_cast<MPI_Count>(parameter.gradient.size()), MPI_FLOAT,
                                   MPI_SUM, comm_, info, &request),
                 parameter.name);
        requests_.push_back(request);
    }
    void free_requests() {
        for (GC_Request& request : requests_) GC_Request_free(&request);
    }
    void do_start(std::size_t index) override { check_gc(GC_Start(&requests_[index]), "start"); }
    void do_finish() override {
        check_gc(GC_Waitall(static_cast<int>(requests_.size()), requests_.data()), "wait");
    }

    MPI_Comm comm_;
    std::vector<GC_Request> requests_;
};

/// EngineSync hands in each gradient by its name. Those of the layers that the next forward pass
/// begins with have priority.
class EngineSync : public GradientSync {
  public:
    EngineSync(std::vector<Parameter>& parameters, const Options& options, MPI_Comm comm)
        : parameters_(parameters), handles_(parameters.size(), GC_HANDLE_NULL) {
        const SettingsInfo info(options);
        try {
            check_gc(GC_Engine_create(comm, info.get(), &engine_), "engine");
        } catch (const SyncError& error) {
            throw SettingsError(error.what());
        }
    }
    ~EngineSync() override { GC_Engine_free(&engine_); }

    void go_on(MPI_Comm comm) override {
        GC_Handle_waitall(static_cast<int>(handles_.size()), handles_.data());
        check_gc(GC_Engine_reconfigure(engine_, comm), "reconfigure");
    }

    std::optional<WireBytes> wire_bytes() const override {
        GC_Stats stats{};
        check_gc(GC_Engine_get_stats(engine_, &stats), "statistics");
        return wire_bytes_in(stats);
    }

  private:
    void do_start(std::size_t index) override {
        Parameter& parameter = parameters_[index];
        check_gc(GC_Submit(engine_, parameter.name.c_str(), MPI_IN_PLACE, parameter.gradient.data(),
                           static_cast<MPI_Count>(parameter.gradient.size()), MPI_FLOAT, MPI_SUM,
                           -static_cast<int>(index), &handles_[index]),
                 parameter.name);
    }
    void do_finish() override {
        check_gc(GC_Handle_waitall(static_cast<int>(handles_.size()), handles_.data()), "wait");
    }

    std::vector<Parameter>& parameters_;
    GC_Engine engine_ = GC_ENGINE_NULL;
    std::vector<GC_Handle> handles_;
};

class MpiSync : public GradientSync {
  public:
    MpiSync(std::vector<Parameter>& parameters, MPI_Comm comm)
        : parameters_(parameters), comm_(comm) {}

    std::optional<WireBytes> wire_bytes() const override { return std::nullopt; }

  private:
    void do_start(std::size_t index) override {
        std::vector<float>& gradient = parameters_[index].gradient;
        const int code =
            MPI_Allreduce(MPI_IN_PLACE, gradient.data(), static_cast<int>(gradient.size()),
                          MPI_FLOAT, MPI_SUM, comm_);
        if (code != MPI_SUCCESS) throw SyncError("MPI_Allreduce failed");
    }
    void do_finish() override {}

    std::vector<Parameter>& parameters_;
    MPI_Comm comm_;
};

}  // namespace

void check_gc(int code, const std::string& what) {
    if (code == MPI_SUCCESS) return;
    std::array<char, GC_MAX_ERROR_STRING> text{};
    GC_Error_string(code, text.data(), nullptr);
    throw SyncError(fmt::format("{}: {}", what, text.data()));
}

void GradientSync::start(std::size_t index) {
    const double begin = MPI_Wtime();
    do_start(index);
    seconds_ += MPI_Wtime() - begin;
}

void GradientSync::finish() {
    const double begin = MPI_Wtime();
    do_finish();
    seconds_ += MPI_Wtime() - begin;
}

void GradientSync::go_on(MPI_Comm) {
    throw SyncError("only an engine goes on with other ranks");
}

std::unique_ptr<GradientSync> make_gradient_sync(std::vector<Parameter>& parameters,
                                                 const Options& options, MPI_Comm comm) {
    if (!options.uses_gradcoll()) return std::make_unique<MpiSync>(parameters, comm);
    if (options.engine) return std::make_unique<EngineSync>(parameters, options, comm);
    return std::make_unique<GradcollSync>(parameters, options, comm);
}

}  // namespace train
