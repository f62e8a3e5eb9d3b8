# Build helpers: warnings, sanitizers, DPDK, and one function each for libraries, programs and tests.

add_library(sluice_flags INTERFACE)
target_include_directories(sluice_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(sluice_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wcast-align -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough
  -fno-omit-frame-pointer)
# DPDK's inline functions need SSE4.2; anything wider is selected at run time.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(sluice_flags INTERFACE -march=x86-64-v2)
else()
  # A fused multiply-add rounds once instead of twice, so results would differ from those of x86-64-v2, which has none.
  target_compile_options(sluice_flags INTERFACE -ffp-contract=off)
endif()
# Of null pointers g++ can only judge with full optimisation, which tests and cold code are compiled without.
target_compile_options(sluice_flags INTERFACE
  $<$<NOT:$<OR:$<BOOL:$<TARGET_PROPERTY:SLUICE_TEST>>,$<BOOL:$<TARGET_PROPERTY:SLUICE_COLD>>>>:-Wnull-dereference>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(sluice_flags INTERFACE -Wduplicated-cond -Wlogical-op -Wuseless-cast)
endif()
if(SLUICE_WERROR)
  target_compile_options(sluice_flags INTERFACE -Werror)
endif()
if(SLUICE_SANITIZE)
  target_compile_options(sluice_flags INTERFACE -fsanitize=${SLUICE_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(sluice_flags INTERFACE -fsanitize=${SLUICE_SANITIZE})
  if(SLUICE_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Fences are not followed. Ours order two atomics (poll_policy.hpp), of which no data race can come.
    target_compile_options(sluice_flags INTERFACE -Wno-tsan)
  endif()
endif()
# Stack frames and copies are checked; on the packet path only the frames with arrays of bytes, which costs a segment 0.5 %
# of its instructions where it is split, 2 % where it is forwarded. To check all frames there would take 0.6 % and 6 %.
# Sanitizers check more, and in their own way.
if(NOT SLUICE_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  target_compile_options(sluice_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
    $<IF:$<BOOL:$<TARGET_PROPERTY:SLUICE_PACKET_PATH>>,-fstack-protector,-fstack-protector-strong>)
endif()
if(SLUICE_FUZZ)
  target_compile_options(sluice_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Link-time optimisation for what every packet runs through, in the proxy and its benchmarks. The libraries' objects also
# hold ordinary code: everything else links that, and no second is spent on optimising a test again.
option(SLUICE_LTO "Link-time optimisation of the packet path (g++ release builds)" ON)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" OR SLUICE_SANITIZE)
  set(SLUICE_LTO OFF)
endif()

set(SLUICE_HOT -O3 -flto=auto -ffat-lto-objects)
# Tests compile in half the time when they are hardly optimised; what they test is.
set(SLUICE_BRIEF -O1)

# sluice_hot(target ...)   these libraries are on the packet path.
function(sluice_hot)
  set_target_properties(${ARGN} PROPERTIES SLUICE_PACKET_PATH ON)
  if(SLUICE_LTO)
    foreach(target ${ARGN})
      target_compile_options(${target} PRIVATE ${SLUICE_HOT})
      sluice_precompile(${target} hot)
    endforeach()
  endif()
endfunction()

# sluice_cold(target ...)   these run no packet: they read files, answer questions and log. They are hardly
# optimised, which takes a third off the time to compile them.
function(sluice_cold)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    foreach(target ${ARGN})
      set_target_properties(${target} PROPERTIES SLUICE_COLD ON)
      target_compile_options(${target} PRIVATE ${SLUICE_BRIEF})
    endforeach()
  endif()
endfunction()

# What most files include is read once for each way of compiling, and kept. Four ways: the packet path (hot), other code
# (plain), what talks to sockets and logs (io), and tests (test). A file still names all it includes: the preset clang
# compiles without.
option(SLUICE_PRECOMPILED_HEADERS "Precompile the headers of the standard library, DPDK, Boost.Asio and GoogleTest" ON)
set(SLUICE_PRECOMPILED_STD <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <compare> <cstddef> <cstdint>
  <cstring> <deque> <filesystem> <fstream> <functional> <limits> <map> <memory> <optional> <random> <set> <span> <sstream>
  <stdexcept> <string> <string_view> <tuple> <utility> <vector>)

# sluice_precompiled(kind DEPS target ... OPTIONS ... HEADERS <header> ...)   what sluice_precompile(target kind) takes.
function(sluice_precompiled kind)
  cmake_parse_arguments(ARG "" "" "DEPS;OPTIONS;HEADERS" ${ARGN})
  if(SLUICE_PRECOMPILED_HEADERS)
    set(unit ${CMAKE_BINARY_DIR}/precompiled/${kind}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "")
    add_library(sluice_precompiled_${kind} OBJECT ${unit})
    target_link_libraries(sluice_precompiled_${kind} PRIVATE sluice_flags sluice_dpdk ${ARG_DEPS})
    target_compile_options(sluice_precompiled_${kind} PRIVATE ${ARG_OPTIONS})
    target_precompile_headers(sluice_precompiled_${kind} PRIVATE <rte_config.h> <rte_mbuf.h> ${SLUICE_PRECOMPILED_STD} ${ARG_HEADERS})
  endif()
endfunction()

function(sluice_precompile target kind)
  if(SLUICE_PRECOMPILED_HEADERS)
    set_target_properties(${target} PROPERTIES PRECOMPILE_HEADERS_REUSE_FROM sluice_precompiled_${kind})
  endif()
endfunction()

# Up to eight files of a target are compiled as one, which halves the time of a first build: most of it goes into
# headers and into templates that several files use. More at once would save little and make every change dear. Tests
# are compiled one by one, since they are what is changed most, and so is everything under the preset clang: a file
# names all it includes.
option(SLUICE_UNITY "Compile files of the product together" ON)
set(CMAKE_UNITY_BUILD ${SLUICE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

# Defines the target sluice_dpdk. Headers are system headers; the libraries are the ones we call, plus every driver that
# EAL loads as a plugin at run time.
function(sluice_find_dpdk)
  pkg_check_modules(DPDK REQUIRED libdpdk>=22.11)
  add_library(sluice_dpdk INTERFACE)
  target_include_directories(sluice_dpdk SYSTEM INTERFACE ${DPDK_INCLUDE_DIRS})
  if(SLUICE_PRECOMPILED_HEADERS)
    set(DPDK_CONFIG "")  # the first of the precompiled ones
  else()
    set(DPDK_CONFIG "SHELL:-include rte_config.h")
  endif()
  target_compile_options(sluice_dpdk INTERFACE ${DPDK_CONFIG})
  target_link_libraries(sluice_dpdk INTERFACE ${DPDK_LINK_LIBRARIES})
  if(SLUICE_SANITIZE MATCHES "thread")
    # Rings ordered by C++ atomics, which ThreadSanitizer follows, not by compiler barriers.
    target_compile_definitions(sluice_dpdk INTERFACE RTE_USE_C11_MEM_MODEL)
  endif()
endfunction()

# Defines the target sluice_asio: Boost.Asio, of which what is no template is compiled once and not by everyone who
# includes it.
function(sluice_find_asio)
  set(unit ${CMAKE_BINARY_DIR}/precompiled/asio.cpp)
  file(CONFIGURE OUTPUT ${unit} CONTENT "#include <boost/asio/impl/src.hpp>\n")
  add_library(sluice_asio STATIC ${unit})
  target_compile_definitions(sluice_asio PUBLIC BOOST_ASIO_SEPARATE_COMPILATION)
  target_link_libraries(sluice_asio PRIVATE sluice_flags PUBLIC Boost::headers Threads::Threads)
  # g++ 12 sees null pointers in Asio where there are none.
  set_source_files_properties(${unit} PROPERTIES COMPILE_OPTIONS -Wno-null-dereference)
  target_compile_options(sluice_asio INTERFACE -Wno-null-dereference)
endfunction()

# sluice_library(name SOURCES a.cpp ... HEADERS a.hpp ... DEPS target ...)
function(sluice_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;HEADERS;DEPS" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES} ${ARG_HEADERS})
    target_link_libraries(${name} PUBLIC sluice_flags ${ARG_DEPS})
    sluice_precompile(${name} plain)
  else()
    add_library(${name} INTERFACE ${ARG_HEADERS})
    target_link_libraries(${name} INTERFACE sluice_flags ${ARG_DEPS})
  endif()
  sluice_check_headers(${name} "${ARG_HEADERS}")
endfunction()

# Every public header compiles on its own.
add_custom_target(check_headers)
function(sluice_check_headers name headers)
  if(NOT headers)
    return()
  endif()
  set(units)
  foreach(header ${headers})
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE folder)
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/self_contained/${header}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${folder}/${header}\"\n")
    list(APPEND units ${unit})
  endforeach()
  add_library(${name}_headers OBJECT EXCLUDE_FROM_ALL ${units})
  set_target_properties(${name}_headers PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(${name}_headers PRIVATE ${name})
  add_dependencies(check_headers ${name}_headers)
endfunction()

# sluice_link(name hot)   how it is linked: optimised as a whole where it is hot, else with the ordinary code of the libraries'
# objects.
function(sluice_link name hot)
  if(SLUICE_LTO AND hot)
    # g++ 12 takes a short std::string that is moved at link time for one whose buffer has no room (GCC bug 105651).
    target_link_options(${name} PRIVATE -O3 -flto=auto -Wno-stringop-overflow)
  elseif(SLUICE_LTO)
    target_link_options(${name} PRIVATE -fno-lto)
  endif()
endfunction()

# sluice_program(name [HOT] SOURCES ... DEPS ...)   HOT: it is the packet path's speed that counts. An emulator's experiments
# gain nothing by it, and it takes a minute and a half of processor time to link.
function(sluice_program name)
  cmake_parse_arguments(ARG "HOT" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE sluice_flags ${ARG_DEPS})
  sluice_precompile(${name} plain)
  sluice_link(${name} ${ARG_HOT})
  # Everything is bound at start, and what was relocated made read-only: a stray write finds no function to replace.
  target_link_options(${name} PRIVATE -Wl,-z,relro,-z,now,-z,noexecstack)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()

# All tests of ctest, without the programs.
add_custom_target(unit_and_simulation_tests)

# sluice_test(name SOURCES ... DEPS ... [LABELS unit|clock|sim] [ARGUMENTS ...])   one GoogleTest binary, which is one of
# ctest's. sim: in virtual time, however slow the processor; clock: in real time.
function(sluice_test name)
  cmake_parse_arguments(ARG "" "LABELS" "SOURCES;DEPS;ARGUMENTS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE sluice_flags ${ARG_DEPS} GTest::gmock)
  sluice_link(${name} FALSE)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    set_target_properties(${name} PROPERTIES SLUICE_TEST ON)
    target_compile_options(${name} PRIVATE ${SLUICE_BRIEF})
  endif()
  sluice_precompile(${name} test)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests UNITY_BUILD OFF)
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGUMENTS})
  add_dependencies(unit_and_simulation_tests ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABELS})
endfunction()

# sluice_fuzzer(name SOURCES ... DEPS ...)   a libFuzzer target; its corpus lies in tests/fuzz/corpus/NAME. Where there is
# no fuzzer it is a test that runs the corpus.
add_custom_target(fuzzers)
function(sluice_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  if(NOT SLUICE_FUZZ)
    sluice_test(${name} SOURCES ${ARG_SOURCES} DEPS ${ARG_DEPS} sluice_test_corpus
                ARGUMENTS ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE sluice_flags ${ARG_DEPS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  sluice_precompile(${name} plain)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  add_dependencies(fuzzers ${name})
endfunction()
