/** The charts that the documents name, as archives and as the files of a repository. */
import { type ChartArchive, type ChartSpec, chartArchive } from "../harness/chart-archive.ts";

type Files = Readonly<Record<string, string>>;

/** A ConfigMap with the version and the values that the chart was rendered with. */
const config = `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-config"}
data: {version: {{ .Chart.Version | quote }}, values: {{ toJson .Values | quote }}}
`;

const workload = `apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  replicas: 1
  selector: {matchLabels: {app: "{{ .Release.Name }}"}}
  template:
    metadata: {labels: {app: "{{ .Release.Name }}"}}
    spec:
      initContainers: [{name: init, image: "registry.example.org/init:1"}]
      containers: [{name: main, image: "registry.example.org/{{ .Release.Name }}:1"}]
---
apiVersion: v1
kind: Service
metadata: {name: "{{ .Release.Name }}"}
spec: {selector: {app: "{{ .Release.Name }}"}, ports: [{port: 80}]}
`;

const testJob = (name: string) => `apiVersion: batch/v1
kind: Job
metadata: {name: ${name}, annotations: {helm.sh/hook: test}}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: registry.example.org/test}]}
`;

const definition = (kind: string, plural: string) => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${plural}.harbour.example.org}
spec:
  group: harbour.example.org
  scope: Namespaced
  names: {kind: ${kind}, listKind: ${kind}List, plural: ${plural}, singular: ${kind.toLowerCase()}}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`;

const chart = (
  name: string,
  version: string,
  { templates, ...more }: Partial<ChartSpec> = {},
): Promise<ChartArchive> =>
  chartArchive({ name, version, templates: { "config.yaml": config, ...templates }, ...more });

/** Those of the HTTP repository. */
export function repositoryCharts(): Promise<readonly ChartArchive[]> {
  return Promise.all([
    chart("lighthouse", "4.2.0", {
      values: "replicas: 1\nbeam: {colour: red, seconds: 12}\n",
      crds: { "lamps.yaml": definition("Lamp", "lamps") },
      templates: {
        "smoke.yaml": testJob("lighthouse-smoke"),
        "load.yaml": testJob("lighthouse-load"),
      },
    }),
    chart("lighthouse", "5.0.0"),
    ...["0.9.0", "0.9.4", "1.0.0"].map((version) =>
      chart("tug", version, {
        values: "power: 100\nsize: large\n",
        files: { "values-small.yaml": "size: small\n" },
        templates: { "workload.yaml": workload },
      }),
    ),
    chart("berths", "1.0.0", {
      crds: { "berths.yaml": definition("Berth", "berths") },
      templates: {
        "berth.yaml":
          "apiVersion: harbour.example.org/v1\nkind: Berth\nmetadata: {name: first}\nstatus: {phase: Docking}\n",
      },
    }),
  ]);
}

/** Those of the registry. */
export function registryCharts(): Promise<readonly ChartArchive[]> {
  return Promise.all([
    chart("ferry", "2.1.3"),
    chart("ferry", "2.2.0"),
    chart("buoy", "1.3.0"),
    chart("buoy", "1.4.0"),
    chart("buoy", "2.0.0"),
  ]);
}

/** The files of a chart in a directory. */
export function chartFiles(directory: string, version: string, values: string): Files {
  const name = directory.split("/").at(-1) ?? "";
  return {
    [`${directory}/Chart.yaml`]: `apiVersion: v2\nname: ${name}\nversion: ${version}\n`,
    [`${directory}/values.yaml`]: values,
    [`${directory}/templates/config.yaml`]: config,
  };
}
