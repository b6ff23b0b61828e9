/** A chart whose hook leaves a trace of each run of Helm: an object with a name that no other run gives. */
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";

export const traceLabel = "faults.test/trace";

/** One ConfigMap with what it was given, one trace for each run, and a Deployment where replicas are wanted. */
export function hookedChart(version: string): Promise<ChartArchive> {
  return chartArchive({
    name: "hooked",
    version,
    values: "serial: 0\nreplicas: 0\npassword: none\n",
    templates: {
      "config.yaml": [
        "apiVersion: v1",
        "kind: ConfigMap",
        "metadata:",
        "  name: {{ .Release.Name }}-config",
        "data:",
        "  version: {{ .Chart.Version | quote }}",
        "  serial: {{ .Values.serial | quote }}",
        "",
      ].join("\n"),
      // Helm keeps no account of hooks, so that nothing ever removes it.
      "trace.yaml": [
        "apiVersion: v1",
        "kind: ConfigMap",
        "metadata:",
        "  name: trace-{{ uuidv4 }}",
        `  labels: {${traceLabel}: "{{ .Release.Name }}"}`,
        "  annotations:",
        "    helm.sh/hook: post-install,post-upgrade",
        "data:",
        "  revision: {{ .Release.Revision | quote }}",
        "  serial: {{ .Values.serial | quote }}",
        "",
      ].join("\n"),
      "deployment.yaml": [
        "{{- if .Values.replicas }}",
        "apiVersion: apps/v1",
        "kind: Deployment",
        "metadata:",
        "  name: {{ .Release.Name }}",
        "spec:",
        "  replicas: {{ .Values.replicas }}",
        "  selector: {matchLabels: {app: {{ .Release.Name }}}}",
        "  template:",
        "    metadata:",
        "      labels: {app: {{ .Release.Name }}}",
        '      annotations: {serial: "{{ .Values.serial }}"}',
        "    spec:",
        '      containers: [{name: main, image: "example.com/main:{{ .Chart.Version }}"}]',
        "{{- end }}",
        "",
      ].join("\n"),
    },
  });
}
