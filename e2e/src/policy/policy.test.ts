/**
 * What a Policy rejects, what happens to deployments that a later Policy rejects, and Bundles that are applied without a
 * HelmOp: on a real fleet. Each test continues from the one before.
 */
import assert from "node:assert/strict";
import { type Bundle, bundles, type HelmOp } from "@flotilla/shared/api";
import { bundleFinalizer } from "@flotilla/shared/api/names";
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { createAdmin } from "../harness/rbac.ts";
import { lastRevision, waitUntilUninstalled } from "../harness/releases.ts";
import { currentCondition, waitUntilGone } from "../harness/wait.ts";
import { isBundleReady, startPolicyFleet } from "./policy-fleet.ts";

const policyFleet = await startPolicyFleet();
const { fleet, cluster, charts } = policyFleet;
const { workspace } = fleet;
const targets = [{ clusterSelector: {} }];
const guard = { helmOp: { allowedHelmRepoPatterns: ["https://charts\\.example\\.com/.*"] } };
for (const name of ["web", "shop", "own"])
  charts.publish(await configChart(name, "1.0.0"), await configChart(name, "1.1.0"));

/** The release goes to a namespace of its name. */
function releaseOf(chart: string, version: string) {
  return { namespace: chart, targets, helm: { repo: charts.url, chart, version } };
}

function isDisallowed(type: "Accepted" | "Ready"): (object: HelmOp | Bundle) => boolean {
  return (object) => /^disallowed helm repo/.test(currentCondition(object, type)?.message ?? "");
}

test("a HelmOp with a disallowed repository is rejected, and no request reaches the repository", async () => {
  await policyFleet.createPolicy("guard", guard);
  // The hub may see a HelmOp before it sees the Policy: once it rejects this one, it has seen it.
  await workspace.createHelmOp("marker", releaseOf("nothing", "1.0.0"));
  await workspace.waitForHelmOp("marker", "rejected", isDisallowed("Accepted"));
  const requests = charts.requests.length;

  await workspace.createHelmOp("web", releaseOf("web", "1.0.0"));
  const rejected = await workspace.waitForHelmOp("web", "rejected", isDisallowed("Accepted"));

  const { status, message = "" } = currentCondition(rejected, "Accepted") ?? {};
  assert.equal(status, "False");
  assert.match(
    message,
    /allowed set \[https:\/\/charts\\\.example\\\.com\/\.\*\] \(Policy guard\)/,
  );
  assert.equal(currentCondition(rejected, "Ready")?.status, "False");
  assert.equal(await workspace.bundle("web"), undefined);
  assert.equal(charts.requests.length, requests);
});

test("a Policy of another namespace has no effect, and a rejected HelmOp is deployed once its Policy is deleted", async () => {
  await policyFleet.createPolicy("guard", guard, "fleet-local");
  await policyFleet.deletePolicy("guard");

  await workspace.waitUntilReady("web", "1.0.0", 1);
  assert.equal((await policyFleet.installed("web"))?.["version"], "1.0.0");
});

test("a deployment that a new Policy rejects stays as it is, is sent no change, and continues when the Policy is deleted", async () => {
  await workspace.createHelmOp("shop", releaseOf("shop", "1.0.0"));
  await workspace.waitUntilReady("shop", "1.0.0", 1);
  const deployed = await policyFleet.deploymentIdOf("shop");

  await policyFleet.createPolicy("guard", guard);
  await workspace.waitForHelmOp(
    "shop",
    "rejected",
    (helmOp) => isDisallowed("Accepted")(helmOp) && isDisallowed("Ready")(helmOp),
  );
  await policyFleet.waitForBundle("shop", "rejected", isDisallowed("Ready"));

  await workspace.patchHelmOp("shop", { helm: { version: "1.1.0" } });
  await workspace.waitForHelmOp("shop", "rejected in its new generation", isDisallowed("Accepted"));
  await policyFleet.patchBundle("shop", { helm: { values: { greeting: "by hand" } } });
  await policyFleet.waitForBundle("shop", "rejected in its new generation", isDisallowed("Ready"));
  assert.equal(await policyFleet.deploymentIdOf("shop"), deployed);
  assert.equal((await policyFleet.installed("shop"))?.["version"], "1.0.0");

  await policyFleet.deletePolicy("guard");
  await workspace.waitUntilReady("shop", "1.1.0", 1);
  assert.deepEqual(await policyFleet.installed("shop"), { version: "1.1.0", greeting: "hello" });
});

