// settings/settings.hpp - what was chosen for one communicator (or one request): as text, and
// in our types.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.hpp"
#include "base/status.hpp"
#include "collectives/choose/policy.hpp"
#include "collectives/choose/short_vectors.hpp"
#include "compress/codec_id.hpp"
#include "engine/strategy.hpp"
#include "settings/codec_schedule.hpp"
#include "settings/compress_filter.hpp"
#include "transport/routed/transport_choice.hpp"

namespace gradcoll {

/// SettingsText is the text of every setting. It is a value that can be copied, changed and
/// compared before anybody relies on it.
class SettingsText {
  public:
    /// Returns every setting at its default.
    static SettingsText defaults();
    /// Returns what checked_options() holds.
    static SettingsText from_environment();

    const std::string& operator[](OptionId id) const { return texts_[index(id)]; }
    void set(OptionId id, std::string_view text) { texts_[index(id)] = text; }
    /// Sets what the user said of a setting: the parts that the value names, no others. Errors: see
    /// parts_in(); a part that only the process has.
    Status say(OptionId whole, std::string_view text);
    /// Returns what say() takes: the value with its parts.
    std::string said(OptionId whole) const;

    /// Returns what is ignored although it may limit what sums lose (OptionSet::doubt()); empty if
    /// nothing is. A communicator with a doubt is exact: CommSettings::agree(),
    /// Settings::stay_exact().
    const std::string& doubt() const { return doubt_; }
    void add_doubt(std::string_view what);

  private:
    static std::size_t index(OptionId id) { return static_cast<std::size_t>(id); }

