{{- define "flotilla.labels" -}}
{{ include "flotilla.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "flotilla.selector" -}}
app.kubernetes.io/name: flotilla
app.kubernetes.io/component: hub
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "flotilla.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (ternary .Release.Name "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "flotilla.image" -}}
{{- $image := .Values.image -}}
{{- with $image.registry }}{{ . }}/{{ end }}{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "flotilla.agentsService" -}}
{{ .Release.Name }}-agents
{{- end }}

{{- define "flotilla.agentsAddress" -}}
{{ .Values.agents.address | default (printf "%s.%s.svc:%d" (include "flotilla.agentsService" .) .Release.Namespace (int .Values.agents.service.port)) }}
{{- end }}

{{- /* What the schema cannot express. */ -}}
{{- define "flotilla.validate" -}}
{{- if ne .Release.Namespace "flotilla-system" }}
{{- fail (printf "install the chart flotilla into the namespace flotilla-system, not %s: helm install … --namespace flotilla-system --create-namespace" .Release.Namespace) }}
{{- end }}
{{- if and .Values.agents.ingress.enabled (empty .Values.agents.ingress.annotations) }}
{{- fail "agents.ingress.annotations is empty: set the annotation with which your ingress controller passes TLS through; an Ingress that ends TLS removes the agents' certificates" }}
{{- end }}
{{- if and (or .Values.agents.ingress.enabled .Values.agents.tlsRoute.enabled) (empty .Values.agents.address) }}
{{- fail "agents.address is empty: set the host:port by which agents reach the Ingress or Gateway" }}
{{- end }}
{{- with .Values.dashboard.oidc }}
{{- if and .enabled .groupsClaim (empty .groupsPrefix) (empty .allowedGroups) }}
{{- fail "dashboard.oidc.groupsPrefix is empty: a group of the provider would have the rights of the group of the same name in this cluster; set a prefix, such as \"oidc:\", list the groups in dashboard.oidc.allowedGroups, or set groupsClaim to \"\"" }}
{{- end }}
{{- end }}
{{- end }}
