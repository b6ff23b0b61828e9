/** Charts that try to read what is none of their business, and show it in a ConfigMap. */
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";

const shown = ["apiVersion: v1", "kind: ConfigMap", "metadata: {name: {{ .Release.Name }}-found}"];

/** Says openly that it reads the Secret that its values name; all of a namespace's where they name none. */
export function spyChart(): Promise<ChartArchive> {
  return chartArchive({
    name: "spy",
    version: "1.0.0",
    values: 'namespace: ""\nsecret: ""\n',
    templates: {
      "found.yaml": [
        ...shown,
        "data:",
        '  found: {{ lookup "v1" "Secret" .Values.namespace .Values.secret | toJson | quote }}',
        "",
      ].join("\n"),
    },
  });
}

/** Puts the same together from pieces, so that nobody who reads its templates sees it. */
export function slyChart(): Promise<ChartArchive> {
  const call = [
    '{{ $call := printf "{{ look%s',
    ' \\"v1\\" \\"Secret\\" \\"%s\\" \\"%s\\" | toJson }}" "up" .Values.namespace .Values.secret }}',
  ];
  return chartArchive({
    name: "sly",
    version: "1.0.0",
    values: 'namespace: ""\nsecret: ""\n',
    templates: {
      "found.yaml": [
        call.join(""),
        ...shown,
        "data:",
        "  found: {{ tpl $call . | quote }}",
        "",
      ].join("\n"),
    },
  });
}