    std::array<std::string, most_options> texts_;
    std::string doubt_;
};

/// Checks whether a text is a value of the option, as far as the text alone tells (a file that it
/// names may be missing). Errors: invalid_argument saying what is allowed; printable.
Status check_setting(OptionId id, std::string_view text);

/// Returns options_of_process() without the values that check_setting() refuses. They hold for
/// communicators that set nothing themselves. Thread safe.
const OptionSet& checked_options();
/// Logs, once per process, what is ignored of the environment and the file, and why.
void warn_about_settings();

/// Returns the setting of an info key such as "gc_codec". Errors: invalid_argument, naming the
/// nearest known key.
Result<OptionId> option_of_key(std::string_view info_key);

enum class CheckLevel : std::uint8_t { off, local, collective };

/// Fault says what ranks do about the death of another one.
enum class Fault : std::uint8_t {
    report,  ///< who waits for it in vain gets an error
    survive  ///< all that live agree on which sums were made (comm/verdicts.hpp)
};

/// InsideHosts says how the ranks of one host combine their vectors on a communicator of several
/// hosts.
enum class InsideHosts : std::uint8_t { memory, messages };

/// Tune says whether the library may learn while a job runs, and use what earlier jobs learnt.
enum class Tune : std::uint8_t { online, cache, off };

/// ResultTolerance says how far results may be off.
struct ResultTolerance {
    enum class Kind : std::uint8_t {
        abs,   ///< `value`
        range  ///< `value` times the range from the smallest to the largest input of all ranks
    };
    Kind kind = Kind::abs;
    double value = 0;  ///< more than 0
    friend bool operator==(const ResultTolerance&, const ResultTolerance&) = default;
};

enum class EngineCoordinator : std::uint8_t {
    on,     ///< rank 0 gives the order of all sums; flat or hosts, by the number of ranks
    flat,   ///< every rank tells rank 0 itself what it has
    hosts,  ///< one rank of each host tells rank 0 for all of them
    off     ///< ranks begin sums that they know by themselves
};

struct EngineSettings {
    std::optional<EngineStrategy> strategy;  ///< none: chosen for each gradient
    std::string plan_file;       ///< the file that says how gradients are summed; empty: none
    std::string plan_to;         ///< where such a file is written at the end; empty: nowhere
    std::optional<int> threads;  ///< none: chosen by cores and ranks
    std::uint64_t most_bytes = 0;
    std::optional<std::uint64_t> pack_bytes;  ///< none: by the slowest link; 0: no packs
    EngineCoordinator coordinator = EngineCoordinator::on;
    std::int64_t stall_seconds = 60;
    /// It says whether gradients are planned again if links carry something else than was said.
    bool replan = true;
};

/// Settings are the parsed texts. Lists have an entry for each level of the tree: 0 is nearest the
/// ranks, and the last entry repeats above.
struct Settings {
    CodecId codec = CodecId::exact;
    HopCodecs level_codecs;                    ///< empty: `codec` everywhere
    std::optional<CodecId> down_codec;         ///< none: the codec of the highest lossy level
    std::optional<ResultTolerance> tolerance;  ///< none: whatever the codecs do
    std::uint64_t min_bytes = 0;
    std::optional<std::uint64_t> max_bytes;  ///< none: no limit
    NameFilter compress_comms;
    CallFilter compress_calls;
    std::uint64_t tree_min_bytes = 0;
    /// If it is set, tree_min_bytes is what is usual until CommSettings::suit() sets what suits the
    /// tree.
    bool tree_min_is_auto = false;
    std::vector<ExchangeWish> exchange;  ///< at least one
    Builder builder = Builder::flexreduce;
    std::optional<std::uint64_t> chunk_bytes;  ///< none: chosen by the policy; 0: one chunk
    int chunks_in_flight = 4;
    InsideHosts inside_hosts = InsideHosts::memory;
    Tune tune = Tune::online;  ///< off if sums are to keep one order
    bool reproducible = false;
    bool anywhere = false;  ///< sums have the same bits on every tree; `reproducible` is set, too
    std::uint64_t shm_bytes = 0;  ///< shared memory a rank; 0: none
    TransportChoice transports;   ///< what may carry messages
    /// It is the size below which vectors on devices are reduced on the host; none: it follows from
    /// what devices take.
    std::optional<std::uint64_t> device_min_bytes;
    NicChoice nic = {};
    CodecSchedule schedule;  ///< if it is not empty it replaces `codec` and `level_codecs`
    std::uint64_t calls_per_step = 0;  ///< 0: calls do not advance the schedule
    bool feedback = true;
    EngineSettings engine;
    CompressIf compress_if = CompressIf::pays;
    bool loss_in_doubt = false;  ///< all is exact, because something that limits loss is ignored
    Fault fault = Fault::report;
    CheckLevel check = CheckLevel::off;
    bool check_sums = false;  ///< messages of sums have checksums
    /// It is never null. No text sets it: a communicator puts in the figures of its rank 0
    /// (process_tuning.hpp).
    std::shared_ptr<const Tuning> tuning = std::make_shared<const Tuning>();

    /// Parses the texts. Errors: invalid_argument naming the info key, the value and what is
    /// allowed.
    static Result<Settings> parse(const SettingsText& text);
    /// Makes everything exact because of a doubt, whatever the codecs, the schedule and the
    /// tolerance are.
    void stay_exact();

    /// Returns the codecs that hold without a schedule.
    HopCodecs codecs() const { return level_codecs.empty() ? HopCodecs{codec} : level_codecs; }
    /// Returns whether some exchange's codec is lossy for elements of this type at `step`.
    bool compresses(ElementType type, std::int64_t step) const;
    /// Returns whether it compresses() at some step.
    bool ever_compresses(ElementType type) const;
    /// Returns whether some codec is lossy at some step, whatever the type.
    bool ever_lossy() const;
    /// Returns every codec that is named somewhere; not all are in use.
    std::vector<CodecId> named_codecs() const;
    /// Returns whether the user chose exchanges, builder or chunks.
    bool chooses_plan() const;
    /// Returns the size from which on vectors are worth timing.
    std::uint64_t long_bytes() const {
        return tree_min_is_auto ? usual_least_tree_bytes : tree_min_bytes;
    }
    /// Returns the size of the smallest vector that can take the tree.
    std::uint64_t least_tree_bytes() const;
};

/// Returns the settings of this process (file, environment, defaults). Thread safe.
const Settings& process_settings();

}  // namespace gradcoll
