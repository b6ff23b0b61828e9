/** Charts of the tests of the agent: some fail by their values. */
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";

/** Fails to render with the greeting `rude`, and never gets ready with a `node` that does not exist. */
export function appChart(version: string): Promise<ChartArchive> {
  return chartArchive({
    name: "app",
    version,
    values: "greeting: hello\nbig: 0\n",
    templates: {
      "config.yaml": [
        '{{- if eq .Values.greeting "rude" }}{{ fail "greeting must be polite" }}{{ end }}',
        "apiVersion: v1",
        "kind: ConfigMap",
        "metadata:",
        "  name: {{ .Release.Name }}-config",
        "data:",
        "  version: {{ .Chart.Version | quote }}",
        "  greeting: {{ .Values.greeting | quote }}",
        "  big: {{ .Values.big | quote }}",
        "",
      ].join("\n"),
      "deployment.yaml": [
        "{{- if .Values.node }}",
        "apiVersion: apps/v1",
        "kind: Deployment",
        "metadata:",
        "  name: {{ .Release.Name }}",
        "spec:",
        "  selector: {matchLabels: {app: {{ .Release.Name }}}}",
        "  template:",
        "    metadata: {labels: {app: {{ .Release.Name }}}}",
        "    spec:",
        "      nodeSelector: {kubernetes.io/hostname: {{ .Values.node }}}",
        '      containers: [{name: main, image: "example.com/main:1"}]',
        "{{- end }}",
        "",
      ].join("\n"),
    },
  });
}

/** Its workload never gets ready with the value `node`, and its hook never ends with the value `hook`. */
export function stallingChart(name: string, version: string): Promise<ChartArchive> {
  const pod = [
    "  template:",
    "    metadata: {labels: {app: {{ .Release.Name }}}}",
    "    spec:",
    "      restartPolicy: {{ if .Values.hook }}Never{{ else }}Always{{ end }}",
    "      nodeSelector: {kubernetes.io/hostname: nowhere}",
    '      containers: [{name: main, image: "example.com/main:1"}]',
    "{{- end }}",
    "",
  ];
  return chartArchive({
    name,
    version,
    values: "greeting: hello\n",
    templates: {
      "config.yaml": [
        "apiVersion: v1",
        "kind: ConfigMap",
        "metadata: {name: {{ .Release.Name }}-config}",
        "data: {greeting: {{ .Values.greeting | quote }}}",
        "",
      ].join("\n"),
      "deployment.yaml": [
        "{{- if .Values.node }}",
        "apiVersion: apps/v1",
        "kind: Deployment",
        "metadata: {name: {{ .Release.Name }}}",
        "spec:",
        "  selector: {matchLabels: {app: {{ .Release.Name }}}}",
        ...pod,
      ].join("\n"),
      "hook.yaml": [
        "{{- if .Values.hook }}",
        "apiVersion: batch/v1",
        "kind: Job",
        "metadata: {name: {{ .Release.Name }}-hook, annotations: {helm.sh/hook: pre-upgrade}}",
        "spec:",
        ...pod,
      ].join("\n"),
    },
  });
}

/** Prints the list `numbers` of its values, in three ways. */
export function numbersChart(name: string, version: string): Promise<ChartArchive> {
  return chartArchive({
    name,
    version,
    templates: {
      "config.yaml": [
        "apiVersion: v1",
        "kind: ConfigMap",
        "metadata: {name: {{ .Release.Name }}-config}",
        "data:",
        "  plain: {{ .Values.numbers | join ` ` | quote }}",
        "  json: {{ .Values.numbers | toJson | quote }}",
        "  {{- range $at, $number := .Values.numbers }}",
        "  int{{ $at }}: {{ $number | int64 | quote }}",
        "  {{- end }}",
        "",
      ].join("\n"),
    },
  });
}
