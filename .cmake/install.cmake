# What goes where on a system. Two components: sluice, the proxy with its operator's tool, and sluice-emulator.
include(GNUInstallDirs)

# Manual pages and completion are what the programs print of themselves.
set(SLUICE_MANUALS ${CMAKE_BINARY_DIR}/manuals)
file(MAKE_DIRECTORY ${SLUICE_MANUALS})

# sluice_printed(program file option)   a file that a program prints.
function(sluice_printed program file option)
  add_custom_command(OUTPUT ${SLUICE_MANUALS}/${file} DEPENDS ${program} VERBATIM
    COMMAND sh -c "\"$1\" \"$2\" > \"$3.part\" && mv \"$3.part\" \"$3\"" -- $<TARGET_FILE:${program}> ${option} ${SLUICE_MANUALS}/${file})
  set_property(GLOBAL APPEND PROPERTY SLUICE_PRINTED ${SLUICE_MANUALS}/${file})
endfunction()

# sluice_install(component program folder section)   a program with its manual page and its completion.
function(sluice_install component program folder section)
  sluice_printed(${program} ${program}.${section} --manual)
  sluice_printed(${program} ${program}.completion --completion)
  sluice_printed(${program} _${program} --completion=zsh)
  sluice_printed(${program} ${program}.fish --completion=fish)
  install(TARGETS ${program} DESTINATION ${folder} COMPONENT ${component})
  install(FILES ${SLUICE_MANUALS}/${program}.${section} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT ${component})
  install(FILES ${SLUICE_MANUALS}/${program}.completion RENAME ${program}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT ${component})
  install(FILES ${SLUICE_MANUALS}/_${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT ${component})
  install(FILES ${SLUICE_MANUALS}/${program}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    COMPONENT ${component})
endfunction()

sluice_install(sluice sluice ${CMAKE_INSTALL_SBINDIR} 8)
sluice_install(sluice sluicectl ${CMAKE_INSTALL_BINDIR} 1)
sluice_install(sluice-emulator nodeb ${CMAKE_INSTALL_BINDIR} 1)

sluice_printed(sluice sluice.yaml.5 --manual-config)
install(FILES ${SLUICE_MANUALS}/sluice.yaml.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 COMPONENT sluice)
sluice_printed(sluice sluice-words.7 --manual-words)
install(FILES ${SLUICE_MANUALS}/sluice-words.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7 COMPONENT sluice)
sluice_printed(sluicectl sluicectl.schema.json --schema)
install(FILES ${SLUICE_MANUALS}/sluicectl.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/sluice COMPONENT sluice)
# The unit names absolute paths, as this is one.
install(FILES configs/inline/smvs-by-acks.yaml RENAME sluice.yaml DESTINATION /etc/sluice COMPONENT sluice)
install(DIRECTORY DESTINATION /etc/sluice/keys COMPONENT sluice)
install(FILES .packaging/sluice.service DESTINATION /lib/systemd/system COMPONENT sluice)
install(FILES .packaging/sysusers.conf RENAME sluice.conf DESTINATION lib/sysusers.d COMPONENT sluice)
install(FILES .packaging/tmpfiles.conf RENAME sluice.conf DESTINATION lib/tmpfiles.d COMPONENT sluice)
install(DIRECTORY .packaging/drop-ins configs/monitoring DESTINATION ${CMAKE_INSTALL_DATADIR}/sluice COMPONENT sluice)
install(DIRECTORY configs/inline DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sluice/examples COMPONENT sluice)
install(DIRECTORY configs/live configs/scenarios configs/papers
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sluice-emulator/examples COMPONENT sluice-emulator)

get_property(printed GLOBAL PROPERTY SLUICE_PRINTED)
add_custom_target(manuals ALL DEPENDS ${printed})
