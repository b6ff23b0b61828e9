import assert from "node:assert/strict";
import type { BundleSummary, Condition, HelmOp } from "@flotilla/shared/api";
import { helmOpLabel, helmReleaseLabel } from "@flotilla/shared/api/names";
import type { AppRef, AppState } from "@flotilla/shared/dashboard";
import { describe, test } from "vitest";
import { helmOpView } from "../../frontends/helmop/view.ts";
import { aDeployment, createWatchedStore, workspace } from "../../testing/index.ts";
import { appRefOfDeployment } from "./app-of.ts";

const condition = (type: string, status: Condition["status"], message = ""): Condition => ({
  ...{ type, status, reason: "Reason", message, lastTransitionTime: "2026-01-01T00:00:00Z" },
});
const ready = condition("Ready", "True");
const stalled = condition("Stalled", "True", "no such chart");

function helmOp(conditions: readonly Condition[], summary?: Partial<BundleSummary>): HelmOp {
  return {
    metadata: { namespace: "ns", name: "web", generation: 2 },
    spec: { helm: { chart: "web" } },
    status: {
      observedGeneration: 2,
      conditions: [...conditions],
      ...(summary !== undefined && { summary: { ready: 0, desiredReady: 3, ...summary } }),
    },
  };
}

const { appOf: shown } = helmOpView(createWatchedStore<HelmOp>());

describe("the state of an app", () => {
  const rows: readonly (readonly [string, HelmOp, AppState, string | undefined])[] = [
    ["is Ready when all of it is", helmOp([ready], { ready: 3 }), "Ready", undefined],
    [
      "is that of the worst release, with the message of Ready",
      helmOp([condition("Ready", "False", "bad")], { errApplied: 1, modified: 1 }),
      "ErrApplied",
      "bad",
    ],
    [
      "is NotAccepted, whatever its releases are",
      helmOp([condition("Accepted", "False", "no"), ready], { errApplied: 1 }),
      "NotAccepted",
      "no",
    ],
    [
      "is Stalled when what is deployed is ready and its source cannot be read",
      helmOp([ready, stalled], { ready: 3 }),
      "Stalled",
      "no such chart",
    ],
    [
      "is not Stalled while a release has failed",
      helmOp([condition("Ready", "False", "bad"), stalled], { notReady: 1 }),
      "NotReady",
      "bad",
    ],
    [
      "is Stalled when it is not ready for another reason than its releases",
      helmOp([condition("Ready", "False", "source not ready")]),
      "Stalled",
      "source not ready",
    ],
    [
      "is Progressing until its spec was reconciled",
      { ...helmOp([ready]), metadata: { namespace: "ns", name: "web", generation: 3 } },
      "Progressing",
      undefined,
    ],
    [
      "is NoTargets when it is deployed nowhere",
      helmOp([{ ...condition("Ready", "True", "env has prod"), reason: "NoTargets" }]),
      "NoTargets",
      "env has prod",
    ],
    ["is Offline when only that is known", helmOp([ready], { offline: 1 }), "Offline", undefined],
  ];
  for (const [name, object, state, message] of rows)
    test(name, () => {
      const app = shown(object);
      assert.deepEqual([app.state, app.message], [state, message]);
    });
});

describe("what a page needs beside the state", () => {
  test("is a few clusters in that state, from fields of the summary", () => {
    const nonReadyResources = ["a", "b", "c", "d"].map((name) => ({
      ...{ name: `ns/${name}`, bundleState: "ErrApplied", message: "no" },
    }));
    const app = shown(
      helmOp([condition("Ready", "False", "ErrApplied(4) [Cluster ns/a: no]")], {
        errApplied: 4,
        nonReadyResources: [{ name: "ns/x", bundleState: "Modified" }, ...nonReadyResources],
      }),
    );
    assert.deepEqual(app.examples, [
      { cluster: "ns/a", state: "ErrApplied", message: "no" },
      { cluster: "ns/b", state: "ErrApplied", message: "no" },
      { cluster: "ns/c", state: "ErrApplied", message: "no" },
    ]);
  });

  test("is drift by object, without its JSON patch", () => {
    const patch = '[{"op":"replace","path":"/spec/replicas","value":2}]';
    const object = { kind: "Deployment", namespace: "shop", name: "web", patch };
    const app = shown(
      helmOp([condition("Ready", "False")], {
        modified: 1,
        nonReadyResources: [
          { name: "ns/a", bundleState: "Modified", message: patch, modifiedStatus: [object] },
        ],
      }),
    );
    assert.deepEqual(app.examples, [
      { cluster: "ns/a", state: "Modified", message: "Deployment shop/web: changed" },
    ]);
  });

  test("is the code of the rejection where there is one, not that of an earlier request", () => {
    const own = helmOp([condition("Accepted", "False", "no")]);
    const polling = { error: "401", code: "REGISTRY_UNAUTHORIZED" };
    const status = { ...own.status, polling, rejectedCode: "POLICY_VIOLATION" };
    assert.equal(shown({ ...own, status }).code, "POLICY_VIOLATION");
  });

  test("is the code of the failed request, the Secret, and what it waits for", () => {
    const own = helmOp([condition("Accepted", "False", "401")]);
    const app = shown({
      ...own,
      spec: {
        ...{ ...own.spec, helmSecretName: "login" },
        dependsOn: [{ name: "base" }, { name: "helmrelease-db" }, { selector: {} }],
      },
      status: { ...own.status, polling: { error: "401", code: "REGISTRY_UNAUTHORIZED" } },
    });
    assert.deepEqual(
      [app.code, app.secret, app.waitsFor],
      [
        "REGISTRY_UNAUTHORIZED",
        "login",
        [
          { kind: "HelmOp", namespace: "ns", name: "base" },
          { kind: "HelmRelease", namespace: "ns", name: "db" },
        ],
      ],
    );
  });
});

describe("the app of a deployment without its Bundle", () => {
  const own = aDeployment("paris").metadata.labels;
  const rows: readonly (readonly [
    string,
    Record<string, string> | undefined,
    Partial<AppRef> | undefined,
  ])[] = [
    ["is its HelmOp", { ...own, [helmOpLabel]: "shop" }, { kind: "HelmOp", name: "shop" }],
    [
      "is its HelmRelease",
      { ...own, [helmReleaseLabel]: "shop" },
      { kind: "HelmRelease", name: "shop" },
    ],
    ["is the Bundle without either", own, { kind: "Bundle", name: "web" }],
    ["is unknown without labels", undefined, undefined],
  ];
  test.each(rows)("%s", (_, labels, expected) => {
    const { labels: __, ...others } = aDeployment("paris").metadata;
    const deployment = {
      ...aDeployment("paris"),
      metadata: { ...others, ...(labels !== undefined && { labels }) },
    };
    assert.deepEqual(
      appRefOfDeployment(deployment),
      expected && { namespace: workspace, ...expected },
    );
  });
});
