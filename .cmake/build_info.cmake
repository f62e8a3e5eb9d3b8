# cmake -D SOURCE=... -D OUTPUT=... -P build_info.cmake   writes which commit is built, when that has changed.
set(commit "unknown")
set(modified "false")
execute_process(COMMAND git -c safe.directory=* rev-parse HEAD WORKING_DIRECTORY ${SOURCE}
  OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(NOT failed)
  set(commit "${head}")
  # What the program is made of; a change of a document makes no other program.
  execute_process(COMMAND git -c safe.directory=* status --porcelain -- dataplane control proxy emulator .cmake CMakeLists.txt CMakePresets.json
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    set(modified "true")
  endif()
endif()
set(text "#define SLUICE_COMMIT \"${commit}\"\n#define SLUICE_MODIFIED ${modified}\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
