// info/options.cpp - the command line.
#include "options.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/text.hpp"
#include "command_line/forms.hpp"
#include "command_line/option_parser.hpp"

namespace gradcoll::info {
namespace {

constexpr int most_ranks = 1 << 20;
constexpr std::uint64_t most_elements = std::uint64_t{1} << 53;

constexpr const char* examples = R"help(Examples:
  gradcoll info                                          what this library is and can do
  gradcoll info --settings                               every setting, its value and where it came from
  gradcoll info --settings 'GC_*BYTES'                   some of them
  mpirun -n 4 gradcoll info --topology                   the tree that these four ranks get
  gradcoll info --topology --ranks 8                     the tree that eight ranks would get on this host
  gradcoll info --topology dot | dot -Tsvg > tree.svg    a picture of it, by Graphviz
  gradcoll info --topology --plan 16M --ranks 8          who owns what in an allreduce of 16 Mi floats, and
                                                         what every link carries
  gradcoll info --explain 64MiB float sum --ranks 4      what MPI_Allreduce of that would do, and why
  gradcoll info --explain 1M half sum --codec 2:4 --json

Types and ops are those of MPI, with or without MPI_, in any case; half and bfloat16 are GC_FLOAT16 and
GC_BFLOAT16. A topology other than that of the machine: GC_TOPOLOGY="((0 1) (2 3 4))" gradcoll info --topology
)help";

/// Raw holds the options as typed.
struct Raw {
    std::string pattern;
    std::string format;        ///< behind --topology
    std::string named_format;  ///< behind --format
    std::string count;
    std::string type;
    std::vector<std::string> call;
};

void declare_drawing(OptionParser& app, OptionParser::Option* topology, Options& options,
                     Raw& raw) {
    app.add_option("--format", raw.named_format, "the same as FORM behind --topology")
        ->needs(topology)
        ->type_name("FORM");
    auto* plan = app.add_option("--plan", raw.count,
                                "with --topology: the plan of an allreduce of COUNT elements "
                                "(K, M, G: times 2^10, 2^20, 2^30) on the tree: text, json or dot");
    plan->needs(topology)->type_name("COUNT");
    app.add_option("--type", raw.type, "with --plan: of the elements (default: float)")
        ->needs(plan)
        ->type_name("TYPE");
    app.add_option("-o,--output", options.output_file, "write into a file")->type_name("FILE");
}

void declare(OptionParser& app, Options& options, Raw& raw) {
    auto* settings = app.add_option("--settings", raw.pattern,
                                    "settings by name; * and ? stand for letters (default: all)");
    settings->expected(0, 1)->type_name("[NAME]");
    auto* topology = app.add_option("--topology", raw.format,
                                    "the tree: text, json, dot (for Graphviz) or expression");
    topology->expected(0, 1)->type_name("[FORM]");
    auto* explain = app.add_option("--explain", raw.call, "the route and plan of an allreduce");
    explain->expected(3)->type_name("SIZE TYPE OP");
    settings->excludes(topology)->excludes(explain);
    topology->excludes(explain);
    app.add_option(
           "--ranks", options.ranks,
           "with --topology and --explain: so many ranks on this host, which need not be there")
        ->in_range(1, most_ranks)
        ->type_name("N");
    app.add_option("--codec", options.codec, "with --explain and --plan: instead of GC_CODEC")
        ->type_name("CODEC");
    declare_drawing(app, topology, options, raw);
    app.add_flag("--json", options.json, "write JSON");
    app.footer(examples);
}

constexpr gradcoll::Forms<GC_Tree_format, 4> tree_forms = {{{"text", GC_TREE_TEXT},
                                                            {"json", GC_TREE_JSON},
                                                            {"dot", GC_TREE_DOT},
                                                            {"expression", GC_TREE_EXPRESSION}}};
constexpr gradcoll::Forms<GC_Plan_format, 3> plan_forms = {
    {{"text", GC_PLAN_TEXT}, {"json", GC_PLAN_JSON}, {"dot", GC_PLAN_DOT}}};

/// Reads the form, which was given in one of three ways.
Problem read_format(const OptionParser& app, const Raw& raw, Options& options) {
    const bool named = app.count("--format") > 0;
    const std::string option = named ? "--format" : "--topology";
    std::string form = named ? raw.named_format : raw.format;
    if (named && !raw.format.empty() && raw.format != form)
        return fmt::format("--format {}: --topology {} is another form; leave one of them out",
                           gradcoll::printable(form), gradcoll::printable(raw.format));
    if (options.json && !form.empty() && form != "json" && form != "text")
        return fmt::format("--json: {} {} is another form; leave one of them out", option,
                           gradcoll::printable(form));
    if (options.json) form = "json";
    if (form.empty()) form = "text";
    return options.plan ? gradcoll::find_form(option, form, plan_forms, options.plan_format)
                        : gradcoll::find_form(option, form, tree_forms, options.tree_format);
}

/// Returns a text such as "; did you mean float?".
template <class Rows>
std::string hint(const std::string& word, const Rows& rows) {
    std::vector<std::string_view> known;
    for (const auto& row : rows) known.push_back(row.name);
    const auto nearest = gradcoll::nearest_word(plain_name(word), known);
    return nearest ? fmt::format("; did you mean {}?", *nearest) : std::string();
}

template <class Rows>
std::string names_of(const Rows& rows) {
    std::string text;
    for (const auto& row : rows) text += fmt::format("{}{}", text.empty() ? "" : ", ", row.name);
    return text;
}

Problem read_type(const std::string& option, const std::string& name, Options& options) {
    options.type = find_type(name);
    if (options.type != nullptr) return std::nullopt;
    return fmt::format("{} {} is not known{}; allowed are {}", option, gradcoll::printable(name),
                       hint(name, type_names()), names_of(type_names()));
}

Problem read_call(const Raw& raw, Options& options) {
    const auto size = gradcoll::parse_bytes(raw.call[0]);
    if (!size.ok()) return fmt::format("--explain: SIZE: {}", size.status().message());
    options.size_bytes = *size;
    if (const auto problem = read_type("--explain: TYPE", raw.call[1], options)) return problem;
    options.op = find_op(raw.call[2]);
    if (options.op == nullptr)
        return fmt::format("--explain: OP {} is not known{}; allowed are {}",
                           gradcoll::printable(raw.call[2]), hint(raw.call[2], op_names()),
                           names_of(op_names()));
    if (options.size_bytes % options.type->bytes != 0)
        return fmt::format("--explain: SIZE {} is no whole number of {}, which has {} bytes",
                           gradcoll::printable(raw.call[0]), options.type->name,
                           options.type->bytes);
    return std::nullopt;
}

Problem read_plan(const Raw& raw, Options& options) {
    options.op = find_op("sum");
    if (const auto problem = read_type("--type", raw.type.empty() ? "float" : raw.type, options))
        return problem;
    const auto count = gradcoll::parse_bytes(raw.count);
    if (!count.ok() || *count > most_elements)
        return fmt::format("--plan {}: allowed are 0 to {} elements, with K, M or G",
                           gradcoll::printable(raw.count), most_elements);
    options.plan_count = *count;
    return std::nullopt;
}

Problem read(const OptionParser& app, Raw& raw, Options& options) {
    if (app.count("--settings") > 0) options.mode = Mode::settings;
    if (app.count("--topology") > 0) options.mode = Mode::topology;
    if (app.count("--explain") > 0) options.mode = Mode::explain;
    // The parser leaves an option without a value empty.
    if (!raw.pattern.empty()) options.pattern = raw.pattern;
    const bool has_ranks = options.mode == Mode::topology || options.mode == Mode::explain;
    if (options.ranks > 0 && !has_ranks)
        return fmt::format("--ranks {}: goes with --topology or --explain", options.ranks);
    options.plan = app.count("--plan") > 0;
    if (!options.codec.empty() && options.mode != Mode::explain && !options.plan)
        return fmt::format("--codec {}: goes with --explain or --plan",
                           gradcoll::printable(options.codec));
    if (options.plan)
        if (const auto problem = read_plan(raw, options)) return problem;
    if (options.mode == Mode::topology) return read_format(app, raw, options);
    if (options.mode == Mode::explain) return read_call(raw, options);
    return std::nullopt;
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
    OptionParser app("What Gradcoll is, can do, is set to, and would do with a call, and why.",
                     "gradcoll info");
    CommandLine line;
    Raw raw;
    declare(app, line.options, raw);
    app.parse_into(line, argc, argv, [&] { return read(app, raw, line.options); });
    return line;
}

}  // namespace gradcoll::info
