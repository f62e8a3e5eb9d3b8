{{/* Labels of every object. */}}
{{- define "sluice.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* Labels that select the pods of this release. */}}
{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Section of the program's file for one port: (list ROOT SIDE NUMBER). */}}
{{- define "sluice.port" -}}
{{- $root := index . 0 }}
{{- $side := index . 1 }}
{{- $port := get $root.Values.ports $side }}
{{- $device := printf "net_af_packet%d,iface=%s" (index . 2) $side }}
{{- if eq $root.Values.ports.kind "host" }}
{{- $device = printf "net_af_packet%d,iface=%s" (index . 2) $port.interface }}
{{- else if eq $root.Values.ports.kind "sriov" }}
{{- $device = printf "%s_ADDRESS" (upper $side) }}
{{- end }}
{{- toYaml (merge (dict "device" $device) $port.options) }}
{{- end }}

{{/* The program's file. */}}
{{- define "sluice.configuration" -}}
{{- $ports := dict "radio" (include "sluice.port" (list . "radio" 0) | fromYaml) "core" (include "sluice.port" (list . "core" 1) | fromYaml) }}
{{- $file := dict "mode" .Values.mode "ports" $ports }}
{{- $_ := set $file "stop" (dict "drain" (printf "%ds" (int .Values.drainSeconds))) }}
{{- $_ := set $file "admin" (dict "socket" "/run/sluice/own/sluice.sock") }}
{{- $_ := set $file "state" (dict "file" "/run/sluice/own/state") }}
{{- $_ := set $file "metrics" (dict "listen" (printf "0.0.0.0:%d" (int .Values.metrics.port))) }}
{{- if ne .Values.failOpen "none" }}
{{- $_ := set $file "fail_open" .Values.failOpen }}
{{- end }}
{{- $eal := dict }}
{{- if .Values.hugePages.amount }}
{{- $_ := set $eal "hugepages" true }}
{{- end }}
{{- if eq .Values.ports.kind "sriov" }}
{{- $_ := set $eal "pci" true }}
{{- end }}
{{- if $eal }}
{{- $_ := set $file "eal" $eal }}
{{- end }}
{{- if .Values.secrets.pageToken }}
{{- $_ := set $file "page" (dict "token_file" "/etc/sluice-page/token") }}
{{- end }}
{{- toYaml (merge $file (deepCopy .Values.config)) }}
{{- end }}

{{/* Requests or limits of the container: (list ROOT MAP). */}}
{{- define "sluice.amounts" -}}
{{- $root := index . 0 }}
{{- $all := deepCopy (index . 1 | default dict) }}
{{- with $root.Values.hugePages.amount }}
{{- $_ := set $all (printf "hugepages-%s" $root.Values.hugePages.size) . }}
{{- end }}
{{- if eq $root.Values.ports.kind "sriov" }}
{{- if eq $root.Values.ports.radio.resource $root.Values.ports.core.resource }}
{{- fail "ports.radio.resource and ports.core.resource are the same, expected a pool of virtual functions for each port" }}
{{- end }}
{{- $_ := set $all $root.Values.ports.radio.resource "1" }}
{{- $_ := set $all $root.Values.ports.core.resource "1" }}
{{- end }}
{{- toYaml $all }}
{{- end }}

{{/* Name of the variable in which the SR-IOV device plugin has the address of a port's function. */}}
{{- define "sluice.address" -}}
PCIDEVICE_{{ regexReplaceAll "[^A-Za-z0-9]" .resource "_" | upper }}
{{- end }}
