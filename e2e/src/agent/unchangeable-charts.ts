/** Charts that server-side apply or an update refuses. */
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import { rejectedText } from "../harness/object-text.ts";

interface Job extends KubeObject {
  readonly spec?: {
    readonly template: { readonly spec: { readonly containers: readonly { image: string }[] } };
  };
}
const namespaced = { version: "v1", namespaced: true } as const;
export const jobs: Resource<Job> = { ...namespaced, group: "batch", kind: "Job", plural: "jobs" };
export const pods: Resource<KubeObject> = { ...namespaced, group: "", kind: "Pod", plural: "pods" };

/** A Deployment whose container has these fields. */
export function webText(container: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "example.com/web:1", ${container}}
`;
}

/** Objects that cannot be changed to those of another version; with `claim` a claim is one of them. */
export function frozenChart(version: string, isBroken = false): Promise<ChartArchive> {
  const labels = `{app: "v${version}"}`;
  const pod = `{restartPolicy: Never, containers: [{name: main, image: "example.com/main:${version}"}]}`;
  return chartArchive({
    name: "frozen",
    version,
    templates: {
      "job.yaml": `apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec: {template: {spec: ${pod}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: same}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.com/main}]}}}
`,
      "web.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: ${labels}}
  template: {metadata: {labels: ${labels}}, spec: {containers: [{name: main, image: example.com/main}]}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db-v${version.replaceAll(".", "-")}
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: main, image: example.com/main}]}}
`,
      "claim.yaml": `{{ if .Values.claim }}
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [{{ .Values.claim }}], resources: {requests: {storage: 1Gi}}}
{{ end }}`,
      // Fails after the objects were changed.
      ...(isBroken && { "rejected.yaml": rejectedText("post-upgrade") }),
    },
  });
}
