// Tests of the mapping from YAML to structures: defaults, positions of errors, conditions, secrets and the generated
// reference.
#include "proxy/yaml/yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::config {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

enum class Shape { round, square };
constexpr Choice<Shape> shapes[] = {{"round", Shape::round, "like a ball"}, {"square", Shape::square, "like a box"}};

struct Wheel {
  double size = 1;
  std::vector<int> bolts;
  bool operator==(const Wheel&) const = default;
};
void describe(Section& s, Wheel& wheel) {
  s.required().quantity("size", wheel.size, "m", {0, 10}, "diameter");
  s.list("bolts", wheel.bolts, {0, 4}, {1, 20}, "their diameters in mm");
}

struct Engine {
  Duration stroke = 20ms;
  Bytes fuel{64 * 1024};
  bool operator==(const Engine&) const = default;
};
void describe(Section& s, Engine& engine) {
  s.value("stroke", engine.stroke, {1ms, 1s}, "how long a stroke takes");
  s.value("fuel", engine.fuel, "what is in the tank");
  s.check(engine.fuel.count() >= 2 * engine.stroke / 1ms, "fuel", "at least 2 B per ms of stroke",
          Scalar<Bytes>::format(engine.fuel));
}

struct Car {
  std::string name = "unnamed";
  Shape shape = Shape::round;
  std::uint16_t doors = 4;
  std::optional<Rate> speed;
  std::string key = "s3cret";
  Engine engine;
  std::vector<Wheel> wheels;
  std::optional<Engine> spare;
  double edge = 2;
  bool operator==(const Car&) const = default;
};
void describe(Section& s, Car& car) {
  s.value("name", car.name, "what it is called");
  s.choice("shape", car.shape, shapes, "its body");
  s.value("doors", car.doors, {1, 9}, "how many");
  s.value("speed", car.speed, "top speed");
  s.secret().value("key", car.key, "what opens it");
  s.section("engine", car.engine, "what drives it");
  s.sections("wheels", car.wheels, {0, 4}, "one by one");
  s.section("spare", car.spare, "a second engine");
  s.when(car.shape == Shape::square, "shape is square", [&] {
    s.quantity("edge", car.edge, "m", {1, 5}, "length of the body's edge");
  });
}

std::vector<std::string> errors_of(std::string_view text) {
  std::vector<std::string> lines;
  for (const Error& error : parse<Car>(text, "car.yaml").errors) lines.push_back(error.to_string());
  return lines;
}

TEST(Yaml, AFileWithoutKeysGivesTheDefaults) {
  const auto car = parse<Car>("", "car.yaml");
  ASSERT_TRUE(car);
  EXPECT_EQ(car->doors, 4);
  EXPECT_EQ(car->engine.stroke, 20ms);
}

TEST(Yaml, ReadsEveryKindOfValue) {
  const auto car = parse<Car>(R"(
name: "my car"
shape: square
edge: 3m
doors: 2
speed: 10Mb/s
engine: { stroke: 5ms, fuel: 1MiB }
wheels:
  - size: 2m
    bolts: [1, 2, 3]
  - { size: 0.5 m }
spare:
  fuel: 4KiB
)",
                              "car.yaml");
  ASSERT_TRUE(car) << to_string(car.errors);
  EXPECT_EQ(car->name, "my car");
  EXPECT_EQ(car->shape, Shape::square);
  EXPECT_EQ(car->edge, 3);
  EXPECT_EQ(car->doors, 2);
  EXPECT_EQ(car->speed, Rate::bits_per_second(10e6));
  EXPECT_EQ(car->engine, (Engine{5ms, Bytes(1 << 20)}));
  ASSERT_EQ(car->wheels.size(), 2U);
  EXPECT_THAT(car->wheels[0].bolts, ElementsAre(1, 2, 3));
  EXPECT_EQ(car->wheels[1].size, 0.5);
  ASSERT_TRUE(car->spare);
  EXPECT_EQ(car->spare->fuel, Bytes(4096));
}

