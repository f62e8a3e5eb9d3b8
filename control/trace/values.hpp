#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// The words of an enumeration in a trace, in its order.
template <typename Enum>
struct EnumWords;

/// An amount that may be Bytes::max(): there is no limit.
template <typename Amount>
struct OrUnlimited {
  Amount& amount;
};
template <typename Amount>
OrUnlimited(Amount&) -> OrUnlimited<Amount>;

/// An instant that may be `never`.
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

/// The least and the greatest that a number may be.
struct Between {
  double least;
  double most;
};

/// A list of fields is one function for writing and for reading: each_field(object, visit) calls visit(name, value), or
/// visit(name, value, most) or visit(name, value, Between) where not every number is one that the object could have.
/// Classes whose state is told have it as a static member, `fields`.
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
