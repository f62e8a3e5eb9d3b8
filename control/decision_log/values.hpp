#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Lists the names of an enumeration's values in a decision log, in the order of the values.
template <typename Enum>
struct EnumWords;

/// Refers to an amount of bytes that is written to a decision log as a number, or as "unlimited" if it is Bytes::max().
template <typename Amount>
struct OrUnlimited {
  Amount& amount;
};
template <typename Amount>
OrUnlimited(Amount&) -> OrUnlimited<Amount>;

/// Refers to a time that is written to a decision log as a number of nanoseconds, or as "never" if it is `never`.
template <typename When>
struct OrNever {
  When& when;
};
template <typename When>
OrNever(When&) -> OrNever<When>;

template <typename T, template <typename> typename Wrapper>
inline constexpr bool is_wrapped = false;
template <typename T, template <typename> typename Wrapper>
inline constexpr bool is_wrapped<Wrapper<T>, Wrapper> = true;

/// Smallest and largest valid value of a number that is read from a decision log.
struct Between {
  double least;
  double most;
};

/// True if the class has a static function `fields`, which lists its members for writing and for reading.
/// fields(object, visit) calls visit(name, value) for each member. If only some numbers are valid, the call has a third
/// argument: the largest number, or a Between.
template <typename T, typename Visit>
concept HasFields = requires(T& object, Visit& visit) {
  std::remove_const_t<T>::fields(object, visit);
};

template <typename T, typename Visit>
requires HasFields<T, Visit>
void each_field(T& object, Visit& visit) {
  std::remove_const_t<T>::fields(object, visit);
}

}  // namespace sluice::control
