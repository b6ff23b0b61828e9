/** Two replicas of the hub on one API server, and streams of one cluster on both. */
import assert from "node:assert/strict";
import type { AgentIdentity } from "@flotilla/agent/state";
import { events } from "@flotilla/shared/kube/objects";
import { afterAll, describe, test } from "vitest";
import { cleanUp } from "../harness/cleanup.ts";
import { startHubControlPlane, workspace } from "../harness/hub-control-plane.ts";
import { type InProcessHub, startInProcessHub } from "../harness/in-process-hub.ts";
import { startLinkProxy } from "../harness/link-proxy.ts";
import { clusterOf, createToken } from "../harness/registration.ts";
import { enrolRawAgent, hello, openRawStream, type RawStream } from "./raw-agent.ts";

const rest = await startHubControlPlane();
const [here, there] = await Promise.all([
  startInProcessHub(rest, { replica: "hub-0" }),
  startInProcessHub(rest, { replica: "hub-1", leads: false }),
]);
const token = await createToken(rest, here, "token");

/** Connects with an identity to one of the replicas; resolves once it is welcomed. */
async function connect(
  identity: AgentIdentity,
  { port }: Pick<InProcessHub, "port">,
): Promise<RawStream> {
  const raw = openRawStream({ ...identity, hubAddress: `127.0.0.1:${port}` });
  cleanUp(() => raw.close());
  raw.listen();
  raw.send(hello(identity));
  await raw.until(() => raw.received.length >= 2, "welcome and synced");
  return raw;
}

function epochOf({ received: [welcome] }: RawStream): number {
  return welcome?.kind === "welcome" ? welcome.epoch : 0;
}

/** Whether the status of the Cluster was ever disconnected, from now on. */
function watchPresence(name: string) {
  const seen: (boolean | undefined)[] = [];
  const stop = there.clusters.onChange(({ key, after: cluster }) => {
    if (key === `${workspace}/${name}`) seen.push(cluster?.status?.agent?.connected);
  });
  return () => {
    stop();
    return [...new Set(seen)];
  };
}

/** Its connection is dropped while the other tests run. */
const cable = await startLinkProxy();
afterAll(() => cable.close());
cable.setBackends([here.port]);
await connect(await enrolRawAgent(rest, token, "pulled"), cable);
/** When the status of the Cluster first was disconnected. */
const toldOfPulled = new Promise<number>((resolve) => {
  there.clusters.onChange(({ key, after: cluster }) => {
    const isGone = cluster?.status?.agent?.connected === false;
    if (key === `${workspace}/pulled` && isGone) resolve(performance.now());
  });
});
cable.drop(["agent", "hub"]);
const pulledAt = performance.now();

describe("two streams of one cluster", () => {
  test("on two replicas: the newer one stays, the older ends with the reason, and the Cluster is never disconnected", async () => {
    const identity = await enrolRawAgent(rest, token, "copied");
    const older = await connect(identity, here);
    const presence = watchPresence("copied");

    const newer = await connect(identity, there);

    assert.match(
      await older.ended,
      /^ABORTED: another agent connected as Cluster fleet-default\/copied; the newer connection replaces this one/,
    );
    assert.deepEqual([older, newer].map(epochOf), [1, 2]);
    const back = await connect(identity, here);
    assert.match(await newer.ended, /^ABORTED/);
    assert.equal(epochOf(back), 3);
    await there.until(
      () => clusterOf(there, "copied")?.status?.agent?.replica === "hub-0",
      "it is on the first replica",
    );
    assert.deepEqual(presence(), [true]);
  });

  test("on one replica: the Cluster is never disconnected either", async () => {
    const identity = await enrolRawAgent(rest, token, "again");
    const older = await connect(identity, here);
    const presence = watchPresence("again");

    await connect(identity, here);

    assert.match(await older.ended, /^ABORTED/);
    await there.until(() => clusterOf(there, "again")?.status?.agent?.epoch === 2, "its epoch");
    assert.deepEqual(presence(), [true]);
  });

  test("that alternate are reported on the Cluster as two agents, on whichever replicas they are", async () => {
    const identity = await enrolRawAgent(rest, token, "two");
    for (let round = 0; round < 12; round += 1)
      await connect(identity, [here, there][round % 2] ?? here);

    await Promise.all([here.events.flush(), there.events.flush()]);
    const { items } = await rest.list(events, { namespace: workspace });
    const recorded = items.filter(({ regarding }) => regarding?.name === "two");
    assert.ok(recorded.length >= 1 && recorded.length <= 2, `${recorded.length} Events`);
    for (const event of recorded) {
      assert.equal(event.reason, "DuplicateAgent");
      assert.match(event.note ?? "", /flotilla-identity was probably copied/);
    }
  });
});

describe("a stream that ends", () => {
  test("and is replaced at once, at another replica, changes only the epoch of the Cluster", async () => {
    const identity = await enrolRawAgent(rest, token, "cut");
    const first = await connect(identity, here);
    const presence = watchPresence("cut");
    first.close();
    await connect(identity, there);
    await here.until(() => clusterOf(here, "cut")?.status?.agent?.replica === "hub-1", "it moves");

    assert.deepEqual(presence(), [true]);
  });

  test("is reported with the time of its end, not of the report", async () => {
    const identity = await enrolRawAgent(rest, token, "gone");
    const only = await connect(identity, here);
    const closedAt = Date.now();
    only.close();
    await there.until(
      () => clusterOf(there, "gone")?.status?.agent?.connected === false,
      "it is disconnected",
    );

    const reportedAt = Date.now();
    const since = Date.parse(clusterOf(there, "gone")?.status?.agent?.lastSeen ?? "");
    // In whole seconds; the hub waits 2.5 s for the agent to reconnect.
    assert.ok(since >= closedAt - 1_000, `${closedAt - since} ms early`);
    assert.ok(since <= reportedAt - 1_500, `${reportedAt - since} ms before it was reported`);
  });

  test("because all bytes are dropped is reported within 30 s", async () => {
    const tookMs = (await toldOfPulled) - pulledAt;
    assert.ok(tookMs > 5_000 && tookMs < 30_000, `${tookMs} ms`);
  });
});