struct Fleet {
  std::vector<Engine> engines;
  Wheel wheel;
};
void describe(Section& s, Fleet& fleet) {
  s.sections("engines", fleet.engines, {0, 4}, "theirs");
  s.section("wheel", fleet.wheel, "a spare one");
  for (std::size_t i = 1; i < fleet.engines.size(); ++i) {
    const std::string stroke = "engines[" + std::to_string(i) + "].stroke";
    s.check(fleet.engines[i].stroke == fleet.engines[0].stroke, stroke, "that of the first", "another");
  }
  s.check(fleet.wheel.size < 5, "wheel.size", "less than 5m", "more");
  s.check(!fleet.engines.empty(), "engines[7].stroke", "an engine", "none");
}

TEST(Yaml, ARuleAcrossKeysMayPointIntoAList) {
  const auto errors = [](std::string_view text) { return to_string(parse<Fleet>(text, "f.yaml").errors); };
  EXPECT_THAT(errors("wheel: {size: 1m}\nengines:\n  - stroke: 5ms\n  - fuel: 1MiB\n    stroke: 6ms\n"),
              HasSubstr("f.yaml:5:5: engines[1].stroke, expected that of the first"));
  EXPECT_THAT(errors("wheel: {size: 1m}\nengines:\n  - stroke: 5ms\n  - fuel: 1MiB\n"),
              HasSubstr("f.yaml:4:5: engines[1].stroke, expected"))
      << "the element, where it has no such key";
  EXPECT_THAT(errors("engines: [{}]\nwheel: {size: 6m}\n"), HasSubstr("f.yaml:2:9: wheel.size, expected less than 5m"));
  EXPECT_THAT(errors("wheel: {size: 1m}\nengines: []\n"),
              HasSubstr("f.yaml:2:1: engines[7].stroke, expected an engine"));
}

TEST(Yaml, AMalformedValueIsReportedAtItsPosition) {
  EXPECT_THAT(errors_of("doors: many\n"),
              ElementsAre("car.yaml:1:8: doors, expected a whole number, 1 … 9, got \"many\""));
  EXPECT_THAT(errors_of("name: x\ndoors: 10\n"),
              ElementsAre("car.yaml:2:8: doors, expected a whole number, 1 … 9, got \"10\""));
  EXPECT_THAT(errors_of("engine:\n  stroke: 2s\n"),
              ElementsAre("car.yaml:2:11: engine.stroke, expected a duration such as 20ms (ns, us, ms, s, min, h), "
                          "1ms … 1s, got \"2s\""));
  EXPECT_THAT(errors_of("shape: oval\n"),
              ElementsAre("car.yaml:1:8: shape, expected one of round, square, got \"oval\""));
  EXPECT_THAT(errors_of("doors: [1]\n"),
              ElementsAre("car.yaml:1:8: doors, expected a whole number, 1 … 9, got a list"));
  EXPECT_THAT(errors_of("doors:\nname: x\n"),
              ElementsAre("car.yaml:1:1: doors, expected a whole number, 1 … 9, got nothing"));
  EXPECT_THAT(errors_of("engine: fast\n"), ElementsAre("car.yaml:1:9: engine, expected a map, got \"fast\""));
  EXPECT_THAT(errors_of("wheels: 4\n"), ElementsAre("car.yaml:1:9: wheels, expected a list, got \"4\""));
  EXPECT_THAT(errors_of("- a\n"), ElementsAre("car.yaml:1:1: the file, expected a map of keys and values, got a list"));
}

TEST(Yaml, ElementsOfListsAreNumbered) {
  EXPECT_THAT(errors_of("wheels:\n  - size: 1m\n  - size: 1m\n    bolts: [1, 99]\n"),
              ElementsAre("car.yaml:4:16: wheels[1].bolts[1], expected a whole number, 1 … 20, got \"99\""));
  EXPECT_THAT(errors_of("wheels:\n  - size: 1m\n    bolts: [1, 2, 3, 4, 5]\n"),
              ElementsAre("car.yaml:3:12: wheels[0].bolts, expected 0 to 4 elements, got 5"));
}

