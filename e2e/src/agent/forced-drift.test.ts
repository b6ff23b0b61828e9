/** Drift that cannot be changed back, with force: what holds data stays. */
import assert from "node:assert/strict";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { waitForObject } from "../harness/wait.ts";
import { startAgentCluster } from "./agent-cluster.ts";
import { assignmentOf } from "./assignment.ts";
import { changesIn, driftedText, hasResult } from "./drifting-chart.ts";
import { startRestartableAgent } from "./restartable-agent.ts";

interface Claim extends KubeObject {
  readonly status?: { readonly phase?: string };
}
const claims: Resource<Claim> = {
  ...{ group: "", version: "v1", plural: "persistentvolumeclaims" },
  ...{ kind: "PersistentVolumeClaim", namespaced: true },
};
const storageClasses: Resource<KubeObject> = {
  ...{ group: "storage.k8s.io", version: "v1", plural: "storageclasses" },
  ...{ kind: "StorageClass", namespaced: false },
};

const { client, charts, spec } = await startAgentCluster();
const agent = await startRestartableAgent(spec);
const change = changesIn(client);
const chart = await chartArchive({
  ...{ name: "store", version: "1.0.0" },
  templates: {
    "claim.yaml": `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`,
  },
});
charts.publish(chart);

test("a claim that somebody has expanded cannot shrink, and is not deleted for it", async () => {
  await client.patch(
    storageClasses,
    { name: "standard" },
    { type: "merge", body: { allowVolumeExpansion: true } },
  );
  const drift = { mode: "enabled", force: true } as const;
  const { url } = charts;
  await agent.intake.assign(await assignmentOf({ name: "store", chart, url, drift }));
  await agent.report(({ phase }) => phase === "deployed");
  const ref = { namespace: "store", name: "data" };
  const bound = await waitForObject(
    client,
    claims,
    ref,
    "bound",
    ({ status }) => status?.phase === "Bound",
  );
  const storage = "2Gi";
  await client.patch(
    claims,
    ref,
    { type: "merge", body: { status: { capacity: { storage } } } },
    { subresource: "status" },
  );

  await change(claims, "store", "data", { spec: { resources: { requests: { storage } } } });

  const failed = await agent.report(hasResult("CorrectionFailed"));
  assert.match(
    driftedText(failed) ?? "",
    /PersistentVolumeClaim store\/data cannot be changed back: the API server rejects/,
  );
  assert.equal((await client.get(claims, ref))?.metadata.uid, bound.metadata.uid);
});
