#include "settings/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "api/interposed/gate.hpp"
#include "collectives/build/builder.hpp"
#include "collectives/exchange/exchange.hpp"
#include "settings/intercept_set.hpp"
#include "topology/text.hpp"
#include "transport/routed/transport.hpp"

namespace gradcoll {
namespace {

TEST(Settings, DefaultsAreExactWithFeedbackOn) {
    const auto settings = Settings::parse(SettingsText::defaults());
    ASSERT_TRUE(settings.ok()) << settings.status().message();
    EXPECT_FALSE(settings->ever_lossy());
    EXPECT_TRUE(settings->feedback);
    EXPECT_EQ(settings->min_bytes, 65536U);
    EXPECT_EQ(settings->check, CheckLevel::off);
    EXPECT_FALSE(settings->chunk_bytes.has_value());
}

TEST(Settings, ChecksAreALevelOrOfSumsOrBoth) {
    const auto read = [](const char* word) {
        SettingsText text = SettingsText::defaults();
        text.set(OptionId::check, word);
        const Settings settings = Settings::parse(text).value();
        return std::pair(settings.check, settings.check_sums);
    };
    EXPECT_EQ(read("off"), std::pair(CheckLevel::off, false));
    EXPECT_EQ(read("local"), std::pair(CheckLevel::local, false));
    EXPECT_EQ(read("collective"), std::pair(CheckLevel::collective, false));
    EXPECT_EQ(read("sum"), std::pair(CheckLevel::off, true));
    EXPECT_EQ(read("local+sum"), std::pair(CheckLevel::local, true));
    EXPECT_EQ(read("collective+sum"), std::pair(CheckLevel::collective, true));
    for (const char* bad : {"sum+local", "off+sum", "sums", "collective,sum", ""})
        EXPECT_NE(check_setting(OptionId::check, bad).message().find("collective+sum"),
                  std::string::npos)
            << bad;
}

TEST(Settings, WhereSurvivorsAgreeNothingIsLearntButWhatIsKeptIsUsed) {
    const auto read = [](const char* tune, const char* fault, const char* reproducible) {
        SettingsText text = SettingsText::defaults();
        text.set(OptionId::tune, tune);
        text.set(OptionId::fault, fault);
        text.set(OptionId::reproducible, reproducible);
        return Settings::parse(text).value().tune;
    };
    EXPECT_EQ(read("online", "report", "off"), Tune::online);
    EXPECT_EQ(read("online", "survive", "off"), Tune::cache);
    EXPECT_EQ(read("cache", "survive", "off"), Tune::cache);
    EXPECT_EQ(read("off", "survive", "off"), Tune::off);
    EXPECT_EQ(read("online", "survive", "on"), Tune::off);
}

TEST(Settings, LevelCodecsRepeatTheLast) {
    SettingsText text = SettingsText::defaults();
    ASSERT_TRUE(text.say(OptionId::codec, "exact, 2:4").ok());
    const auto settings = Settings::parse(text);
    ASSERT_TRUE(settings.ok()) << settings.status().message();
    const Tree tree = tree_from_expression("(((0 1) 2) 3)", 4).value();
    const HopCodecs codecs = settings->codecs();
    EXPECT_EQ(codecs.of(tree, 2), CodecId::exact);
    EXPECT_EQ(codecs.of(tree, 1), CodecId::nm_2_4);
    EXPECT_EQ(codecs.of(tree, 0), CodecId::nm_2_4);
}

TEST(Settings, CodecsMayBeSaidByKindOfLink) {
    SettingsText text = SettingsText::defaults();
    ASSERT_TRUE(text.say(OptionId::codec, "host = exact, switch = 2:4").ok());
    const auto settings = Settings::parse(text);
    ASSERT_TRUE(settings.ok()) << settings.status().message();
    EXPECT_EQ(settings->codecs(), HopCodecs::by_link(CodecId::exact, CodecId::nm_2_4));
    EXPECT_TRUE(settings->compresses(ElementType::f32, 0));
    EXPECT_FALSE(settings->compresses(ElementType::i32, 0));
    const Status unknown = check_setting(OptionId::codec, "numa=2:4");
    EXPECT_NE(unknown.message().find("'numa' is no kind of link"), std::string::npos);
}

std::string refusal(std::initializer_list<std::pair<OptionId, const char*>> said) {
    SettingsText text = SettingsText::defaults();
    for (const auto& [id, value] : said) text.set(id, value);
    return Settings::parse(text).status().message();
}

TEST(Settings, AToleranceNeedsNoCodecAndThenIsForLinksBetweenHosts) {
    SettingsText text = SettingsText::defaults();
    text.set(OptionId::tolerance, "range=1e-4");
    const auto settings = Settings::parse(text);
    ASSERT_TRUE(settings.ok()) << settings.status().message();
    EXPECT_EQ(settings->tolerance, (ResultTolerance{ResultTolerance::Kind::range, 1e-4}));
    EXPECT_EQ(settings->codecs(), HopCodecs::by_link(CodecId::exact, CodecId::bound));
    EXPECT_FALSE(settings->feedback);
}

TEST(Settings, ATolerancesTextIsCheckedWherever) {
    for (const char* bad : {"abs", "abs=", "abs=0", "abs=-1", "abs=nan", "abs=1e-3x", "1e-3",
                            "rel=1e-3", "abs=1e-3,range=1e-3", "range=1e999"})
        EXPECT_FALSE(check_setting(OptionId::tolerance, bad).ok()) << bad;
    EXPECT_NE(check_setting(OptionId::tolerance, "rel=1e-3")
                  .message()
                  .find("'rel=1e-3' is not allowed: per-hop; abs=NUMBER; range=NUMBER"),
              std::string::npos);
}

TEST(Settings, CodecsAndToleranceMustFitTogether) {
    EXPECT_EQ(refusal({{OptionId::codec, "bound"}}),
              "codec \"bound\" needs a tolerance; allowed: bound/abs=NUMBER, or bound with "
              "gc_tolerance");
    EXPECT_EQ(refusal({{OptionId::codec, "bound/abs=1e-3"}}), "");
    EXPECT_EQ(refusal({{OptionId::codec, "bound"}, {OptionId::tolerance, "abs=1e-3"}}), "");
    EXPECT_EQ(refusal({{OptionId::codec, "exact,bound"},
                       {OptionId::down_codec, "exact"},
                       {OptionId::tolerance, "abs=1e-3"}}),
              "");
    EXPECT_EQ(refusal({{OptionId::codec, "0:2:4"}, {OptionId::tolerance, "abs=1e-3"}}),
              "codec \"2:4\" cannot be told to keep gc_tolerance; allowed with it: exact, bound, "
              "int, int8, int4, int16, or no codec");
    EXPECT_NE(refusal({{OptionId::codec, "bound/abs=1e-3"}, {OptionId::tolerance, "abs=1e-3"}}),
              "");
    EXPECT_NE(refusal({{OptionId::down_codec, "bf16"}, {OptionId::tolerance, "abs=1e-3"}}), "");
    EXPECT_NE(refusal({{OptionId::codec, "int8/seed=1"}, {OptionId::tolerance, "abs=1e-3"}}), "");
    EXPECT_EQ(refusal({{OptionId::codec, "int8/abs=call"}}),
              "codec \"int8/abs=call\" needs a tolerance; allowed: int8/abs=NUMBER, or int8 with "
              "gc_tolerance");
}

TEST(Settings, QuantizersWaitForATolerance) {
    SettingsText text = SettingsText::defaults();
    text.set(OptionId::tolerance, "abs=1e-3");
    ASSERT_TRUE(text.say(OptionId::codec, "int8").ok());
    text.set(OptionId::down_codec, "int16");
    EXPECT_EQ(name_of(Settings::parse(text)->codec), "int8/abs=call");
    EXPECT_EQ(name_of(*Settings::parse(text)->down_codec), "int16/abs=call");
    ASSERT_TRUE(text.say(OptionId::codec, "exact,int4").ok());
    EXPECT_EQ(Settings::parse(text)->codecs().text(), "exact,int4/abs=call");
    ASSERT_TRUE(text.say(OptionId::codec, "0:exact,500:int8").ok());
    EXPECT_EQ(name_of(Settings::parse(text)->schedule.codec_at(501)), "int8/abs=call");
}

TEST(Settings, ParametersOfCodecsMayStandInEveryList) {
    SettingsText text = SettingsText::defaults();
    ASSERT_TRUE(text.say(OptionId::codec, "host=exact,switch=bound/abs=1e-3").ok());
    EXPECT_EQ(Settings::parse(text)->codecs().text(), "between=bound/abs=0.001");
    ASSERT_TRUE(text.say(OptionId::codec, "exact,bound/abs=1e-3,bound/abs=2e-3").ok());
    EXPECT_EQ(Settings::parse(text)->codecs().text(), "exact,bound/abs=0.001,bound/abs=0.002");
    ASSERT_TRUE(text.say(OptionId::codec, "0:exact,500:bound/abs=1e-3").ok());
    EXPECT_EQ(name_of(Settings::parse(text)->schedule.codec_at(501)), "bound/abs=0.001");
}

TEST(Settings, TheFormOfACodecSaysWhetherItIsOneSeveralOrASchedule) {
    SettingsText text = SettingsText::defaults();
    const auto parsed = [&](const char* codec) {
        EXPECT_TRUE(text.say(OptionId::codec, codec).ok()) << codec;
        return Settings::parse(text).value();
    };
    EXPECT_EQ(parsed("2:4").codec, CodecId::nm_2_4);
    EXPECT_TRUE(parsed("2:4+int8").schedule.empty());
    EXPECT_EQ(parsed("exact,2:4").codecs(), (HopCodecs{CodecId::exact, CodecId::nm_2_4}));
    EXPECT_EQ(parsed(" 0 : 2:4").schedule.codec_at(0), CodecId::nm_2_4);
    EXPECT_EQ(parsed("0:bf16,7:exact").schedule.codec_at(7), CodecId::exact);
    EXPECT_EQ(parsed("bf16").codecs(), HopCodecs{CodecId::bf16});
    EXPECT_NE(check_setting(OptionId::codec, "5:bf16").message().find("must begin at step 0"),
              std::string::npos);
}

TEST(Settings, CodecsThatDoNotKnowTheTypeDoNotCompressIt) {
    SettingsText text = SettingsText::defaults();
    ASSERT_TRUE(text.say(OptionId::codec, "bf16").ok());
    const auto settings = Settings::parse(text);
    EXPECT_TRUE(settings->compresses(ElementType::f32, 0));
    EXPECT_FALSE(settings->compresses(ElementType::f64, 0));
    EXPECT_FALSE(settings->compresses(ElementType::i32, 0));
}

TEST(Settings, StepsMayBeCountedInCalls) {
    EXPECT_EQ(Settings::parse(SettingsText::defaults())->calls_per_step, 0U);
    SettingsText text = SettingsText::defaults();
    ASSERT_TRUE(text.say(OptionId::codec, "every=calls:161").ok());
    EXPECT_EQ(Settings::parse(text)->calls_per_step, 161U);
    for (const char* bad :
         {"161", "calls:", "calls:-1", "calls:1e3", "steps:4", "calls:2000000000"})
        EXPECT_NE(check_setting(OptionId::step_every, bad).message().find("none, or calls:N"),
                  std::string::npos)
            << bad;
}

TEST(Settings, TransportsAreNamedFromTheTable) {
    EXPECT_TRUE(Settings::parse(SettingsText::defaults())->transports.allows("shm"));
    SettingsText text = SettingsText::defaults();
    text.set(OptionId::transports, "mpi , shm");
    EXPECT_TRUE(Settings::parse(text)->transports.allows("shm"));
    text.set(OptionId::transports, "mpi");
    EXPECT_FALSE(Settings::parse(text)->transports.allows("shm"));
    for (const char* bad : {"shmem", "mpi,", "auto,mpi", "MPI"}) {
        const std::string message = check_setting(OptionId::transports, bad).message();
        for (const Transport* row : transport_table())
            EXPECT_NE(message.find(row->name), std::string::npos) << message;
    }
}

TEST(Settings, NicIsOffOnOrOnDemand) {
    EXPECT_EQ(Settings::parse(SettingsText::defaults())->nic.use, NicUse::off);
    for (const auto& [word, use, sums] : {std::tuple{"off", NicUse::off, false},
                                          {"on", NicUse::on, false},
                                          {"auto", NicUse::on_demand, false},
                                          {"on+sum", NicUse::on, true},
                                          {"auto+sum", NicUse::on_demand, true}}) {
        SettingsText text = SettingsText::defaults();
        text.set(OptionId::nic, word);
        EXPECT_EQ(Settings::parse(text)->nic.use, use) << word;
        EXPECT_EQ(Settings::parse(text)->nic.sums, sums) << word;
    }
    EXPECT_NE(check_setting(OptionId::nic, "yes").message().find("off, on, auto"),
              std::string::npos);
}

TEST(Settings, BuilderAndExchangesAreThoseOfTheTables) {
    EXPECT_EQ(Settings::parse(SettingsText::defaults())->builder, Builder::flexreduce);
    for (const BuilderRow* row : builder_table()) {
        SettingsText text = SettingsText::defaults();
        ASSERT_TRUE(text.say(OptionId::builder, row->name).ok());
        EXPECT_EQ(Settings::parse(text)->builder, row->number);
        EXPECT_NE(check_setting(OptionId::builder, "nobody").message().find(row->name),
                  std::string::npos);
    }
    for (const ExchangeRow* row : exchange_table()) {
        EXPECT_TRUE(check_setting(OptionId::exchange, row->name).ok()) << row->name;
        EXPECT_NE(check_setting(OptionId::exchange, "nobody").message().find(row->name),
                  std::string::npos);
    }
}

TEST(Settings, EveryBadValueNamesItsKey) {
    const std::pair<OptionId, const char*> bad[] = {
        {OptionId::codec, "5:4"},           {OptionId::codec, "exact,,2:4"},
        {OptionId::down_codec, "x"},        {OptionId::compress_bytes, "-1"},
        {OptionId::tree_min_bytes, "1X"},   {OptionId::exchange, "star"},
        {OptionId::chunk_bytes, "small"},   {OptionId::chunks_in_flight, "17"},
        {OptionId::codec, "3:2:4"},         {OptionId::feedback, "maybe"},
        {OptionId::check, "always"},        {OptionId::compress_bytes, "2M-1M"},
        {OptionId::shm_bytes, "1K"},        {OptionId::compress_if, "maybe"},
        {OptionId::compress_comms, "a,,b"}, {OptionId::step_every, "calls:0"},
        {OptionId::compress_calls, "3/2"},  {OptionId::transports, "mpi,carrier_pigeon"},
        {OptionId::builder, "nobody"},      {OptionId::device_min_bytes, "1X"}};
    for (const auto& [id, value] : bad) {
        SettingsText text = SettingsText::defaults();
        text.set(id, value);
        const auto settings = Settings::parse(text);
        ASSERT_FALSE(settings.ok()) << value;
        const OptionInfo& info = info_of(id);
        const std::string_view name = info.info_key.empty() ? info.variable : info.info_key;
        EXPECT_NE(settings.status().message().find(name), std::string::npos)
            << settings.status().message();
    }
}

TEST(Settings, CompressionHasLimitsAndFiltersThatAllowAllUntilTheyAreSet) {
    const auto standard = Settings::parse(SettingsText::defaults());
    EXPECT_FALSE(standard->max_bytes.has_value());
    EXPECT_TRUE(standard->compress_comms.allows("MPI_COMM_WORLD"));
    EXPECT_TRUE(standard->compress_calls.allows(0));
    SettingsText text = SettingsText::defaults();
    ASSERT_TRUE(text.say(OptionId::compress_bytes, "1M-1G").ok());
    ASSERT_TRUE(text.say(OptionId::compress_comms, "ddp*").ok());
    ASSERT_TRUE(text.say(OptionId::compress_calls, "10-").ok());
    const auto settings = Settings::parse(text);
    ASSERT_TRUE(settings.ok()) << settings.status().message();
    EXPECT_EQ(settings->min_bytes, std::uint64_t{1} << 20);
    EXPECT_EQ(settings->max_bytes, std::uint64_t{1} << 30);
    EXPECT_FALSE(settings->compress_comms.allows("MPI_COMM_WORLD"));
    EXPECT_FALSE(settings->compress_calls.allows(9));
}

TEST(CheckSetting, KnowsEveryDefaultAndABadValueOfEverySettingThatHasOne) {
    for (const OptionInfo& row : option_table())
        EXPECT_TRUE(row.default_value.empty() || check_setting(row.id, row.default_value).ok())
            << row.variable;
    constexpr OptionId free_text[] = {
        OptionId::config_file, OptionId::engine_plan, OptionId::engine_plan_to, OptionId::nic_dir,
        OptionId::report_file, OptionId::trace,       OptionId::tuning_file};
    for (const OptionInfo& row : option_table()) {
        const bool free =
            std::find(std::begin(free_text), std::end(free_text), row.id) != std::end(free_text);
        EXPECT_EQ(check_setting(row.id, "no, such\nthing,,").ok(), free) << row.variable;
    }
}

TEST(CheckSetting, TreesAreReadAsFarAsTheTextTells) {
    for (const char* good : {"flat", "((0 1) (2-4))", "json:nowhere.json", "hosts:x", "0"})
        EXPECT_TRUE(check_setting(OptionId::topology, good).ok()) << good;
    for (const char* bad : {"((0 1)", "(0 0)", "(1 2)", "json:", "flatt", "()"})
        EXPECT_FALSE(check_setting(OptionId::topology, bad).ok()) << bad;
}

TEST(InterceptSet, HoldsTheNamedCallsAndStartsWithPersistentOnes) {
    const auto set = InterceptSet::parse("allreduce, allgather");
    ASSERT_TRUE(set.ok()) << set.status().message();
    EXPECT_TRUE(set->has(GC_CALL_ALLREDUCE));
    EXPECT_TRUE(set->has(GC_CALL_ALLGATHER));
    EXPECT_FALSE(set->has(GC_CALL_IALLREDUCE));
    EXPECT_FALSE(set->has(GC_CALL_START));
    EXPECT_TRUE(set->gathers_over_tree());
    const auto on_host = InterceptSet::parse("allgather_one_host,bcast");
    EXPECT_TRUE(on_host->has(GC_CALL_ALLGATHER));
    EXPECT_TRUE(on_host->has(GC_CALL_BCAST));
    EXPECT_FALSE(on_host->has(GC_CALL_BARRIER));
    EXPECT_FALSE(on_host->gathers_over_tree());
    EXPECT_TRUE(InterceptSet::parse("allreduce_init")->has(GC_CALL_START));
    const auto all = InterceptSet::parse(
        "allreduce,iallreduce,allreduce_init,reduce_scatter_block,reduce_scatter,allgather,"
        "barrier,bcast,reduce");
    for (int call = 0; call < GC_CALL_SUBMITTED; ++call)
        EXPECT_TRUE(all->has(static_cast<GC_Call_kind>(call))) << call;
    EXPECT_NE(InterceptSet::parse("allreduce,gather").status().message().find("'gather'"),
              std::string::npos);
}

TEST(SettingsOfProcess, LeaveOutWhatIsNotAllowedAndSayWhere) {
    const auto run = [] {
        setenv("GC_CODEC", "9:4", 1);
        setenv("GC_COMPRESS_CALLS", "5-4", 1);
        setenv("GC_LOG", "info", 1);
        setenv("GC_ENABLE", "perhaps", 1);
        const SettingsText text = SettingsText::from_environment();
        warn_about_settings();
        warn_about_settings();
        std::exit(Settings::parse(text).ok() && text[OptionId::codec] == "exact" &&
                          options_of_process().source(OptionId::log) == OptionSource::environment &&
                          interposer_enabled() && intercepted_calls().has(GC_CALL_ALLREDUCE)
                      ? 0
                      : 1);
    };
    EXPECT_EXIT(run(), testing::ExitedWithCode(0),
                "^gradcoll warn: environment: GC_ENABLE=perhaps is not allowed: on, off; ignored, "
                "on .default. holds\n"
                "gradcoll warn: environment: GC_CODEC=9:4: codec \"9:4\" is unknown; [^\n]*; "
                "ignored, exact .default. holds\n"
                "gradcoll warn: environment: GC_COMPRESS_CALLS=5-4: entry '5-4': it ends before it "
                "begins; [^\n]*; ignored, all .default. holds\n$");
}

TEST(Settings, AValueSetsThePartsThatItNamesAndIsReadBackWithAllThatAreNoDefaults) {
    SettingsText text = SettingsText::defaults();
    ASSERT_TRUE(text.say(OptionId::engine_strategy, "ring,bytes=8M").ok());
    ASSERT_TRUE(text.say(OptionId::engine_strategy, "threads=2,bytes=1M").ok());
    EXPECT_EQ(text.said(OptionId::engine_strategy), "ring,threads=2");
    EXPECT_EQ(Settings::parse(text)->engine.threads, 2);
    EXPECT_FALSE(text.say(OptionId::engine_strategy, "thread=2").ok());
    text.set(OptionId::engine_threads, "65");
    EXPECT_NE(Settings::parse(text).status().message().find("setting gc_engine=threads: "),
              std::string::npos);
}

TEST(Settings, PartsOfTheProcessAreNotForCommunicators) {
    SettingsText text = SettingsText::defaults();
    EXPECT_NE(text.say(OptionId::shm_bytes, "1M,process=8M").message().find("'process=' holds for"),
              std::string::npos);
    EXPECT_EQ(text[OptionId::shm_bytes], "2M");
    text.set(OptionId::shm_process_bytes, "8M");
    EXPECT_EQ(text.said(OptionId::shm_bytes), "2M") << "what say() takes";
}

TEST(Settings, UnknownKeysNameTheNearest) {
    EXPECT_TRUE(option_of_key("gc_codec").ok());
    EXPECT_NE(option_of_key("gc_codek").status().message().find("gc_codec"), std::string::npos);
    EXPECT_NE(option_of_key("gc_engine_threads")
                  .status()
                  .message()
                  .find("did you mean gc_engine=threads=...?"),
              std::string::npos);
    EXPECT_FALSE(option_of_key("gc_engine=threads").ok());
    EXPECT_FALSE(option_of_key("").ok());
}

}  // namespace
}  // namespace gradcoll