TEST(Yaml, UnknownKeysAreRefusedWithASuggestion) {
  EXPECT_THAT(errors_of("door: 2\n"), ElementsAre("car.yaml:1:1: unknown key 'door', expected 'doors'"));
  EXPECT_THAT(errors_of("engine:\n  strok: 2ms\n"),
              ElementsAre("car.yaml:2:3: unknown key 'engine.strok', expected 'stroke'"));
  EXPECT_THAT(errors_of("engine:\n  qqqqqqq: 2ms\n"),
              ElementsAre("car.yaml:2:3: unknown key 'engine.qqqqqqq', expected one of stroke, fuel"));
}

TEST(Yaml, MissingKeysAreReportedAtTheirMap) {
  EXPECT_THAT(errors_of("wheels:\n  - bolts: [1]\n"),
              ElementsAre("car.yaml:2:5: missing key 'wheels[0].size', expected diameter"));
}

TEST(Yaml, KeysThatDoNotApplyAreRefused) {
  EXPECT_THAT(errors_of("edge: 2m\n"), ElementsAre("car.yaml:1:1: edge, expected this key only when shape is square"));
}

TEST(Yaml, RulesAcrossKeysAreReportedAtTheKey) {
  EXPECT_THAT(errors_of("engine:\n  stroke: 10ms\n  fuel: 19B\n"),
              ElementsAre("car.yaml:3:3: engine.fuel, expected at least 2 B per ms of stroke, got 19B"));
  EXPECT_THAT(errors_of("engine:\n  stroke: wrong\n  fuel: 19B\n").size(), 1U) << "no rule on keys that were not read";
}

TEST(Yaml, AllErrorsOfAFileAreReportedInItsOrder) {
  const auto errors =
      errors_of("colour: red\ndoors: 0\nengine:\n  fuel: 3\nwheels:\n  - size: 11m\nname: x\nname: y\n");
  EXPECT_THAT(errors, ElementsAre(HasSubstr("car.yaml:1:1: unknown key 'colour'"), HasSubstr("car.yaml:2:8: doors"),
                                  HasSubstr("car.yaml:4:9: engine.fuel"), HasSubstr("car.yaml:6:11: wheels[0].size"),
                                  HasSubstr("car.yaml:8:1: duplicate key 'name'")));
}

TEST(Yaml, PrintedValuesAreReadBackEqual) {
  Car car;
  car.name = R"(a "quoted" \ name: # yes)";
  car.shape = Shape::square;
  car.edge = 2.25;
  car.speed = Rate::bits_per_second(1234567);
  car.engine.stroke = 1234us;
  car.wheels = {{2, {1, 2}}, {3.5, {}}};
  car.spare = Engine{7ms, Bytes(99)};
  const std::string text = print(car, Secrets::show);
  const auto again = parse<Car>(text, "printed");
  ASSERT_TRUE(again) << to_string(again.errors) << text;
  EXPECT_EQ(print(*again, Secrets::show), text);
  EXPECT_EQ(again->name, car.name);
  EXPECT_EQ(again->speed, car.speed);
  EXPECT_EQ(again->engine, car.engine);
  EXPECT_EQ(again->wheels, car.wheels);
  EXPECT_EQ(again->spare, car.spare);
}

TEST(Yaml, SecretsAreHidden) {
  EXPECT_THAT(print(Car{}), Not(HasSubstr("s3cret")));
  EXPECT_THAT(print(Car{}, Secrets::show), HasSubstr("s3cret"));
}

TEST(Yaml, TheReferenceNamesEveryKeyWithRangeDefaultAndCondition) {
  const std::string text = reference<Car>();
  EXPECT_THAT(text, HasSubstr("| `doors` | whole number | 1 … 9 | `4` | how many |"));
  EXPECT_THAT(text,
              HasSubstr("| `shape` | word |  | `round` | its body (`round`: like a ball; `square`: like a box) |"));
  EXPECT_THAT(
      text,
      HasSubstr("| `edge` | number in m | 1m … 5m | `2m` | length of the body's edge. Only when shape is square |"));
  EXPECT_THAT(text, HasSubstr("## `wheels[]`"));
  EXPECT_THAT(text, HasSubstr("| `size` | number in m | 0m … 10m | required | diameter |"));
  EXPECT_THAT(text, HasSubstr("## `engine`"));
}

}  // namespace
}  // namespace sluice::config
