/** Charts in two versions, for plans of the upgrade from the first to the second. */
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import { configMapText } from "../harness/object-text.ts";

/** What a version has beside the version before it. */
export interface VersionSpec {
  readonly templates: Readonly<Record<string, string>>;
  readonly crds?: Readonly<Record<string, string>>;
}

export async function versionsOf(
  name: string,
  first: VersionSpec,
  second: VersionSpec,
): Promise<readonly [ChartArchive, ChartArchive]> {
  return await Promise.all([
    chartArchive({ name, version: "1.0.0", ...first }),
    chartArchive({ name, version: "2.0.0", ...second }),
  ]);
}

const web = (image: string, more = ""): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app.kubernetes.io/name: web}}
spec:
  replicas: {{ if .Values.replicas }}{{ .Values.replicas }}{{ end }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "example.com/web:${image}", resources: {requests: {cpu: "0.5", memory: 1Gi}}, ${more}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`;

const kept = (value: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}\ndata: {a: "${value}"}\n`;

const looked = `{{- $old := lookup "v1" "Secret" .Release.Namespace "login" }}
apiVersion: v1
kind: Secret
metadata: {name: login}
{{- if $old }}
data: {password: {{ $old.data.password }}}
{{- else }}
stringData: {password: {{ randAlphaNum 20 | quote }}}
{{- end }}
`;

const random = `apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: {{ randAlphaNum 20 | quote }}, user: shop}
`;

const folded = (limit: number): string => `apiVersion: v1
kind: ConfigMap
metadata: {name: rules, labels: {tier: front, tier: back}}
data:
  expr: >
    sum(rate(requests_total[5m]))
      by (job)
    > ${limit}
`;

const anchored = (colour: string): string => `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: one}
  data: &shared {colour: ${colour}}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: two}
  data: *shared
`;

const twice = (mode: string): string =>
  web("1", `env: [{name: MODE, value: default}, {name: MODE, value: ${mode}}]`);

/** Those whose upgrade succeeds, by what they are about. */
export const upgradedCharts: readonly (readonly [
  name: string,
  first: VersionSpec["templates"],
  second: VersionSpec["templates"],
])[] = [
  ["unchanged", { "a.yaml": web("1") }, { "b.yaml": web("1") }],
  ["image", { "a.yaml": web("1", "env: [{name: A, value: x}]") }, { "a.yaml": web("2") }],
  [
    "objects",
    { "a.yaml": configMapText("gone"), "b.yaml": kept("1"), "c.yaml": configMapText("same") },
    { "c.yaml": configMapText("same"), "d.yaml": configMapText("added", { data: "{a: b}" }) },
  ],
  ["lookup", { "a.yaml": looked }, { "a.yaml": looked, "b.yaml": configMapText("added") }],
  ["random", { "a.yaml": random }, { "a.yaml": random }],
  ["folded", { "a.yaml": folded(10) }, { "a.yaml": folded(20) }],
  ["anchored", { "a.yaml": anchored("green") }, { "a.yaml": anchored("blue") }],
  ["twice", { "a.yaml": twice("custom") }, { "a.yaml": twice("other") }],
  [
    "hooks",
    { "a.yaml": configMapText("app", { data: "{a: b}" }) },
    {
      "a.yaml": configMapText("app", { data: "{a: b}" }),
      "hook.yaml": configMapText("migrate", { hook: "pre-upgrade" }),
      "test.yaml": configMapText("check", { hook: "test" }),
    },
  ],
];

/** A value from a Secret in a Secret, in the text of a ConfigMap, in an annotation and in an address. */
export const secretTemplates = {
  "all.yaml": `apiVersion: v1
kind: Secret
metadata: {name: login, annotations: {example.com/url: "https://shop:{{ .Values.password }}@db"}}
stringData: {password: {{ .Values.password | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, annotations: {example.com/token: {{ .Values.password | quote }}}}
data:
  file: |
    host: db
    password: {{ .Values.password }}
    version: {{ .Chart.Version }}
`,
} as const;
