import assert from "node:assert/strict";
import { describe, it, type TestContext } from "vitest";
import { silentLog } from "../../runtime/log/index.ts";
import { createFakeClock } from "../../runtime/time/testing/index.ts";
import { connectKube } from "../client/index.ts";
import { type Event, events, type KubeObject } from "../objects/index.ts";
import { respondStatus, startHttpApiServer } from "../testing/index.ts";
import { createEventRecorder } from "./events.ts";

async function setUp(t: TestContext) {
  const server = await startHttpApiServer();
  const clock = createFakeClock();
  const rest = connectKube({ server: server.url, credentials: { kind: "none" } });
  const recorder = createEventRecorder({
    rest,
    controller: "flotilla.dev/hub",
    instance: "hub-0",
    log: silentLog(),
    clock,
  });
  t.onTestFinished(async () => {
    await rest.close();
    await server.close();
  });
  const bodies = (): readonly Partial<Event>[] =>
    server.requests.map(({ body }) => JSON.parse(body) as Partial<Event>);
  return { server, clock, recorder, bodies };
}

const object: KubeObject = {
  apiVersion: "fleet.cattle.io/v1alpha1",
  kind: "HelmOp",
  metadata: { name: "shop", namespace: "fleet-default", uid: "u-1", resourceVersion: "7" },
};
const failed = {
  type: "Warning",
  reason: "ResolveFailed",
  action: "Resolve",
  note: "no version matches",
} as const;

describe("an event", () => {
  it("has the object, the reason and the reporter", async (t) => {
    const { server, recorder, bodies } = await setUp(t);

    recorder.record(object, failed);
    await recorder.flush();

    const { metadata, ...event } = bodies()[0] ?? {};
    assert.equal(
      server.requests[0]?.path,
      "/apis/events.k8s.io/v1/namespaces/fleet-default/events",
    );
    assert.match(metadata?.name ?? "", /^shop\.[0-9a-f]{16}$/);
    assert.deepEqual(event, {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "flotilla.dev/hub",
      reportingInstance: "hub-0",
      ...failed,
      regarding: {
        apiVersion: "fleet.cattle.io/v1alpha1",
        kind: "HelmOp",
        name: "shop",
        namespace: "fleet-default",
        uid: "u-1",
        resourceVersion: "7",
      },
    });
  });

  it("has its metadata as annotations", async (t) => {
    const { recorder, bodies } = await setUp(t);
    const metadata = { "helm.toolkit.fluxcd.io/revision": "1.0.0" };

    recorder.record(object, { ...failed, metadata });
    await recorder.flush();

    assert.deepEqual(bodies()[0]?.metadata?.annotations, metadata);
  });

  it("that is repeated is counted, and the count is sent once a minute", async (t) => {
    const { server, clock, recorder, bodies } = await setUp(t);

    for (let count = 0; count < 5; count++) recorder.record(object, failed);
    clock.advanceNow(60_000);
    recorder.record(object, failed);
    await recorder.flush();

    assert.deepEqual(
      server.requests.map(({ method }) => method),
      ["POST", "PATCH", "PATCH"],
    );
    assert.deepEqual(bodies()[1]?.series, {
      count: 2,
      lastObservedTime: "2026-01-01T00:00:00.000000Z",
    });
    assert.deepEqual(bodies()[2]?.series, {
      count: 6,
      lastObservedTime: "2026-01-01T00:01:00.000000Z",
    });
  });

  it("starts a new series when the last is old, has another note, or was deleted", async (t) => {
    const { server, clock, recorder } = await setUp(t);

    recorder.record(object, failed);
    clock.advanceNow(6 * 60_000);
    recorder.record(object, failed);
    recorder.record(object, { ...failed, note: "another" });
    server.next("write", (response) => response.writeHead(201).end("{}"));
    await recorder.flush();
    server.next("write", respondStatus(404, "NotFound"));
    recorder.record(object, failed);
    await recorder.flush();
    recorder.record(object, failed);
    await recorder.flush();

    assert.deepEqual(
      server.requests.map(({ method }) => method),
      ["POST", "POST", "POST", "PATCH", "POST"],
    );
  });

  it("of an object without a namespace is created in default", async (t) => {
    const { server, recorder } = await setUp(t);

    recorder.record({ ...object, metadata: { name: "x".repeat(253) } }, failed);
    await recorder.flush();

    assert.equal(server.requests[0]?.path, "/apis/events.k8s.io/v1/namespaces/default/events");
    assert.equal((JSON.parse(server.requests[0].body) as Event).metadata.name.length, 253);
  });

  it("with a long note is truncated to the limit of the API", async (t) => {
    const { recorder, bodies } = await setUp(t);

    recorder.record(object, { ...failed, note: "ä".repeat(2000) });
    await recorder.flush();

    const { note = "" } = bodies()[0] ?? {};
    assert.ok(Buffer.byteLength(note) <= 1024);
    assert.match(note, /^ä+…$/);
  });

  it("that is rejected causes no failure, and the next one is recorded", async (t) => {
    const { server, recorder, bodies } = await setUp(t);
    server.next("write", respondStatus(403, "Forbidden"));

    recorder.record(object, failed);
    recorder.record(object, { ...failed, note: "another" });
    await recorder.flush();

    assert.deepEqual(
      bodies().map(({ note }) => note),
      [failed.note, "another"],
    );
    const [rejected, recorded] = bodies().map(({ metadata }) =>
      server.get(events, { namespace: "fleet-default", name: metadata?.name ?? "" }),
    );
    assert.equal(rejected, undefined);
    assert.equal(recorded?.metadata.namespace, "fleet-default");
  });

  it("is dropped when too many are pending", async (t) => {
    const { server, recorder } = await setUp(t);

    for (let count = 0; count < 500; count++)
      recorder.record(object, { ...failed, note: `note ${count}` });
    await recorder.flush();

    assert.equal(server.requests.length, 200);
  });
});
