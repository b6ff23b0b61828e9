/** A Deployment whose pods get as far as a test says. */
import { chartArchive } from "../harness/chart-archive.ts";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { pods, setPodStatus } from "./dashboard-fleet.ts";

/** A Deployment of one pod, which no scheduler of these clusters takes: the test says where it runs. */
export const apiChart = (version: string) =>
  chartArchive({
    ...{ name: "api", version },
    templates: {
      "all.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api, version: {{ .Chart.Version | quote }}}}
    spec:
      schedulerName: nobody
      containers: [{name: app, image: example.com/api}]
`,
    },
  });

export async function podOf(client: ClusterClient, version: string): Promise<string> {
  for (;;) {
    const labelSelector = `app=api,version=${version}`;
    const [pod] = await client.reader.list(pods, { namespace: "default", labelSelector });
    if (pod !== undefined) return pod.metadata.name;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export async function startPod(client: ClusterClient, name: string): Promise<void> {
  const now = new Date().toISOString();
  const yes = { status: "True", lastTransitionTime: now };
  await setPodStatus(
    client,
    { namespace: "default", name },
    {
      phase: "Running",
      conditions: ["PodScheduled", "Ready"].map((type) => ({ type, ...yes })),
    },
  );
}
