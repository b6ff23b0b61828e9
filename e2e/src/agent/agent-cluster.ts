/** What the agent's own tests share: a control plane whose workloads run, a chart repository, and what Helm has stored. */
import { join } from "node:path";
import { ensureBinaries } from "@flotilla/local/binaries";
import { testDir } from "@flotilla/local/testing";
import { agentNamespace } from "@flotilla/shared/api/names";
import { connectKube, type KubeRest, loadKubeconfig } from "@flotilla/shared/kube/client";
import { namespaces, secrets } from "@flotilla/shared/kube/objects";
import { afterAll } from "vitest";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import { type ChartServer, startChartServer } from "../harness/chart-server.ts";
import { leaseControlPlane } from "../harness/control-planes.ts";
import type { AgentPartsSpec } from "../harness/in-process-installer.ts";
import { objectThat } from "../harness/wait.ts";

export interface AgentCluster {
  readonly rest: KubeRest;
  readonly charts: ChartServer;
  readonly spec: AgentPartsSpec;
  /** `revision status` of each of Helm's records in a namespace, in order. */
  records(namespace: string): Promise<readonly string[]>;
  /** Waits for a record of a release in the namespace of its name, by default one of any status. */
  recordThat(release: string, revision: number, status?: string): Promise<void>;
}

/** For a whole test file, which it ends with. */
export async function startAgentCluster(): Promise<AgentCluster> {
  const dir = await testDir({ onTestFinished: afterAll });
  const { helm } = await ensureBinaries(["helm"]);
  const plane = await leaseControlPlane("cluster");
  const rest = connectKube(await loadKubeconfig({ path: plane.kubeconfig }));
  afterAll(() => rest.close());
  await rest.create(namespaces, { metadata: { name: agentNamespace } });
  const charts = await startChartServer();
  afterAll(() => charts.close());
  return {
    rest,
    charts,
    spec: { kubeconfig: plane.kubeconfig, helm, dataDir: join(dir, "data") },
    async records(namespace) {
      const { items } = await rest.list(secrets, { namespace, labelSelector: "owner=helm" });
      return items
        .map(({ metadata }) => `${metadata.labels?.["version"]} ${metadata.labels?.["status"]}`)
        .sort();
    },
    async recordThat(release, revision, status) {
      await objectThat(
        rest,
        secrets,
        { namespace: release, name: `sh.helm.release.v1.${release}.v${revision}` },
        status ?? "there",
        (found) => {
          const current = found?.metadata.labels?.["status"];
          return current !== undefined && (status === undefined || current === status);
        },
      );
    },
  };
}

/** A chart that never gets ready with the value `node`, and whose hook never ends with the value `hook`. */
export function stallingChart(name: string, version: string): Promise<ChartArchive> {
  const pod = [
    "  template:",
    "    metadata: {labels: {app: {{ .Release.Name }}}}",
    "    spec:",
    "      restartPolicy: {{ if .Values.hook }}Never{{ else }}Always{{ end }}",
    "      nodeSelector: {kubernetes.io/hostname: nowhere}",
    '      containers: [{name: main, image: "example.com/main:1"}]',
    "{{- end }}",
    "",
  ];
  return chartArchive({
    name,
    version,
    values: "greeting: hello\n",
    templates: {
      "config.yaml": [
        "apiVersion: v1",
        "kind: ConfigMap",
        "metadata: {name: {{ .Release.Name }}-config}",
        "data: {greeting: {{ .Values.greeting | quote }}}",
        "",
      ].join("\n"),
      "deployment.yaml": [
        "{{- if .Values.node }}",
        "apiVersion: apps/v1",
        "kind: Deployment",
        "metadata: {name: {{ .Release.Name }}}",
        "spec:",
        "  selector: {matchLabels: {app: {{ .Release.Name }}}}",
        ...pod,
      ].join("\n"),
      "hook.yaml": [
        "{{- if .Values.hook }}",
        "apiVersion: batch/v1",
        "kind: Job",
        "metadata: {name: {{ .Release.Name }}-hook, annotations: {helm.sh/hook: pre-upgrade}}",
        "spec:",
        ...pod,
      ].join("\n"),
    },
  });
}