test("a Bundle that a user applies is deployed, and its spec is not changed", async () => {
  charts.publish(await configChart("own", "1.0.5"));
  await policyFleet.createBundle("own", releaseOf("own", "1.0.x"));

  const ready = await policyFleet.waitForBundle("own", "ready at 1.0.5", isBundleReady("1.0.5"));

  assert.equal((await policyFleet.installed("own"))?.["version"], "1.0.5");
  assert.deepEqual(ready.spec, releaseOf("own", "1.0.x"));
  assert.deepEqual(ready.metadata.finalizers, [bundleFinalizer]);
});

test("its constraint stays resolved to the same version, also after a restart of the hub", async () => {
  charts.publish(await configChart("own", "1.0.9"));
  await fleet.stopHub();
  await fleet.startHub();

  await policyFleet.patchBundle("own", { helm: { values: { greeting: "hello again" } } });
  await policyFleet.waitForBundle("own", "ready with other values", isBundleReady("1.0.5"));

  assert.deepEqual(await policyFleet.installed("own"), {
    version: "1.0.5",
    greeting: "hello again",
  });
});

test("a new version in its spec is deployed", async () => {
  await policyFleet.patchBundle("own", { helm: { version: "~1.1" } });

  await policyFleet.waitForBundle("own", "ready at 1.1.0", isBundleReady("1.1.0"));
  assert.equal((await policyFleet.installed("own"))?.["version"], "1.1.0");
});

test("a Policy rejects it as it does a HelmOp, and a HelmOp of the same name does not change it", async () => {
  await policyFleet.createPolicy("guard", guard);
  const rejected = await policyFleet.waitForBundle("own", "rejected", isDisallowed("Ready"));
  assert.equal(rejected.status?.version, "1.1.0");
  await policyFleet.deletePolicy("guard");
  await policyFleet.waitForBundle("own", "ready again", isBundleReady("1.1.0"));

  await workspace.createHelmOp("own", releaseOf("web", "1.0.0"));
  await workspace.waitForHelmOp("own", "rejected", (helmOp) =>
    /^a Bundle fleet-default\/own exists already/.test(
      currentCondition(helmOp, "Accepted")?.message ?? "",
    ),
  );
  await policyFleet.waitForBundle("own", "still ready", isBundleReady("1.1.0"));
});

test("deleting it uninstalls it", async () => {
  const ref = workspace.ref("own");
  await workspace.deleteHelmOp("own");

  await fleet.hub.delete(bundles, ref);

  await waitUntilGone(fleet.hub, bundles, ref);
  await waitUntilUninstalled(cluster.client, "own");
});

test("a Bundle that cannot be deployed says what to change, and is deployed once it is changed", async () => {
  const { helm, ...place } = releaseOf("own", "9.9.9");
  const files = [{ name: "map.yaml", content: "kind: ConfigMap" }];
  await policyFleet.createBundle("files", { ...place, resources: files });
  const rejected = await policyFleet.waitForBundle("files", "rejected", (bundle) =>
    /^the Bundle has files of its own .* name a chart with spec\.helm\.repo/.test(
      currentCondition(bundle, "Ready")?.message ?? "",
    ),
  );
  assert.equal(
    rejected.metadata.finalizers,
    undefined,
    "a Bundle that is not deployed gets no finalizer",
  );

  await policyFleet.patchBundle("files", {
    resources: null,
    helm: { ...helm, releaseName: "own", vesion: "1" },
  });
  await policyFleet.waitForBundle("files", "reporting that there is no such version", (bundle) =>
    /9\.9\.9/.test(currentCondition(bundle, "Ready")?.message ?? ""),
  );

  await policyFleet.patchBundle("files", { helm: { version: "1.0.0" } });
  const ready = await policyFleet.waitForBundle("files", "ready at 1.0.0", isBundleReady("1.0.0"));
  assert.match(
    currentCondition(ready, "Ready")?.message ?? "",
    /unknown field spec\.helm\.vesion has no effect, did you mean spec\.helm\.version\?/,
  );
});

