/** The sample of a new fleet: a HelmOp that follows a version constraint. */
import { apiVersion, type HelmOp, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { isAlreadyExists, type KubeRest } from "@flotilla/shared/kube/client";
import { keyOf } from "@flotilla/shared/kube/objects";
import { waitForObject } from "./wait.ts";

/** Name of the sample chart in both repositories, and its first version. */
export const sampleChart = "web";
export const sampleVersion = "0.1.5";

const readyTimeoutMs = 180_000;

/** `charts`: URL of the HTTP chart repository. */
function sampleHelmOp(charts: string): HelmOp {
  return {
    apiVersion,
    kind: "HelmOp",
    metadata: { namespace: workspaceNamespace, name: "sample" },
    spec: {
      helm: { repo: charts, chart: sampleChart, version: "0.1.x" },
      namespace: "sample",
      pollingInterval: "5s",
      targets: [{ clusterSelector: {} }],
    },
  };
}

/** Creates the sample HelmOp and waits until it is Ready in all clusters. */
export async function installSample(
  hub: KubeRest,
  charts: string,
  signal: AbortSignal,
): Promise<void> {
  const sample = sampleHelmOp(charts);
  try {
    await hub.create(helmOps, sample);
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
  }
  await waitForObject(
    helmOps,
    sample.metadata,
    (helmOp) => findCondition(helmOp?.status?.conditions, "Ready")?.status === "True",
    {
      rest: hub,
      timeoutMs: readyTimeoutMs,
      signal,
      onTimeout: (last) =>
        `wait for HelmOp ${keyOf(sample.metadata)}: not Ready after ${readyTimeoutMs / 1000} s: ${notTrue(last)}`,
    },
  );
}

function notTrue(helmOp: HelmOp | undefined): string {
  return (helmOp?.status?.conditions ?? [])
    .filter(({ status }) => status !== "True")
    .map(({ type, status, message }) => `${type}=${status} ${message ?? ""}`)
    .join("; ");
}
