import assert from "node:assert/strict";
import type { App, FleetCluster } from "@flotilla/shared/dashboard";
import { stateCharacters } from "@flotilla/shared/dashboard/states";
import { describe, test } from "vitest";
import type { AnyState } from "../state/index.ts";
import { adviceFor } from "./advice.ts";
import { clusterKey, type FleetState, objectKey, type Row } from "./fleet-state.ts";
import { type Concern, concernsOf, countStates, headline } from "./summary.ts";

const app = (name: string, state: App["state"], more: Partial<App> = {}): App => ({
  ...{ kind: "HelmOp", namespace: "ns", name, state, suspended: false, chart: "web" },
  ...{ labels: {}, ready: 0, desired: 2, offline: 0, isChanging: false, ...more },
});
const cluster = (name: string, state: FleetCluster["state"], since?: string): FleetCluster => ({
  ...{ namespace: "ns", name, state, connected: true, labels: {}, ready: 1, desired: 1 },
  ...(since !== undefined && { since }),
});

/** Of an app that has a release in each cluster. */
function rowIn(clusters: number): Row {
  const states = new Uint8Array(clusters).fill(stateCharacters.Ready.charCodeAt(0));
  return { states, versionOf: new Uint16Array(clusters), versions: [] };
}

function fleet(apps: readonly App[], clusters: readonly FleetCluster[]): FleetState {
  return {
    ...{ position: "", clockOffsetMs: 0, events: [] },
    columns: clusters.map(clusterKey),
    columnOf: new Map(clusters.map((each, column) => [clusterKey(each), column])),
    rows: new Map(apps.map((each) => [objectKey(each), rowIn(clusters.length)])),
    apps: new Map(apps.map((each) => [objectKey(each), each])),
    clusters: new Map(clusters.map((each) => [clusterKey(each), each])),
    ...{ sources: new Map(), releaseChanges: new Map() },
  };
}

describe("what needs attention", () => {
  test("is the worst first, then what began first", () => {
    const concerns = concernsOf(
      fleet(
        [
          app("stalled", "Stalled"),
          app("late", "ErrApplied", { since: "2026-01-02T00:00:00Z" }),
          app("early", "ErrApplied", { since: "2026-01-01T00:00:00Z" }),
          app("fine", "Ready"),
          app("busy", "WaitApplied"),
        ],
        [cluster("gone", "Offline"), cluster("failing", "ErrApplied")],
      ),
    );
    assert.deepEqual(
      concerns.map(({ name }) => name),
      ["early", "late", "stalled", "gone"],
    );
  });

  test("is what has failed although it is suspended, and a cluster whose agent has never connected", () => {
    const concerns = concernsOf(
      fleet([app("a", "ErrApplied", { suspended: true })], [cluster("new", "WaitCheckIn")]),
    );
    assert.deepEqual(
      concerns.map(({ name, suspended }) => [name, suspended]),
      [
        ["a", true],
        ["new", false],
      ],
    );
  });

  test("is a cluster without its agent once, and not each app that goes there", () => {
    const apps = [app("a", "Offline"), app("b", "Offline"), app("c", "Ready")];
    const namesOf = (clusters: readonly FleetCluster[]) =>
      concernsOf(fleet(apps, clusters)).map(({ name }) => name);
    assert.deepEqual(namesOf([cluster("gone", "Offline"), cluster("here", "Ready")]), ["gone"]);
    // To a user who may not list clusters.
    assert.deepEqual(namesOf([]), ["a", "b"]);
  });

  test("is a cluster whose failed releases the user may not see", () => {
    const concerns = concernsOf(fleet([], [cluster("failing", "ErrApplied")]));
    assert.deepEqual(
      concerns.map(({ name }) => name),
      ["failing"],
    );
  });

  test("is counted in one sentence", () => {
    const rows: readonly (readonly [FleetState, string])[] = [
      [fleet([], []), "Nothing is here yet, or nothing that you may list"],
      [
        fleet([app("a", "Ready")], [cluster("x", "Ready"), cluster("y", "Ready")]),
        "All is well: 1 app on 2 clusters, all ready",
      ],
      [
        fleet([app("a", "WaitApplied")], [cluster("x", "WaitApplied")]),
        "1 change in progress, on 1 app on 1 cluster; nothing failed",
      ],
      [
        fleet([app("a", "ErrApplied")], [cluster("x", "ErrApplied")]),
        "1 thing needs attention, of 1 app on 1 cluster",
      ],
      [
        fleet([app("a", "OutOfSync", { suspended: true }), app("b", "Ready")], []),
        "Nothing failed: 2 apps on 0 clusters; 1 change waits until somebody resumes what is suspended",
      ],
    ];
    for (const [state, text] of rows) assert.equal(headline(state, concernsOf(state)), text);
  });

  test("is counted by state, the worst first", () => {
    const states = (["Ready", "Offline", "Ready", "ErrApplied"] as const).map((state) => ({
      state,
    }));
    assert.deepEqual(countStates(states), [
      { state: "ErrApplied", count: 1 },
      { state: "Offline", count: 1 },
      { state: "Ready", count: 2 },
    ]);
  });
});

describe("what to do", () => {
  const concern = (kind: Concern["kind"], state: AnyState, message = ""): Concern => ({
    ...{ kind, namespace: "ns", name: "web", state, message, reason: "", since: "" },
    ...{ suspended: false, clusters: 1 },
  });

  test("is said for everything that needs attention", () => {
    for (const state of ["NotAccepted", "ErrApplied", "NotReady", "Modified", "Stalled"] as const)
      assert.ok((adviceFor(concern("HelmOp", state))?.text ?? "").length > 20, state);
    assert.match(adviceFor(concern("Cluster", "Offline"))?.command ?? "", /flotilla-agent/);
    assert.match(adviceFor(concern("Cluster", "WaitCheckIn"))?.text ?? "", /registration token/);
    assert.match(adviceFor(concern("HelmOp", "Offline"))?.text ?? "", /reconnect/);
    assert.match(adviceFor(concern("HelmRepository", "Failed"))?.command ?? "", /kubectl edit/);
  });

  test("is not read from words in an error of Helm or of a pod", () => {
    const timedOut = "release shop/web was not ready at the end of its timeout: 401 Unauthorized";
    for (const state of ["ErrApplied", "NotReady"] as const)
      assert.doesNotMatch(adviceFor(concern("HelmOp", state, timedOut))?.text ?? "", /network|hub/);
  });

  test("names a command that the kind has", () => {
    const commandFor = (kind: Concern["kind"]) => adviceFor(concern(kind, "ErrApplied"))?.command;
    assert.equal(commandFor("HelmOp"), "flotilla reconcile helmop web -n ns --reset");
    assert.equal(commandFor("HelmRelease"), "flux reconcile helmrelease web -n ns --reset");
    assert.equal(commandFor("Bundle"), "kubectl describe bundle web -n ns");
  });

  const cases: readonly (readonly [string, string, RegExp])[] = [
    ["the Secret where credentials are rejected", "GET https://r: 401 Unauthorized", /Secret/],
    ["the network where nothing answers", "GET http://r/index.yaml: connection refused", /network/],
    ["the constraint where no version fits", "no chart version found for web-9", /constraint/],
  ];
  for (const [name, message, advice] of cases)
    test(`is about ${name}`, () => {
      assert.match(adviceFor(concern("HelmOp", "NotAccepted", message))?.text ?? "", advice);
    });
});
