// command_line/option_parser.cpp - see option_parser.hpp.
#include "command_line/option_parser.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>

#include "base/build_facts.hpp"

namespace gradcoll {
namespace {

/// Makes one line of the parser's text.
std::string one_line(std::string text) {
    for (char& c : text)
        if (c == '\n') c = ' ';
    while (text.ends_with(' ')) text.pop_back();
    return text;
}

/// Makes a check of our own, since CLI11's checks name the largest double, in 309 digits.
CLI::Validator number_that(bool (*is_right)(double), const char* wanted, const char* in_help) {
    const auto problem_of = [is_right, wanted](const std::string& text) {
        double number = 0;
        const bool right = CLI::detail::lexical_cast(text, number) && is_right(number);
        return right ? std::string() : fmt::format("{} must be {}", text, wanted);
    };
    return {problem_of, in_help};
}

}  // namespace

std::string version_text(const std::string& name) {
    const std::string revision = build_facts::revision;
    return fmt::format("{} of Gradcoll {}{}{}\n", name, build_facts::version,
                       revision.empty() ? "" : ", source ", revision);
}

using Option = OptionParser::Option;

Option* Option::type_name(const std::string& name) {
    option_.type_name(name);
    return this;
}
Option* Option::capture_default_str() {
    option_.capture_default_str();
    return this;
}
Option* Option::required() {
    option_.required();
    return this;
}
Option* Option::needs(const Option* other) {
    option_.needs(&other->option_);
    return this;
}
Option* Option::needs(const char* name) {
    option_.needs(std::string(name));
    return this;
}
Option* Option::excludes(const Option* other) {
    option_.excludes(&other->option_);
    return this;
}
Option* Option::excludes(const char* name) {
    option_.excludes(std::string(name));
    return this;
}
Option* Option::expected(int count) {
    option_.expected(count);
    return this;
}
Option* Option::expected(int least, int most) {
    option_.expected(least, most);
    return this;
}
Option* Option::delimiter(char between) {
    option_.delimiter(between);
    return this;
}
Option* Option::allow_extra_args(bool allowed) {
    option_.allow_extra_args(allowed);
    return this;
}

template <class Number>
Option* Option::in_range(Number least, Number most) {
    option_.check(CLI::Range(least, most));
    return this;
}
template Option* Option::in_range(int, int);
template Option* Option::in_range(std::int64_t, std::int64_t);
template Option* Option::in_range(std::uint64_t, std::uint64_t);
template Option* Option::in_range(double, double);

Option* Option::positive() {
    option_.check(
        number_that([](double number) { return number > 0; }, "a number above 0", "POSITIVE"));
    return this;
}
Option* Option::not_negative() {
    option_.check(number_that([](double number) { return number >= 0; }, "a number of 0 or more",
                              "NONNEGATIVE"));
    return this;
}
Option* Option::one_of(const std::vector<std::string>& allowed) {
    option_.check(CLI::IsMember(allowed));
    return this;
}
Option* Option::existing_file() {
    option_.check(CLI::ExistingFile);
    return this;
}
Option* Option::size_in_bytes() {
    option_.transform(CLI::AsSizeValue(false).description(""));
    return this;
}
Option* Option::check(const std::function<std::string(const std::string&)>& problem_of) {
    option_.check(problem_of);
    return this;
}

OptionParser::OptionParser(const std::string& description, const std::string& name)
    : app_(std::make_unique<CLI::App>(description, name)) {
    app_->set_version_flag("--version", [name] { return version_text(name); });
}
OptionParser::~OptionParser() = default;

Option* OptionParser::own(CLI::Option* option) {
    return &options_.emplace_back(*option);
}

template <class Value>
Option* OptionParser::add_option(const std::string& names, Value& value, const std::string& help) {
    return own(app_->add_option(names, value, help));
}
template Option* OptionParser::add_option(const std::string&, std::string&, const std::string&);
template Option* OptionParser::add_option(const std::string&, int&, const std::string&);
template Option* OptionParser::add_option(const std::string&, unsigned&, const std::string&);
template Option* OptionParser::add_option(const std::string&, std::uint16_t&, const std::string&);
template Option* OptionParser::add_option(const std::string&, std::int64_t&, const std::string&);
template Option* OptionParser::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option* OptionParser::add_option(const std::string&, double&, const std::string&);
template Option* OptionParser::add_option(const std::string&, std::vector<std::string>&,
                                          const std::string&);
template Option* OptionParser::add_option(const std::string&, std::vector<std::int64_t>&,
                                          const std::string&);
template Option* OptionParser::add_option(const std::string&, std::vector<double>&,
                                          const std::string&);

Option* OptionParser::add_flag(const std::string& names, bool& value, const std::string& help) {
    return own(app_->add_flag(names, value, help));
}

void OptionParser::footer(const std::string& text) {
    app_->footer(text);
}

std::size_t OptionParser::count(const std::string& name) const {
    return app_->count(name);
}

Ending OptionParser::ending_of(int argc, const char* const* argv,
                               const std::function<Problem()>& look) {
    const std::string name = app_->get_name();
    try {
        app_->parse(argc, argv);
        if (const Problem problem = look())
            return {false, usage_error, fmt::format("{}: {}\n", name, *problem)};
    } catch (const CLI::CallForHelp&) {
        return {false, 0, app_->help()};
    } catch (const CLI::CallForVersion& version) {
        return {false, 0, version.what()};
    } catch (const CLI::ParseError& error) {
        return {false, usage_error,
                fmt::format("{}: {}; {} --help shows how it is used\n", name,
                            one_line(error.what()), name)};
    }
    return {};
}

void OptionParser::parse_into(Ending& line, int argc, const char* const* argv,
                              const std::function<Problem()>& look) {
    line = ending_of(argc, argv, look);
}

std::optional<int> OptionParser::exit_status(int argc, const char* const* argv,
                                             const std::function<Problem()>& look) {
    const Ending ending = ending_of(argc, argv, look);
    if (ending.run) return std::nullopt;
    print(ending);
    return ending.exit_status;
}

}  // namespace gradcoll
