#include "fuzz/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/config_file.hpp"
#include "base/option_parts.hpp"
#include "base/text.hpp"
#include "fuzz/promises.hpp"
#include "settings/config_dump.hpp"
#include "settings/intercept_set.hpp"
#include "settings/settings.hpp"
#include "topology/text.hpp"

namespace gradcoll::fuzz {
namespace {

bool is_printable(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// ---- layers: an environment and a file ----------------------------------------------------------

/// Makes a set of options: lines before the first empty one are the environment, the others the
/// file.
OptionSet set_from(std::string_view text) {
    std::vector<std::string_view> entries;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty()) break;
        entries.push_back(line);
    }
    return OptionSet(entries, parse_config(text, "fuzz.conf"));
}

/// Returns whether a set can be written to a file, which has no escapes: a value with both quotes,
/// or unprintable bytes, cannot be written.
bool can_be_written(const OptionSet& set) {
    return std::all_of(option_table().begin(), option_table().end(), [&](const OptionInfo& row) {
        const std::string& value = set.text(row.id);
        return is_printable(value) &&
               (value.find('"') == std::string::npos || value.find('\'') == std::string::npos);
    });
}

void must_dump_as_a_file(const OptionSet& set, std::string_view text) {
    const std::string table = config_table(set);
    const ConfigFile file = parse_config(table, "dump");
    must(file.complaints.empty(), "a dump reads without complaints", text);
    const OptionSet again({}, file);
    for (const OptionInfo& row : option_table())
        if (row.id != OptionId::config_file)
            must(again.text(row.id) == set.text(row.id), "a dump says the same", text);
}

bool option_set(std::string_view text) {
    if (names_many_ranks(text)) return false;
    OptionSet set = set_from(text);
    set.leave_out_what_fails(check_setting);
    const std::size_t complaints = set.complaints().size();
    for (const OptionComplaint& complaint : set.complaints())
        must_be_a_message(complaint.text, text);
    set.leave_out_what_fails(check_setting);
    must(set.complaints().size() == complaints, "what is left is allowed", text);
    SettingsText settings;
    for (const OptionInfo& row : option_table()) {
        settings.set(row.id, set.text(row.id));
        must(
            (set.source(row.id) == OptionSource::default_value) == (set.place(row.id) == "default"),
            "source and place agree", text);
    }
    must(Settings::parse(settings).ok(), "broken values never break the settings", text);
    if (can_be_written(set)) must_dump_as_a_file(set, text);
    return complaints == 0;
}

bool config_file(std::string_view text) {
    const ConfigFile file = parse_config(text, "fuzz.conf");
    for (const std::string& complaint : file.complaints) must_be_a_message(complaint, text);
    std::vector<bool> seen(option_table().size());
    const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
    for (const ConfigEntry& entry : file.entries) {
        must(!seen[static_cast<std::size_t>(entry.option)], "at most one entry a setting", text);
        seen[static_cast<std::size_t>(entry.option)] = true;
        must(entry.option != OptionId::config_file, "the file does not name itself", text);
        must(entry.line >= 1 && entry.line <= lines, "entries have lines of the file", text);
        must(entry.text.size() <= text.size(), "values stand in the file", text);
    }
    return file.complaints.empty();
}

// ---- single values ------------------------------------------------------------------------------

/// Asks every option. Settings::parse must agree for those that it reads.
bool setting(std::string_view text) {
    if (names_many_ranks(text)) return false;
    bool any = false;
    for (const OptionInfo& row : option_table()) {
        const bool allowed = accepted(check_setting(row.id, text), text);
        SettingsText settings;
        for (const OptionInfo& other : option_table()) settings.set(other.id, other.default_value);
        settings.set(row.id, text);
        const auto parsed = Settings::parse(settings);
        if (allowed)
            must(parsed.ok(), "what is allowed is read", text);
        else if (!row.info_key.empty() && row.id != OptionId::topology)
            must(!accepted(parsed.status(), text), "what is not allowed is not read", text);
        any = any || (allowed && !row.info_key.empty());
    }
    return any;
}

/// Splits the text as a value of every setting with parts, and joins what it says again. An own
/// text of nothing is not written, so it is not read back.
bool parts(std::string_view text) {
    bool any = false;
    for (const OptionInfo& row : option_table()) {
        const auto said = parts_in(row.whole, text);
        if (is_part(row) || !accepted(said.status(), text)) continue;
        SettingsText settings = SettingsText::defaults();
        for (const PartText& part : *said) settings.set(part.id, part.text);
        const auto joined = [&](const SettingsText& of) {
            return joined_parts(row.id, [&](OptionId id) { return std::string_view(of[id]); });
        };
        const auto again = parts_in(row.id, joined(settings));
        must(again.ok(), "what is joined can be split", text);
        SettingsText read = SettingsText::defaults();
        for (const PartText& part : *again) read.set(part.id, part.text);
        must(settings[row.id].empty() || joined(read) == joined(settings), "values read back",
             text);
        any = any || said->size() > 1;
    }
    return any;
}

bool names(std::string_view text) {
    const auto by_key = option_of_key(text);
    if (accepted(by_key.status(), text))
        must(info_of(*by_key).info_key == text, "a key is that of its row", text);
    const auto by_name = option_of_name(text);
    if (by_key.ok()) must(by_name.ok() && *by_name == *by_key, "a key is a name", text);
    return accepted(by_name.status(), text);
}

bool byte_sizes(std::string_view text) {
    const auto bytes = parse_bytes(text);
    if (bytes.ok()) must(*parse_bytes(std::to_string(*bytes)) == *bytes, "bytes read back", text);
    const auto number = parse_integer(text, -1000, std::numeric_limits<std::int64_t>::max());
    if (number.ok()) {
        must(*number >= -1000, "numbers are in their range", text);
        must(*parse_integer(std::to_string(*number), *number, *number) == *number,
             "numbers read back", text);
    }
    accepted(number.status(), text);
    const bool is_switch = accepted(parse_switch(text).status(), text);
    return accepted(bytes.status(), text) || is_switch;
}

// ---- lists --------------------------------------------------------------------------------------

/// Returns whether the pattern matches, by a simple method: letter by letter of the pattern it
/// keeps which beginnings of `name` match.
bool plainly_matches(std::string_view pattern, std::string_view name) {
    std::vector<bool> taken(name.size() + 1);
    taken[0] = true;
    for (const char p : pattern) {
        std::vector<bool> next(name.size() + 1);
        for (std::size_t i = 0; i <= name.size(); ++i)
            next[i] = p == '*' ? taken[i] || (i > 0 && next[i - 1])
                               : i > 0 && taken[i - 1] && (p == '?' || p == name[i - 1]);
        taken = next;
    }
    return taken[name.size()];
}

/// Tests a filter with the name that follows the last line break. The content of brackets is left
/// to fnmatch().
bool name_filter(std::string_view text) {
    text = text.substr(0, text.find('\0'));  // neither the environment nor MPI has names beyond it
    const std::size_t cut = text.rfind('\n');
    const std::string_view list = text.substr(0, cut);
    const std::string_view name =
        (cut == std::string_view::npos ? text : text.substr(cut + 1)).substr(0, 64);
    const auto filter = NameFilter::parse(list);
    if (!accepted(filter.status(), text)) return false;
    const auto entries = split_at_commas(list);
    bool expected = entries.front().starts_with('!');
    for (std::string_view entry : entries) {
        const bool include = !entry.starts_with('!');
        if (!include) entry = trimmed(entry.substr(1));
        if (plainly_matches(entry, name)) expected = include;
    }
    const bool allowed = filter->allows(std::string(name));
    const bool plain = list.find('[') == std::string_view::npos;
    must(!plain || allowed == expected, "names match as the plain reading says", text);
    return true;
}

/// Tests a filter: from some number on a list without periods stays the same; one with periods
/// repeats itself.
bool call_filter(std::string_view text) {
    const auto filter = CallFilter::parse(text);
    if (!accepted(filter.status(), text)) return false;
    const auto everything = CallFilter::parse(std::string(text) + ",all");
    const auto nothing = CallFilter::parse(std::string(text) + ",!all");
    const auto only = CallFilter::parse(std::string(text) + ",!all,5");
    must(everything.ok() && nothing.ok() && only.ok(), "lists go on", text);
    for (std::uint64_t call : {0ULL, 1ULL, 5ULL, 99ULL, 100ULL, 1ULL << 40, ~0ULL}) {
        static_cast<void>(filter->allows(call));
        must(everything->allows(call), "all allows all", text);
        must(!nothing->allows(call), "!all allows nothing", text);
        must(only->allows(call) == (call == 5), "the last match decides", text);
    }
    return true;
}

bool level_lists(std::string_view text) {
    const auto exchanges = level_exchanges_from(text);
    const bool are_exchanges = accepted(exchanges.status(), text);
    const auto codecs = hop_codecs_from(text);
    if (!accepted(codecs.status(), text)) return are_exchanges;
    const auto again = hop_codecs_from(codecs->text());
    must(again.ok() && *again == *codecs, "lists of codecs read back", text);
    return true;
}

bool schedule(std::string_view text) {
    const auto parsed = CodecSchedule::parse(text);
    if (!accepted(parsed.status(), text)) return false;
    std::string printed;
    for (const CodecSchedule::Phase& phase : parsed->phases())
        printed += fmt::format("{}{}:{}", printed.empty() ? "" : ",", phase.first_step,
                               name_of(phase.codec));
    const auto again = CodecSchedule::parse(printed);
    must(again.ok() && std::equal(again->phases().begin(), again->phases().end(),
                                  parsed->phases().begin(), parsed->phases().end(),
                                  [](const auto& a, const auto& b) {
                                      return a.first_step == b.first_step && a.codec == b.codec;
                                  }),
         "schedules read back", text);
    return true;
}

bool intercepted(std::string_view text) {
    const auto set = InterceptSet::parse(text);
    if (!accepted(set.status(), text)) return false;
    must(set->has(GC_CALL_START) == set->has(GC_CALL_ALLREDUCE_INIT),
         "starts come with persistent calls", text);
    return true;
}

bool tree_expression(std::string_view text) {
    if (names_many_ranks(text)) return false;
    const auto tree = tree_from_expression(text, -1);
    if (!accepted(tree.status(), text)) return false;
    const std::string printed = expression_of(*tree);
    const auto again = tree_from_expression(printed, tree->rank_count());
    must(again.ok() && expression_of(*again) == printed, "expressions read back", text);
    return true;
}

constexpr std::string_view layers_seeds[] = {
    "",
    "GC_CODEC=2:4\nGC_COMPRESS_BYTES=1M\n\ncodec = bf16\ncompress_bytes = 2M\n",
    "GC_CODEC=9:9,down=bf16\n\ncodec = exact,2:4,every=calls:3\nlog = loud\n",
    "GC_CODEC=down=1:4\n\ncodec = 0:2:4\n",
    "GC_TOPOLOGY=((0 1) (2 3 4))\nGC_YIELD=maybe\n",
    "GC_TEST_X=1\nGC_CODECC=1\nHOME=/\nGC_LOG\n=\n",
    "GC_CONFIG_FILE=x\nGC_TRACE='a \"b\n",
    "\nenable=off\nintercept=allreduce,bcast\nreport=error=10\ntrace=spans=0\ndump_config=yes\n",
    "\ncompress_comms = ddp*,!*norm*\ncompress_calls = 100-,!3/7\ncompress_bytes = 4K-8M\n",
    "\nGC_CONFIG_FILE = other\ncodec = 1:4\ncodec = 2:4\nnonsense\n= 1\n"};
constexpr std::string_view file_seeds[] = {
    "",
    "GC_CODEC = 2:4\n",
    "codec=exact",
    "\xEF\xBB\xBF# comment\r\nGC_CODEC = \"2:4\" # half\r\n\r\ntrace = 'a #b'\r\n",
    "compress_bytes = 1M\ngc_chunk_bytes = 2M # two\n\nGC_LOG = info\n",
    "# nothing\n\n\t # more\n",
    "trace = \"open\nreport = 'a' b\nreport = json,file=a,b # x\n",
    "GC_CONFIG_FILE = other\ncodec = 1:4\ncodec = 2:4\nnonsense\n= 1\n"};
constexpr std::string_view value_seeds[] = {"exact",
                                            "2:4",
                                            "bf16",
                                            "same",
                                            "auto",
                                            "on",
                                            "off",
                                            "all",
                                            "none",
                                            "64K",
                                            "0",
                                            "16",
                                            "*",
                                            "1000000",
                                            "discover",
                                            "flat",
                                            "((0 1) (2 3 4))",
                                            "json:tree.json",
                                            "hosts:a b",
                                            "0:2:4",
                                            "exact,2:4",
                                            "direct,ring",
                                            "local",
                                            "best",
                                            "trace",
                                            "text",
                                            "allreduce",
                                            "100-,!3/7"};
constexpr std::string_view parts_seeds[] = {"ring,threads=2,bytes=8M",
                                            "spans=7,/a,b=c.json",
                                            "json,error=2,callsites=on,file=a,file=b",
                                            "host=exact,between=2:4,down=bf16",
                                            "0:4:4,500:2:4,every=calls:7",
                                            "on,dir=/tmp/a",
                                            "threads=2,threads=3",
                                            "a, b ,,c=",
                                            "threads=,"};
constexpr std::string_view name_seeds[] = {"gc_codec",
                                           "GC_COMPRESS_BYTES",
                                           "compress_bytes",
                                           "gc_codek",
                                           "gc_check",
                                           "gc_fault",
                                           "GC_LOG",
                                           "log",
                                           "cpu",
                                           "compress_calls",
                                           "gc_",
                                           "GC_GC_CODEC",
                                           "Yield"};
constexpr std::string_view number_seeds[] = {"0",
                                             "64K",
                                             "1MiB",
                                             "3g",
                                             "18446744073709551615",
                                             "18446744073709551616",
                                             "17179869183G",
                                             "-1",
                                             "-1000",
                                             "9223372036854775807",
                                             "on",
                                             "OFF",
                                             "true",
                                             "no"};
constexpr std::string_view name_filter_seeds[] = {"*",
                                                  "?",
                                                  "ddp*,!ddp_norm*\nddp_norm",
                                                  "!*norm*\nMPI_COMM_WORLD",
                                                  "! a*, ab\nab",
                                                  "!",
                                                  "*a*a*a*a*b\naaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                                  "a?c,*d\nabd",
                                                  "a,,b"};
constexpr std::string_view call_filter_seeds[] = {"all",
                                                  "0",
                                                  "0-5",
                                                  "7-",
                                                  "!1/3",
                                                  "100-,!3/7",
                                                  "2-4/9, !3",
                                                  "5-4",
                                                  "9/9",
                                                  "1/0",
                                                  "all,!all",
                                                  "18446744073709551615",
                                                  "1-/18446744073709551615"};
constexpr std::string_view list_seeds[] = {
    "exact",       "2:4",        "exact,2:4,bf16", "off,none,4:4",          "auto",        "ring",
    "direct,ring", "exact,,2:4", "1:16,int8,1:8",  "host=exact,switch=2:4", "between=bf16"};
constexpr std::string_view schedule_seeds[] = {"",
                                               "0:4:4,500:2:4,5000:1:4",
                                               "0:2:4",
                                               " 0 : bf16 , 7 : exact ",
                                               "1:2:4",
                                               "0:2:4,0:1:4",
                                               "0:2:4,9223372036854775807:1:4"};
constexpr std::string_view intercept_seeds[] = {"allreduce", "allreduce,iallreduce",
                                                "allreduce_init , reduce_scatter", "allgather",
                                                "reduce_scatter_block,bcast"};
constexpr std::string_view tree_seeds[] = {"0",
                                           "(0)",
                                           "(0-3)",
                                           "((0 1) (2 3 4))",
                                           "((0,1),(2,(3,4)))",
                                           "host:n1(0 1)",
                                           "(1 0)",
                                           "switch:s(host:a(0-1)host:b(2))",
                                           "(((((((((((0)))))))))))",
                                           "(0 0)",
                                           "(0 2)",
                                           "()"};

constexpr Target targets[] = {{"variables and file", option_set, layers_seeds},
                              {"file", config_file, file_seeds},
                              {"value of any setting", setting, value_seeds},
                              {"values with parts", parts, parts_seeds},
                              {"names and keys", names, name_seeds},
                              {"sizes, numbers, switches", byte_sizes, number_seeds},
                              {"filter of names", name_filter, name_filter_seeds},
                              {"filter of calls", call_filter, call_filter_seeds},
                              {"lists by level", level_lists, list_seeds},
                              {"schedule", schedule, schedule_seeds},
                              {"intercepted calls", intercepted, intercept_seeds},
                              {"tree expression", tree_expression, tree_seeds}};

}  // namespace

std::span<const Target> settings_targets() {
    return targets;
}

}  // namespace gradcoll::fuzz
