/** A chart whose hook creates an object for each run of Helm, with a unique name. */
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";

export const traceLabel = "faults.test/trace";

/** One ConfigMap with its values, one trace for each run, and a Deployment if replicas are set. */
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
      // Helm does not track the objects of hooks, so that it is never deleted.
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
