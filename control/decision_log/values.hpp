#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Names of an enumeration's values in a trace, in their order.
template <typename Enum>
struct EnumWords;

/// Amount that may be Bytes::max(), which means no limit.
template <typename Amount>
struct OrUnlimited {
  Amount& amount;
};
template <typename Amount>
OrUnlimited(Amount&) -> OrUnlimited<Amount>;

/// Instant that may be `never`.
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

/// Smallest and largest value that a number may have.
struct Between {
  double least;
  double most;
};

/// One list of fields serves for writing and for reading: each_field(object, visit) calls visit(name, value) for each
/// field. It calls visit(name, value, most) or visit(name, value, Between) if only some numbers are valid. Classes
/// whose state is recorded have the list as a static member, `fields`.
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
