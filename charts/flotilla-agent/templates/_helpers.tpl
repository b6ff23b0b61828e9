{{- define "flotilla-agent.labels" -}}
{{ include "flotilla-agent.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "flotilla-agent.selector" -}}
app.kubernetes.io/name: flotilla-agent
app.kubernetes.io/component: agent
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "flotilla-agent.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (ternary .Release.Name "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "flotilla-agent.image" -}}
{{- $image := .Values.image -}}
{{- with $image.registry }}{{ . }}/{{ end }}{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "flotilla-agent.validate" -}}
{{- if ne .Release.Namespace "flotilla-agent" }}
{{- fail (printf "install the chart flotilla-agent into the namespace flotilla-agent, not %s: helm install … --namespace flotilla-agent --create-namespace" .Release.Namespace) }}
{{- end }}
{{- range .Values.impersonation.namespaces }}
{{- if or (hasPrefix "kube-" .) (eq . $.Release.Namespace) }}
{{- fail (printf "impersonation.namespaces has %s: accounts of that namespace have rights of the cluster itself, or of the agent, so no HelmOp may act as one of them; list namespaces of tenants" .) }}
{{- end }}
{{- end }}
{{- end }}