test("an address that a user writes into the Bundle of a HelmOp is overwritten", async () => {
  const before = await policyFleet.deploymentIdOf("web");
  const own = (await workspace.bundle("web"))?.spec;
  const pins = own?.helmOpOptions?.pins?.map((each) => ({
    ...each,
    pin: { ...each.pin, url: "http://127.0.0.1:1/elsewhere.tgz" },
  }));

  const patched = await policyFleet.patchBundle("web", { helmOpOptions: { pins } });
  const restored = await policyFleet.waitForBundle(
    "web",
    "as the hub wrote it",
    ({ metadata, status }) =>
      (metadata.generation ?? 0) > (patched.metadata.generation ?? 0) &&
      status?.observedGeneration === metadata.generation,
  );

  assert.deepEqual(restored.spec, own);
  assert.equal(await policyFleet.deploymentIdOf("web"), before);
});

test("forceSyncGeneration has Helm run once more", async () => {
  assert.equal(await lastRevision(cluster.client, "web"), 1);

  await workspace.patchHelmOp("web", { forceSyncGeneration: 1 });
  await workspace.waitUntilReady("web", "1.0.0", 1);

  assert.equal(await lastRevision(cluster.client, "web"), 2);
});

test("a Policy that requires a ServiceAccount gives HelmOps its default, and rejects a Bundle without one", async () => {
  await policyFleet.createPolicy("accounts", {
    requireServiceAccount: true,
    helmOp: { defaultServiceAccount: "deployer" },
  });

  const web = await workspace.waitForHelmOp("web", "missing its account", (helmOp) =>
    /service account flotilla-agent\/deployer not found/.test(
      currentCondition(helmOp, "Ready")?.message ?? "",
    ),
  );
  assert.equal(web.spec.serviceAccount, undefined, "the HelmOp stays as it was written");
  assert.equal((await workspace.bundle("web"))?.spec.serviceAccount, "deployer");
  await policyFleet.waitForBundle("files", "rejected", (bundle) =>
    /^serviceAccount is required by Policy but is not set on the Bundle: /.test(
      currentCondition(bundle, "Ready")?.message ?? "",
    ),
  );

  await createAdmin(cluster.client, "deployer");
  await workspace.waitUntilReady("web", "1.0.0", 1);
});

test("it also denies the creation of namespaces, unless it allows that", async () => {
  await workspace.createHelmOp("no-namespace", {
    ...releaseOf("web", "1.0.0"),
    namespace: "no-namespace",
  });
  await workspace.waitForHelmOp("no-namespace", "missing its namespace", (helmOp) =>
    /namespaces? "?no-namespace"? not found/.test(currentCondition(helmOp, "Ready")?.message ?? ""),
  );

  await policyFleet.patchPolicy("accounts", { allowNamespaceCreation: true });

  await workspace.waitUntilReady("no-namespace", "1.0.0", 1);
});

test("each violation was recorded as a Warning when it began, and for each later generation", async () => {
  // A hub flushes its events before it ends.
  await fleet.stopHub();

  // The Policy was created three times; the second time shop was changed, and so was its Bundle.
  assert.deepEqual(await policyFleet.violations(), [
    "Bundle files",
    "Bundle own",
    ...Array<string>(3).fill("Bundle shop"),
    ...Array<string>(2).fill("Bundle web"),
    ...Array<string>(3).fill("HelmOp marker"),
    ...Array<string>(3).fill("HelmOp shop"),
    ...Array<string>(3).fill("HelmOp web"),
  ]);
});
