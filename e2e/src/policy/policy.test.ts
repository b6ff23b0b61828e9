/**
 * What a Policy forbids, what becomes of that which it comes to forbid later, and Bundles that somebody applies without a
 * HelmOp: on a real fleet. The tests go on from each other.
 */
import assert from "node:assert/strict";
import { type Bundle, bundles, type HelmOp } from "@flotilla/shared/api";
import { bundleFinalizer, workspaceNamespace } from "@flotilla/shared/api/names";
import { test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { helmOpThat, isReady, objectThat } from "../harness/wait.ts";
import { conditionOf, isBundleReady, startPolicyBench } from "./policy-fleet.ts";

const bench = await startPolicyBench();
const { fleet, charts } = bench;
const targets = [{ clusterSelector: {} }];
const guard = { helmOp: { allowedHelmRepoPatterns: ["https://charts\\.example\\.com/.*"] } };
for (const name of ["web", "shop", "own"])
  charts.publish(await configChart(name, "1.0.0"), await configChart(name, "1.1.0"));

/** The release goes to a namespace of its name. */
function releaseOf(chart: string, version: string) {
  return { namespace: chart, targets, helm: { repo: charts.url, chart, version } };
}

function isForbidden(type: "Accepted" | "Ready"): (object: HelmOp | Bundle) => boolean {
  return (object) => /^disallowed helm repo/.test(conditionOf(object, type)?.message ?? "");
}

test("a HelmOp with a forbidden repository is refused, and the repository is not asked", async () => {
  await bench.createPolicy("guard", guard);
  // The hub may hear of a HelmOp before it hears of the Policy: this one tells when it has.
  await bench.createHelmOp("marker", releaseOf("nothing", "1.0.0"));
  await helmOpThat(fleet.hub, "marker", "refused", isForbidden("Accepted"));
  const requests = charts.requests.length;

  await bench.createHelmOp("web", releaseOf("web", "1.0.0"));
  const refused = await helmOpThat(fleet.hub, "web", "refused", isForbidden("Accepted"));

  const { status, message = "" } = conditionOf(refused, "Accepted") ?? {};
  assert.equal(status, "False");
  assert.match(
    message,
    /allowed set \[https:\/\/charts\\\.example\\\.com\/\.\*\] \(Policy guard\)/,
  );
  assert.equal(conditionOf(refused, "Ready")?.status, "False");
  assert.equal(await fleet.hub.get(bundles, refused.metadata), undefined);
  assert.equal(charts.requests.length, requests);
});

test("a Policy of another namespace means nothing here, and what was refused is deployed once its own is gone", async () => {
  await bench.createPolicy("guard", guard, "fleet-local");
  await bench.removePolicy("guard");

  await helmOpThat(fleet.hub, "web", "ready", isReady("1.0.0", 1));
  assert.equal((await bench.installed("web"))?.["version"], "1.0.0");
});

test("what is deployed stays when a Policy comes to forbid it, nothing new is handed out, and it goes on when that ends", async () => {
  await bench.createHelmOp("shop", releaseOf("shop", "1.0.0"));
  await helmOpThat(fleet.hub, "shop", "ready", isReady("1.0.0", 1));
  const deployed = await bench.contentOf("shop");

  await bench.createPolicy("guard", guard);
  await helmOpThat(
    fleet.hub,
    "shop",
    "forbidden",
    (helmOp) => isForbidden("Accepted")(helmOp) && isForbidden("Ready")(helmOp),
  );
  await bench.bundleThat("shop", "forbidden", isForbidden("Ready"));

  await bench.changeHelmOp("shop", { helm: { version: "1.1.0" } });
  await helmOpThat(fleet.hub, "shop", "forbidden in its new generation", isForbidden("Accepted"));
  await bench.changeBundle("shop", { helm: { values: { greeting: "by hand" } } });
  await bench.bundleThat("shop", "forbidden in its new generation", isForbidden("Ready"));
  assert.equal(await bench.contentOf("shop"), deployed);
  assert.equal((await bench.installed("shop"))?.["version"], "1.0.0");

  await bench.removePolicy("guard");
  await helmOpThat(fleet.hub, "shop", "ready at 1.1.0", isReady("1.1.0", 1));
  assert.deepEqual(await bench.installed("shop"), { version: "1.1.0", greeting: "hello" });
});

test("a Bundle that somebody applies is deployed, and its spec stays its author's", async () => {
  charts.publish(await configChart("own", "1.0.5"));
  await bench.createBundle("own", releaseOf("own", "1.0.x"));

  const ready = await bench.bundleThat("own", "ready at 1.0.5", isBundleReady("1.0.5"));

  assert.equal((await bench.installed("own"))?.["version"], "1.0.5");
  assert.deepEqual(ready.spec, releaseOf("own", "1.0.x"));
  assert.deepEqual(ready.metadata.finalizers, [bundleFinalizer]);
});

test("its constraint stays at what it came to, also for a hub that starts anew", async () => {
  charts.publish(await configChart("own", "1.0.9"));
  await fleet.stopHub();
  await fleet.startHub();

  await bench.changeBundle("own", { helm: { values: { greeting: "hello again" } } });
  await bench.bundleThat("own", "ready with other values", isBundleReady("1.0.5"));

  assert.deepEqual(await bench.installed("own"), { version: "1.0.5", greeting: "hello again" });
});

test("another version in its spec is followed", async () => {
  await bench.changeBundle("own", { helm: { version: "~1.1" } });

  await bench.bundleThat("own", "ready at 1.1.0", isBundleReady("1.1.0"));
  assert.equal((await bench.installed("own"))?.["version"], "1.1.0");
});

test("a Policy holds it as it does a HelmOp's, and a HelmOp of its name leaves it alone", async () => {
  await bench.createPolicy("guard", guard);
  const held = await bench.bundleThat("own", "forbidden", isForbidden("Ready"));
  assert.equal(held.status?.version, "1.1.0");
  await bench.removePolicy("guard");
  await bench.bundleThat("own", "ready again", isBundleReady("1.1.0"));

  await bench.createHelmOp("own", releaseOf("web", "1.0.0"));
  await helmOpThat(fleet.hub, "own", "refused", (helmOp) =>
    /^a Bundle fleet-default\/own exists already/.test(
      conditionOf(helmOp, "Accepted")?.message ?? "",
    ),
  );
  await bench.bundleThat("own", "ready still", isBundleReady("1.1.0"));
});

test("deleting it uninstalls it", async () => {
  const ref = { namespace: workspaceNamespace, name: "own" };
  await bench.removeHelmOp("own");

  await fleet.hub.delete(bundles, ref);

  await objectThat(fleet.hub, bundles, ref, "gone", (bundle) => bundle === undefined);
  await bench.uninstalled("own");
});

test("one that cannot be deployed says what to change, and is deployed once that is done", async () => {
  const { helm, ...place } = releaseOf("own", "9.9.9");
  const files = [{ name: "map.yaml", content: "kind: ConfigMap" }];
  await bench.createBundle("files", { ...place, resources: files });
  const held = await bench.bundleThat("files", "refused", (bundle) =>
    /^the Bundle has files of its own .* name a chart with spec\.helm\.repo/.test(
      conditionOf(bundle, "Ready")?.message ?? "",
    ),
  );
  assert.equal(held.metadata.finalizers, undefined, "what is not ours to deploy is left alone");

  await bench.changeBundle("files", {
    resources: null,
    helm: { ...helm, releaseName: "own", vesion: "1" },
  });
  await bench.bundleThat("files", "told that there is no such version", (bundle) =>
    /9\.9\.9/.test(conditionOf(bundle, "Ready")?.message ?? ""),
  );

  await bench.changeBundle("files", { helm: { version: "1.0.0" } });
  const ready = await bench.bundleThat("files", "ready at 1.0.0", isBundleReady("1.0.0"));
  assert.match(
    conditionOf(ready, "Ready")?.message ?? "",
    /unknown field spec\.helm\.vesion has no effect, did you mean spec\.helm\.version\?/,
  );
});

test("an address that somebody writes into a HelmOp's Bundle goes nowhere", async () => {
  const before = await bench.contentOf("web");
  const own = (await fleet.hub.get(bundles, { namespace: workspaceNamespace, name: "web" }))?.spec;
  const pins = own?.helmOpOptions?.pins?.map((each) => ({
    ...each,
    pin: { ...each.pin, url: "http://127.0.0.1:1/elsewhere.tgz" },
  }));

  const forged = await bench.changeBundle("web", { helmOpOptions: { pins } });
  const restored = await bench.bundleThat(
    "web",
    "as the hub wrote it",
    ({ metadata, status }) =>
      (metadata.generation ?? 0) > (forged.metadata.generation ?? 0) &&
      status?.observedGeneration === metadata.generation,
  );

  assert.deepEqual(restored.spec, own);
  assert.equal(await bench.contentOf("web"), before);
});

test("forceSyncGeneration has Helm run once more", async () => {
  assert.equal(await bench.revisionsOf("web"), 1);

  await bench.changeHelmOp("web", { forceSyncGeneration: 1 });
  await helmOpThat(fleet.hub, "web", "ready", isReady("1.0.0", 1));

  assert.equal(await bench.revisionsOf("web"), 2);
});

test("a Policy that requires a ServiceAccount gives HelmOps its default, and refuses a Bundle without one", async () => {
  await bench.createPolicy("accounts", {
    requireServiceAccount: true,
    helmOp: { defaultServiceAccount: "deployer" },
  });

  const web = await helmOpThat(fleet.hub, "web", "missing its account", (helmOp) =>
    /service account flotilla-agent\/deployer not found/.test(
      conditionOf(helmOp, "Ready")?.message ?? "",
    ),
  );
  assert.equal(web.spec.serviceAccount, undefined, "the HelmOp stays as it was written");
  assert.equal((await fleet.hub.get(bundles, web.metadata))?.spec.serviceAccount, "deployer");
  await bench.bundleThat("files", "refused", (bundle) =>
    /^serviceAccount is required by Policy but is not set on the Bundle: /.test(
      conditionOf(bundle, "Ready")?.message ?? "",
    ),
  );

  await bench.makeAdmin("deployer");
  await helmOpThat(fleet.hub, "web", "ready as its account", isReady("1.0.0", 1));
});

test("and keeps namespaces from being made, unless it allows that", async () => {
  await bench.createHelmOp("unhoused", { ...releaseOf("web", "1.0.0"), namespace: "unhoused" });
  await helmOpThat(fleet.hub, "unhoused", "missing its namespace", (helmOp) =>
    /namespaces? "?unhoused"? not found/.test(conditionOf(helmOp, "Ready")?.message ?? ""),
  );

  await bench.changePolicy("accounts", { allowNamespaceCreation: true });

  await helmOpThat(fleet.hub, "unhoused", "ready", isReady("1.0.0", 1));
});

test("each violation was told as a Warning when it began, and for each generation since", async () => {
  // A hub that ends has sent its events.
  await fleet.stopHub();

  // The Policy was there three times; the second time shop was changed, and so was its Bundle.
  assert.deepEqual(await bench.violations(), [
    "Bundle files",
    "Bundle own",
    ...Array<string>(3).fill("Bundle shop"),
    ...Array<string>(2).fill("Bundle web"),
    ...Array<string>(3).fill("HelmOp marker"),
    ...Array<string>(3).fill("HelmOp shop"),
    ...Array<string>(3).fill("HelmOp web"),
  ]);
});
