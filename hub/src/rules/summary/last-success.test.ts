import assert from "node:assert/strict";
import type { BundleDeployment, LastSuccess } from "@flotilla/shared/api";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { clusterKeyOf } from "../../base/cache/keys.ts";
import { aDeployment, digestA, workspace } from "../../testing/index.ts";
import { createDeploymentAggregates, toCounted } from "./bundle-aggregate.ts";
import { isOtherSuccess, lastSuccess } from "./last-success.ts";
import { summarize } from "./summarize.ts";

interface Given {
  readonly name: string;
  readonly revision?: number;
  readonly version?: string;
  readonly released?: "True" | "False" | "Unknown";
  readonly isOffline?: boolean;
  readonly isWaiting?: boolean;
  readonly uid?: string;
}

function deployment(given: Given): BundleDeployment {
  const { name, revision = 1, version = "1.0.0", released = "True", isWaiting, uid } = given;
  return aDeployment(name, {
    metadata: { uid: uid ?? `uid-${name}` },
    status: {
      ...(isWaiting !== true && { appliedDeploymentID: digestA }),
      ready: true,
      release: `web/web:${revision}`,
      version,
      conditions: [{ type: "Released", status: released }],
    },
  });
}

function success(name: string, revision = 1, version = "1.0.0", uid = `uid-${name}`): LastSuccess {
  const key = keyOf(aDeployment(name));
  return { deployment: key, uid, release: `web/web:${revision}`, version };
}

function of(known: LastSuccess | undefined, given: readonly Given[]): LastSuccess | undefined {
  const deployments = given.map(deployment);
  const offline = new Set(given.flatMap((each) => (each.isOffline ? [each.name] : [])));
  const isOffline = (each: BundleDeployment) =>
    offline.has(clusterKeyOf(each).slice(workspace.length + 1));
  const aggregates = createDeploymentAggregates();
  for (const each of deployments) aggregates.change(undefined, toCounted(each, isOffline(each)));
  const aggregate = aggregates.ofBundle(`${workspace}/web`);
  const lookUp = (key: string) => deployments.find((each) => keyOf(each) === key);
  const summary = summarize({ aggregate, pending: 0, lookUp, nameOf: clusterKeyOf });
  return lastSuccess({ aggregate, summary, known, lookUp, isOffline });
}

describe("what was last released in all clusters", () => {
  const rows: readonly (readonly [
    what: string,
    known: LastSuccess | undefined,
    given: readonly Given[],
    expected: LastSuccess | undefined,
    isAnnounced: boolean,
  ])[] = [
    [
      "is that of the first cluster",
      undefined,
      [{ name: "oslo" }, { name: "rome" }],
      success("oslo"),
      true,
    ],
    ["is none before the first", undefined, [{ name: "oslo", isWaiting: true }], undefined, false],
    ["is none without clusters", success("oslo"), [], undefined, false],
    [
      "stays while a cluster that joined waits",
      success("oslo"),
      [{ name: "bonn", isWaiting: true }, { name: "oslo" }],
      success("oslo"),
      false,
    ],
    [
      "stays when the cluster that joined is before it",
      success("oslo", 7),
      [{ name: "bonn" }, { name: "oslo", revision: 7 }],
      success("oslo", 7),
      false,
    ],
    [
      "stays while a cluster that joined is being installed",
      success("oslo"),
      [{ name: "bonn", released: "Unknown" }, { name: "oslo" }],
      success("oslo"),
      false,
    ],
    [
      "stays while another failed",
      success("oslo"),
      [
        { name: "bonn", released: "False" },
        { name: "oslo", revision: 2 },
      ],
      success("oslo"),
      false,
    ],
    [
      "is another cluster's when its own has left, and is the same",
      success("oslo", 7),
      [{ name: "rome", revision: 3 }],
      success("rome", 3),
      false,
    ],
    [
      "is the same when its own cluster has left and was created again",
      success("oslo", 7),
      [{ name: "oslo", uid: "other" }],
      success("oslo", 1, "1.0.0", "other"),
      false,
    ],
    [
      "is of the version that is known, where targets have different ones",
      success("oslo"),
      [{ name: "bonn", version: "2.0.0" }, { name: "rome" }],
      success("rome"),
      false,
    ],
    [
      "is another with another revision",
      success("oslo"),
      [{ name: "bonn" }, { name: "oslo", revision: 2 }],
      success("oslo", 2),
      true,
    ],
    [
      "is another with another version while its own cluster is offline",
      success("oslo"),
      [
        { name: "oslo", isOffline: true },
        { name: "rome", revision: 2, version: "1.1.0" },
      ],
      success("rome", 2, "1.1.0"),
      true,
    ],
    [
      "stays when all are offline",
      success("oslo"),
      [{ name: "oslo", isOffline: true }],
      success("oslo"),
      false,
    ],
  ];
  test.each(rows)("%s", (_, known, given, expected, isAnnounced) => {
    const found = of(known, given);

    assert.deepEqual(found, expected);
    const isOther = found !== undefined && (known === undefined || isOtherSuccess(known, found));
    assert.equal(isOther, isAnnounced);
  });
});
