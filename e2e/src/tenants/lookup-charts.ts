/** Charts that read Secrets with Helm's `lookup` and write what they read into a ConfigMap. */
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";

const configMap = [
  "apiVersion: v1",
  "kind: ConfigMap",
  "metadata: {name: {{ .Release.Name }}-found}",
];
const values = 'namespace: ""\nsecret: ""\n';

/** Reads the Secret that its values name; all of a namespace where they name none. */
export function lookupChart(): Promise<ChartArchive> {
  return chartArchive({
    name: "lookup",
    version: "1.0.0",
    values,
    templates: {
      "found.yaml": [
        ...configMap,
        "data:",
        '  found: {{ lookup "v1" "Secret" .Values.namespace .Values.secret | toJson | quote }}',
        "",
      ].join("\n"),
    },
  });
}

/** The same, with a call that is put together when it is rendered, so that no template shows it. */
export function hiddenLookupChart(): Promise<ChartArchive> {
  const call = [
    '{{ $call := printf "{{ look%s',
    ' \\"v1\\" \\"Secret\\" \\"%s\\" \\"%s\\" | toJson }}" "up" .Values.namespace .Values.secret }}',
  ];
  return chartArchive({
    name: "hidden-lookup",
    version: "1.0.0",
    values,
    templates: {
      "found.yaml": [
        call.join(""),
        ...configMap,
        "data:",
        "  found: {{ tpl $call . | quote }}",
        "",
      ].join("\n"),
    },
  });
}
