import assert from "node:assert/strict";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import {
  configMaps,
  deployments,
  type Event,
  events,
  type KubeObject,
  type Resource,
} from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import { writeEvents } from "./events.ts";
import type { TreeDeps } from "./resource-tree.ts";
import { writeResources } from "./resources.ts";

const resource = (group: string, kind: string, plural: string): Resource<KubeObject> => ({
  ...{ group, version: "v1", kind, plural, namespaced: true },
});
const [replicaSets, pods] = [
  resource("apps", "ReplicaSet", "replicasets"),
  resource("", "Pod", "pods"),
];
const namespace = "shop";
const kinds: Readonly<Record<string, Resource<KubeObject>>> = {
  ConfigMap: configMaps,
  Deployment: deployments,
};

/** A release of a ConfigMap, a Deployment and a Widget, which the cluster does not have. `denied`: a kind that nobody may list. */
function setUp({ denied = "" } = {}) {
  const rest = createMemoryApiServer();
  const labels = { app: "web" };
  const spec = { selector: { matchLabels: labels } };
  const put = (kind: Resource<KubeObject>, name: string, more: object, owner?: KubeObject) =>
    rest.put(kind, {
      metadata: {
        ...{ namespace, name, labels },
        ...(owner?.metadata.uid !== undefined && {
          ownerReferences: [
            { apiVersion: "v1", kind: "x", name: "x", uid: owner.metadata.uid, controller: true },
          ],
        }),
      },
      ...more,
    });
  put(configMaps, "web", {});
  const deployment = put(deployments, "web", { spec, status: { replicas: 1 } });
  const current = put(replicaSets, "web-2", { spec: { ...spec, replicas: 1 } }, deployment);
  put(replicaSets, "web-1", { spec: { ...spec, replicas: 0 } }, deployment);
  const status = {
    phase: "Pending",
    conditions: [
      {
        ...{ type: "PodScheduled", status: "False", message: "no node" },
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
    containerStatuses: [
      {
        ...{ name: "main", image: "web:1", ready: false, restartCount: 3 },
        state: { waiting: { reason: "CrashLoopBackOff", message: "back-off" } },
      },
    ],
  };
  put(pods, "web-2-a", { status }, current);
  put(pods, "other", { status });
  const objects = ["ConfigMap", "Deployment", "Widget"].map((kind) => ({
    ...{ kind, name: "web", apiVersion: kind === "Deployment" ? "apps/v1" : "v1" },
  }));
  const deps: TreeDeps = {
    releases: { history: () => [{ revision: 1 }] as never },
    inventory: { revisionOf: () => ({ content: "known" }) as never },
    records: {
      stored: () => Promise.resolve({ content: "known", hooks: [] } as never),
      manifest: () => Promise.resolve(objects as never),
    },
    findResource: (_, kind) => Promise.resolve(kinds[kind] ?? "the cluster does not have it"),
  };
  rest.put({ ...resource("", "Secret", "secrets") }, {
    metadata: { namespace, name: "sh.helm.release.v1.web.v1" },
    data: { release: "x" },
  } as KubeObject);
  const list: typeof rest.list = (kind, options) => {
    if (kind.plural !== denied) return rest.list(kind, options);
    const serverMessage = `${denied} is forbidden`;
    const detail = { status: 403, reason: "Forbidden", serverMessage };
    return Promise.reject(new KubeStatusError("denied", detail));
  };
  const release = {
    ...{ namespace, name: "web", subject: "service account a/tenant" },
    rest: { ...rest, list },
  };
  async function ask(write: typeof writeResources): Promise<readonly Record<string, unknown>[]> {
    const parts: string[] = [];
    const { signal } = new AbortController();
    await write(deps, release, {
      signal,
      write: (part) => Promise.resolve(void parts.push(part)),
    });
    return parts.map((part) => JSON.parse(part) as Record<string, unknown>);
  }
  return { rest, ask, put };
}

describe("the resource tree of a release", () => {
  test("has its objects, and below them what is in use of what they have created", async () => {
    const { ask } = setUp();

    const entries = await ask(writeResources);

    assert.deepEqual(
      entries.map(({ kind, name, state }) => [kind, name, state]),
      [
        ["ConfigMap", "web", "ready"],
        ["Deployment", "web", "in-progress"],
        ["ReplicaSet", "web-2", "in-progress"],
        ["Pod", "web-2-a", "in-progress"],
        ["Widget", "web", "unknown"],
      ],
    );
    const [, deployment, replicaSet, pod, widget] = entries;
    assert.equal(replicaSet?.["parent"], deployment?.["uid"]);
    const { parent, message, containers, conditions } = pod ?? assert.fail();
    assert.equal(parent, replicaSet?.["uid"]);
    assert.equal(message, "is not scheduled: no node");
    assert.deepEqual(conditions, [
      {
        ...{ type: "PodScheduled", status: "False" },
        message: "no node",
        since: "2026-01-01T00:00:00Z",
      },
    ]);
    assert.deepEqual(containers, [
      {
        ...{ name: "main", image: "web:1", ready: false, restarts: 3, state: "waiting" },
        ...{ reason: "CrashLoopBackOff", message: "back-off" },
      },
    ]);
    assert.equal(widget?.["message"], "the cluster does not have it");
  });

  test("says what is missing, and what the account may not read", async () => {
    const { rest, ask } = setUp({ denied: "pods" });
    rest.remove(configMaps, { namespace, name: "web" });

    const entries = await ask(writeResources);

    const [config, , , pod] = entries;
    assert.equal(config?.["state"], "missing");
    assert.deepEqual(
      [pod?.["kind"], pod?.["state"], pod?.["message"]],
      [...["Pod", "unknown", "pods is forbidden"]],
    );
  });
});

describe("the events of a release", () => {
  test("are those on its objects, the newest first", async () => {
    const { ask, put } = setUp();
    const event = (name: string, kind: string, on: string, time: string) =>
      put(events, name, {
        ...{ type: "Warning", reason: name, note: "n", eventTime: time },
        regarding: { kind, namespace, name: on },
      } satisfies Partial<Event>);
    event("Old", "Pod", "web-2-a", "2026-01-01T00:00:00Z");
    event("New", "Deployment", "web", "2026-01-02T00:00:00Z");
    event("Other", "Pod", "other", "2026-01-03T00:00:00Z");

    assert.deepEqual(
      (await ask(writeEvents)).map(({ reason, object }) => [reason, object]),
      [
        ["New", { kind: "Deployment", namespace, name: "web" }],
        ["Old", { kind: "Pod", namespace, name: "web-2-a" }],
      ],
    );
    await assert.rejects(setUp({ denied: "events" }).ask(writeEvents), {
      code: "REQUEST_FAILED",
      message: "list the events in namespace shop as service account a/tenant: events is forbidden",
    });
  });
});
