/** Charts whose values decide what happens to them, so that a test needs no other version. */
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";

/**
 * A ConfigMap `<release>-config` with the version and the greeting. With `fail` it is not rendered, with `reject` the API server
 * rejects an object of it, with `pod` it has a pod that no node fits, with `web` a Deployment whose selector has the label that it
 * names, and with `tests: fail` one of its two tests fails.
 */
export function sampleChart(version: string, name = "sample"): Promise<ChartArchive> {
  return chartArchive({
    name,
    version,
    values: 'greeting: hello\nfail: false\nreject: false\npod: false\nweb: ""\ntests: pass\n',
    templates: {
      "config.yaml": `{{- if .Values.fail }}{{ fail "these values are refused" }}{{ end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-config"}
data: {version: {{ .Chart.Version | quote }}, greeting: {{ .Values.greeting | quote }}}
`,
      "rejected.yaml": `{{- if .Values.reject }}
apiVersion: v1
kind: Service
metadata: {name: rejected}
spec: {ports: []}
{{- end }}
`,
      "pod.yaml": `{{- if .Values.pod }}
apiVersion: v1
kind: Pod
metadata: {name: "{{ .Release.Name }}"}
spec:
  nodeSelector: {no: node}
  containers: [{name: main, image: example.com/main}]
{{- end }}
`,
      "web.yaml": `{{- if .Values.web }}
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  selector: {matchLabels: {app: {{ .Values.web }}}}
  template:
    metadata: {labels: {app: {{ .Values.web }}}}
    spec: {containers: [{name: main, image: "example.com/main:1"}]}
{{- end }}
`,
      "tests.yaml": `${testHook("smoke", "v1", "ConfigMap")}---
{{- if eq .Values.tests "fail" }}
${testHook("load", "v1", "Service")}spec: {ports: []}
{{- else }}
${testHook("load", "v1", "ConfigMap")}
{{- end }}
`,
    },
  });
}

function testHook(name: string, version: string, kind: string): string {
  return `apiVersion: ${version}
kind: ${kind}
metadata:
  name: "{{ .Release.Name }}-${name}"
  annotations: {helm.sh/hook: test, helm.sh/hook-delete-policy: before-hook-creation}
`;
}
