/** A chart with a hook that waits, and then fails or succeeds: a Job, as most migrations are. */
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { chartArchive } from "../harness/chart-archive.ts";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { waitForObject } from "../harness/wait.ts";
import { pods, setPodStatus } from "./dashboard-fleet.ts";

const jobs: Resource<KubeObject> = {
  ...{ group: "batch", version: "v1", kind: "Job", plural: "jobs", namespaced: true },
};

const namespace = "default";

/** Its hook is the Job `migrate-RELEASE`. `nodeName`: absent: its pod is on no node. */
export function hookedChart(name: string, nodeName = "") {
  const template = `apiVersion: batch/v1
kind: Job
metadata:
  name: migrate-{{ .Release.Name }}
  annotations: {helm.sh/hook: pre-install}
spec:
  backoffLimit: 0
  template:
    spec:
      schedulerName: nobody
      nodeName: ${nodeName}
      restartPolicy: Never
      containers: [{name: migrate, image: example.com/migrate}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
`;
  return chartArchive({ name, version: "1.0.0", templates: { "all.yaml": template } });
}

/** The pod of a Job, as soon as it has one. */
async function podOfJob(client: ClusterClient, name: string): Promise<string> {
  await waitForObject(client, jobs, { namespace, name }, "with a pod", (job) => {
    const { status } = job as { readonly status?: { readonly active?: number } };
    return status?.active === 1;
  });
  const labelSelector = `job-name=${name}`;
  const [created] = await client.reader.list(pods, { namespace, labelSelector });
  return created?.metadata.name ?? "";
}

/** As its kubelet and its container do. */
export async function completeJob(client: ClusterClient, name: string): Promise<void> {
  const pod = await podOfJob(client, name);
  await setPodStatus(client, { namespace, name: pod }, { phase: "Succeeded" });
}

/** As its kubelet and its container do. Returns the name of its pod. */
export async function failJob(client: ClusterClient, name: string): Promise<string> {
  const pod = await podOfJob(client, name);
  const terminated = { exitCode: 1, reason: "Error", message: "migration failed" };
  await setPodStatus(
    client,
    { namespace, name: pod },
    {
      phase: "Failed",
      containerStatuses: [
        {
          ...{ name: "migrate", image: "example.com/migrate", imageID: "", ready: false },
          ...{ restartCount: 0, state: { terminated } },
        },
      ],
    },
  );
  return pod;
}
