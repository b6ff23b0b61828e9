/** A chart that can be made to fail in the ways that charts do. */
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";

/** Refuses to be rendered when it is greeted rudely, and never gets ready where no node fits. */
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
