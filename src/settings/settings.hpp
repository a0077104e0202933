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
#include "collectives/choose/least_bytes.hpp"
#include "collectives/choose/policy.hpp"
#include "compress/codec_id.hpp"
#include "engine/strategy.hpp"
#include "settings/codec_schedule.hpp"
#include "settings/compress_filter.hpp"
#include "transport/routed/transport_choice.hpp"

namespace gradcoll {

/// The text of every setting. A value that can be copied, changed and compared before it is
/// believed.
class SettingsText {
  public:
    /// Every setting at its default.
    static SettingsText defaults();
    /// What checked_options() holds.
    static SettingsText from_environment();

    const std::string& operator[](OptionId id) const { return texts_[index(id)]; }
    void set(OptionId id, std::string_view text) { texts_[index(id)] = text; }
    /// Sets what the user said. Of gc_codec, gc_level_codecs and gc_schedule, which all say the
    /// codec, the last said wins: the others are cleared.
    void say(OptionId id, std::string_view text);

    /// What is ignored and may limit what sums lose (OptionSet::doubt()); empty: nothing. Whoever
    /// has some is exact: CommSettings::agree(), Settings::stay_exact().
    const std::string& doubt() const { return doubt_; }
    void add_doubt(std::string_view what);

  private:
    static std::size_t index(OptionId id) { return static_cast<std::size_t>(id); }

    std::array<std::string, most_options> texts_;
    std::string doubt_;
};

/// Whether a text is a value of the option, any option, as far as the text alone tells (a file that
/// it names may be missing). Errors: invalid_argument saying what is allowed; printable.
Status check_setting(OptionId id, std::string_view text);

/// options_of_process() without the values that check_setting() refuses: what holds for
/// communicators that say nothing, with its places. Thread safe.
const OptionSet& checked_options();
/// Logs, once per process, what is ignored of the environment and the file, and why.
void warn_about_settings();

/// The setting of an info key such as "gc_codec". Errors: invalid_argument, naming the nearest
/// known key.
Result<OptionId> option_of_key(std::string_view info_key);

enum class CheckLevel : std::uint8_t { off, local, collective };

/// How the ranks of one host combine theirs on a communicator of several hosts.
enum class InsideHosts : std::uint8_t { memory, messages };

/// Whether the library may learn while a job runs, and use what earlier jobs learnt.
enum class Tune : std::uint8_t { online, cache, off };

/// How far results may be off.
struct ResultTolerance {
    enum class Kind : std::uint8_t {
        abs,   ///< `value`
        range  ///< `value` times what lies between the smallest and the largest input of all ranks
    };
    Kind kind = Kind::abs;
    double value = 0;  ///< more than 0
    friend bool operator==(const ResultTolerance&, const ResultTolerance&) = default;
};

enum class EngineCoordinator : std::uint8_t {
    on,     ///< rank 0 gives the order of all sums; who tells it what follows from the ranks
    flat,   ///< every rank tells rank 0 itself
    hosts,  ///< one rank of each host tells it for all of them
    off     ///< ranks begin sums that they know by themselves
};

struct EngineSettings {
    std::optional<EngineStrategy> strategy;  ///< none: chosen for each gradient
    std::string plan_file;                   ///< that says how gradients are summed; empty: none
    std::string plan_to;                     ///< where that is written at the end; empty: nowhere
    std::optional<int> threads;              ///< none: by cores and ranks
    std::uint64_t most_bytes = 0;
    std::uint64_t pack_bytes = 0;
    EngineCoordinator coordinator = EngineCoordinator::on;
    std::int64_t stall_seconds = 60;
    bool replan = true;  ///< gradients, where links carry something else than was said
};

/// The same, understood. Lists by level of the tree: 0 is nearest the ranks, the last entry repeats
/// above.
struct Settings {
    CodecId codec = CodecId::exact;
    HopCodecs level_codecs;                    ///< empty: `codec` everywhere
    std::optional<CodecId> down_codec;         ///< none: that of the highest lossy level
    std::optional<ResultTolerance> tolerance;  ///< none: whatever the codecs do
    std::uint64_t min_bytes = 0;
    std::optional<std::uint64_t> max_bytes;  ///< none: no limit
    NameFilter compress_comms;
    CallFilter compress_calls;
    std::uint64_t tree_min_bytes = 0;
    /// Then it is what is usual until CommSettings::suit() says what suits the tree.
    bool tree_min_is_auto = false;
    std::vector<ExchangeWish> exchange;  ///< at least one
    Builder builder = Builder::flexreduce;
    std::optional<std::uint64_t> chunk_bytes;  ///< none: chosen by the policy; 0: one chunk
    int chunks_in_flight = 4;
    InsideHosts inside_hosts = InsideHosts::memory;
    Tune tune = Tune::online;  ///< off if sums are to be reproducible
    bool reproducible = false;
    std::uint64_t shm_bytes = 0;  ///< shared memory a rank; 0: none
    TransportChoice transports;   ///< what may carry messages
    /// Shorter vectors on devices are reduced on the host; none: by what devices take.
    std::optional<std::uint64_t> device_min_bytes;
    NicChoice nic = {};
    CodecSchedule schedule;            ///< if not empty: instead of `codec` and `level_codecs`
    std::uint64_t calls_per_step = 0;  ///< 0: calls do not advance the schedule
    bool feedback = true;
    EngineSettings engine;
    CompressIf compress_if = CompressIf::pays;
    bool loss_in_doubt = false;  ///< all is exact, because something that limits loss is ignored
    CheckLevel check = CheckLevel::off;
    /// Never null; no text says it: a communicator puts in its rank 0's (process_tuning.hpp).
    std::shared_ptr<const Tuning> tuning = std::make_shared<const Tuning>();

    /// Errors: invalid_argument naming the info key, the value and what is allowed.
    static Result<Settings> parse(const SettingsText& text);
    /// Whatever the codecs, the schedule and the tolerance are: because of a doubt.
    void stay_exact();

    /// What holds without a schedule.
    HopCodecs codecs() const { return level_codecs.empty() ? HopCodecs{codec} : level_codecs; }
    /// Whether some exchange's codec is lossy for elements of this type at `step`.
    bool compresses(ElementType type, std::int64_t step) const;
    /// The same at some step.
    bool ever_compresses(ElementType type) const;
    /// Whether some codec is lossy at some step, whatever the type.
    bool ever_lossy() const;
    /// Every codec that is named somewhere; not all are in use.
    std::vector<CodecId> named_codecs() const;
    /// Whether the user chose exchanges, builder or chunks.
    bool chooses_plan() const;
    /// Of vectors that are worth timing.
    std::uint64_t long_bytes() const {
        return tree_min_is_auto ? usual_least_tree_bytes : tree_min_bytes;
    }
    /// Bytes of the smallest vector that can take the tree.
    std::uint64_t least_tree_bytes() const;
};

/// The settings of this process (file, environment, defaults). Thread safe.
const Settings& process_settings();

}  // namespace gradcoll
