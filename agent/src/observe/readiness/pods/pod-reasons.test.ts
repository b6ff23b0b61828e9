import assert from "node:assert/strict";
import { type KubeRest, KubeStatusError } from "@flotilla/shared/kube/client";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import { createPodReasons } from "./pod-reasons.ts";
import type { Workload } from "./workload.ts";

type ListOptions = NonNullable<Parameters<KubeRest["list"]>[1]>;

const web: Workload = {
  ...{ kind: "StatefulSet", namespace: "shop", name: "web", uid: "1" },
  ...{ selector: "app=web", message: "0 of 1" },
};

function podThat(reason: string): KubeObject {
  const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "1" };
  const containerStatuses = [{ name: "app", state: { waiting: { reason } } }];
  return {
    metadata: { name: "web-0", ownerReferences: [{ ...owner, controller: true }] },
    ...{ status: { phase: "Pending", containerStatuses } },
  };
}

/** An API server whose list of pods a test sets. */
function start(t: TestContext) {
  const clock = createFakeClock();
  const requests: (ListOptions & { readonly atMs: number })[] = [];
  const changes: (string | undefined)[] = [];
  const server = {
    pods: (_next: string | undefined): Awaited<ReturnType<KubeRest["list"]>> => ({
      items: [podThat("CrashLoopBackOff")],
      resourceVersion: "1",
    }),
  };
  const rest: KubeRest = {
    ...createMemoryApiServer(),
    async list<T extends KubeObject>(_: unknown, options: ListOptions = {}) {
      requests.push({ ...options, atMs: clock.monotonic() });
      await Promise.resolve();
      const page = server.pods(options.next);
      // The pods of this test are all that is listed.
      return { ...page, items: page.items as readonly T[] };
    },
  };
  const client = { subject: "service account shop/deployer", rest, isPerNamespace: true };
  const reasons = createPodReasons({
    clock,
    log: silentLog(),
    onChange: (release) => changes.push(reasons.reasonOf(release, web)?.message),
  });
  t.onTestFinished(() => reasons.end());
  return { clock, requests, changes, server, client, reasons };
}

const crash = "pod web-0: container app is in CrashLoopBackOff";

describe("the pods of a workload that is not ready", () => {
  test("are read in its namespace by its selector, after most rollouts are complete", async (t) => {
    const { clock, requests, changes, client, reasons } = start(t);

    reasons.follow("web", [web], client);
    await clock.advance(2_999);
    assert.deepEqual([requests, reasons.reasonOf("web", web)?.message], [[], undefined]);

    await clock.advance(1);
    await settle();
    assert.equal(reasons.reasonOf("web", web)?.message, crash);
    assert.deepEqual(changes, [crash]);
    const [{ namespace, labelSelector, limit } = {}] = requests;
    assert.deepEqual([namespace, labelSelector, limit], ["shop", "app=web", 100]);
  });

  test("are not read if it becomes ready before", async (t) => {
    const { clock, requests, client, reasons } = start(t);
    reasons.follow("web", [web], client);

    reasons.follow("web", [], client);
    await clock.advance(600_000);

    assert.deepEqual([requests, clock.waiting()], [[], []]);
  });

  test("are read less and less often while nothing changes", async (t) => {
    const { clock, requests, changes, client, reasons } = start(t);
    reasons.follow("web", [web], client);

    await clock.advance(213_000);

    const seconds = requests.map(({ atMs }) => atMs / 1_000);
    assert.deepEqual(seconds, [3, 8, 18, 38, 78, 138, 198]);
    assert.equal(changes.length, 1);
  });

  test("are read more often after another reason, and reported", async (t) => {
    const { clock, requests, changes, server, client, reasons } = start(t);
    reasons.follow("web", [web], client);
    await clock.advance(30_000);
    server.pods = () => ({ items: [podThat("CreateContainerError")], resourceVersion: "2" });

    await clock.advance(8_000);
    await clock.advance(5_000);

    assert.deepEqual(changes, [crash, "pod web-0: container app: CreateContainerError"]);
    assert.deepEqual(
      requests.slice(-2).map(({ atMs }) => atMs / 1_000),
      [38, 43],
    );
  });

  test("are read soon when its own status changes", async (t) => {
    const { clock, requests, client, reasons } = start(t);
    reasons.follow("web", [web], client);
    await clock.advance(40_000);
    const before = requests.length;

    reasons.follow("web", [{ ...web, message: "1 of 2" }], client);
    reasons.follow("web", [{ ...web, message: "1 of 2" }], client);
    await clock.advance(5_000);

    assert.deepEqual(
      requests.slice(before).map(({ atMs }) => atMs / 1_000),
      [45],
    );
  });

  test("are read up to five pages", async (t) => {
    const { clock, requests, server, client, reasons } = start(t);
    server.pods = (next) => ({
      items: next === "4" ? [podThat("CrashLoopBackOff")] : [],
      resourceVersion: "1",
      next: String(Number(next ?? 0) + 1),
    });
    reasons.follow("web", [web], client);

    await clock.advance(3_000);
    await settle();

    assert.equal(reasons.reasonOf("web", web)?.message, crash);
    assert.equal(requests.length, 5);
  });

  test("are the reason themselves if the account may not list them", async (t) => {
    const { clock, server, client, reasons } = start(t);
    server.pods = () => {
      throw new KubeStatusError("pods is forbidden", { status: 403, reason: "Forbidden" });
    };
    reasons.follow("web", [web], client);

    await clock.advance(3_000);

    assert.equal(
      reasons.reasonOf("web", web)?.message,
      "service account shop/deployer may not list its pods",
    );
  });

  test("keep their reason while they cannot be read", async (t) => {
    const { clock, changes, server, client, reasons } = start(t);
    reasons.follow("web", [web], client);
    await clock.advance(4_000);
    server.pods = () => {
      throw new KubeStatusError("unavailable", { status: 503, reason: "" });
    };

    await clock.advance(60_000);

    assert.deepEqual([reasons.reasonOf("web", web)?.message, changes], [crash, [crash]]);
  });
});

test("the pods of many workloads are read at a limited rate", async (t) => {
  const { clock, requests, client, reasons } = start(t);
  const many = Array.from({ length: 100 }, (_, at) => ({ ...web, name: `web-${at}` }));
  reasons.follow("web", many, client);

  await clock.advance(13_000);

  // A burst of 10, then 5 in a second.
  assert.ok(requests.length >= 55 && requests.length <= 61, String(requests.length));
});
