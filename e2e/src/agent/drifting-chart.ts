/** What the tests of drift install, and what they ask of a report. */
import type { DeploymentState } from "@flotilla/proto";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { type ChartArchive, chartArchive } from "../harness/chart-archive.ts";
import type { ClusterClient } from "../harness/cluster-client.ts";

/** A ConfigMap, a Secret, a Service and a Deployment. */
export function driftingChart(): Promise<ChartArchive> {
  return chartArchive({
    ...{ name: "app", version: "1.0.0" },
    templates: {
      "config.yaml":
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {mode: calm}\n",
      "secret.yaml":
        "apiVersion: v1\nkind: Secret\nmetadata: {name: secret}\nstringData: {password: correct-horse}\n",
      "service.yaml":
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n",
      "web.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: example.com/web:1, env: [{name: A, value: "1"}]}]}
`,
    },
  });
}

/** Whether this number of objects has drift now. */
export function hasDrift(count: number) {
  return ({ drift }: DeploymentState): boolean => (drift?.count ?? 0) === count;
}

/** Whether the history has it. */
export function hasResult(result: string) {
  return ({ drift }: DeploymentState): boolean =>
    drift?.history.some((each) => each.result === result) === true;
}

/** Status, reason and message of the condition Drifted. */
export function driftedText({ conditions }: DeploymentState): string | undefined {
  const found = conditions?.find(({ type }) => type === "Drifted");
  return found && `${found.status} ${found.reason} ${found.message}`;
}

/** Changes an object as somebody else. */
export function changesIn(client: ClusterClient) {
  return async <T extends KubeObject>(
    resource: Resource<T>,
    namespace: string,
    name: string,
    body: unknown,
    fieldManager = "somebody",
  ): Promise<void> => {
    await client.patch(resource, { namespace, name }, { type: "merge", body }, { fieldManager });
  };
}
