import assert from "node:assert/strict";
import type { ReleaseDetail } from "@flotilla/shared/dashboard";
import { createElement } from "react";
import { describe, test } from "vitest";
import { app, cluster, fleet } from "../fleet/testing/index.ts";
import { readPage } from "../testing/read-page.ts";
import { ReleasePage } from "./release-page.tsx";

const ref = { kind: "HelmOp", namespace: "ns", name: "web" } as const;
const paris = { namespace: "ns", name: "paris" };
const earlier = "2026-01-01T11:58:00Z";

/** Nobody may read anything from its agent, unless it is said: to show that needs a browser. */
function page(more: Partial<ReleaseDetail> = {}) {
  const state = more.state ?? "Ready";
  const detail: ReleaseDetail = {
    app: ref,
    bundle: { namespace: "ns", name: "web" },
    state,
    sync: "InSync",
    health: "Healthy",
    suspended: false,
    uninstalling: false,
    cluster: paris,
    connected: true,
    conditions: [],
    notReady: [],
    modified: [],
    history: [],
    driftHistory: [],
    requests: [],
    actions: [],
    events: [],
    ...more,
  };
  const apps = [app("web", state, { desired: 12 })];
  return readPage(createElement(ReleasePage, { cluster: paris, app: ref }), {
    fleet: fleet(apps, [cluster("paris", "Ready")]),
    details: { "/api/v1/clusters/ns/paris/releases/HelmOp/ns/web": detail },
  });
}

const object = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
const settings = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" };

describe("the page of a release", () => {
  test("says whether it is as desired and whether it works, and leads to its cluster and its app", () => {
    const { text, links } = page({ since: earlier });

    assert.match(text, /web on paris Ready ?sync: In sync health: Healthy since 2m/);
    assert.equal(links["paris"], "/clusters/ns/paris");
    assert.equal(links["HelmOp web"], "/apps/HelmOp/ns/web");
  });

  test("names the objects that are not ready, with the reason of each", () => {
    const notReady = [{ ...object, state: "in-progress", message: "2 of 3 pods crash" }];
    const { text } = page({ state: "NotReady", health: "Degraded", notReady });

    assert.match(text, /that are not ready .*Deployment shop\/web ?in-progress 2 of 3 pods crash/);
    assert.match(text, /What to do: .*--cluster paris/);
  });

  test("names what others have changed, and who", () => {
    const fields = ["/data/a", "/data/b"];
    const modified = [
      { ...settings, fields, manager: "kubectl", time: earlier, result: "Detected" },
      { ...object, fields: [], result: "Missing" },
    ];
    const { text } = page({ state: "Modified", sync: "Modified", modified });

    assert.match(text, /ConfigMap shop\/settings ?modified \/data\/a, \/data\/b by kubectl 2m ago/);
    assert.match(text, /Deployment shop\/web ?missing/);
    assert.doesNotMatch(text, /Drift history/);
  });

  test("has the drift that was corrected", () => {
    const driftHistory = [
      { ...settings, fields: ["/data/a"], manager: "kubectl", time: earlier, result: "Corrected" },
    ];

    assert.match(
      page({ driftHistory }).text,
      /Drift history ?ConfigMap shop\/settings ?Corrected 2m ago \/data\/a by kubectl/,
    );
  });

  test("has no list of objects where all are as they should be", () => {
    assert.doesNotMatch(page().text, /Objects that are not ready/);
  });

  test("says which version is installed, and which one is desired", () => {
    const upgrading = page({
      release: "shop/web:3",
      version: "1.2.3",
      desiredVersion: "1.3.0",
      history: [
        {
          revision: 3,
          status: "deployed",
          action: "upgrade",
          chartVersion: "1.2.3",
          deployedAt: earlier,
        },
      ],
    });

    assert.match(upgrading.text, /Release shop\/web:3 Version 1\.2\.3 \(1\.3\.0 is desired\)/);
    assert.match(upgrading.text, /Revision 3: 1\.2\.3 ?upgrade deployed 2m ago/);
    assert.match(page().text, /Release not installed Version none/);
  });

  test("offers what the user may read of the agent, and says what it takes where that is nothing", () => {
    const { text, buttons } = page({ connected: false, requests: ["diff", "log"] });

    assert.deepEqual(buttons, ["Logs", "Diff"]);
    assert.doesNotMatch(text, /You may not read/);
    assert.match(page().text, /You may not read logs.* in namespace ns\./);
  });

  test("of a cluster that is offline says that it is old", () => {
    const { text } = page({ connected: false });

    assert.match(text, /The cluster is offline: this is what its agent has reported last\./);
    assert.match(text, /nothing can be read from it now/);
    assert.doesNotMatch(page().text, /offline/);
  });

  test("says on how many clusters its actions work", () => {
    const actions = [{ action: "force", allowed: true, command: "flotilla reconcile" }] as const;

    assert.match(page({ actions: [...actions] }).text, /Of HelmOp web, on 12 clusters: Force/);
  });
});
