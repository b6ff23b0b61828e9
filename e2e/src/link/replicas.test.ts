/** Two replicas of the hub on one API server, and streams of one cluster on both. */
import assert from "node:assert/strict";
import type { AgentIdentity } from "@flotilla/agent/identity";
import { events } from "@flotilla/shared/kube/objects";
import { afterAll, describe, test } from "vitest";
import { cleanUp } from "../harness/cleanup.ts";
import { startHubCluster, workspace } from "../harness/hub-control-plane.ts";
import { startHub, type TestHub } from "../harness/in-process-hub.ts";
import { startLinkProxy } from "../harness/link-proxy.ts";
import { clusterOf, makeToken } from "../harness/registration.ts";
import { enrolRaw, hello, openRaw, type RawStream } from "./raw-agent.ts";

const rest = await startHubCluster();
const [here, there] = await Promise.all([
  startHub(rest, { replica: "hub-0" }),
  startHub(rest, { replica: "hub-1", leads: false }),
]);
const token = await makeToken(rest, here, "token");

/** Connects with an identity to one of the replicas; resolves once it is welcomed. */
async function connect(
  identity: AgentIdentity,
  { port }: Pick<TestHub, "port">,
): Promise<RawStream> {
  const raw = openRaw({ ...identity, hubAddress: `127.0.0.1:${port}` });
  cleanUp(() => raw.close());
  raw.listen();
  raw.say(hello(identity));
  await raw.until(() => raw.received.length >= 2, "welcome and synced");
  return raw;
}

function epochOf({ received: [welcome] }: RawStream): number {
  return welcome?.kind === "welcome" ? welcome.epoch : 0;
}

/** Whether the Cluster was ever said to be without its agent, from now on. */
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

/** One that nothing is heard of while the other tests go on. */
const cable = await startLinkProxy();
afterAll(() => cable.close());
cable.setBackends([here.port]);
await connect(await enrolRaw(rest, token, "pulled"), cable);
/** When the Cluster was first told to be without its agent. */
const toldOfPulled = new Promise<number>((resolve) => {
  there.clusters.onChange(({ key, after: cluster }) => {
    const isGone = cluster?.status?.agent?.connected === false;
    if (key === `${workspace}/pulled` && isGone) resolve(performance.now());
  });
});
cable.drop(["agent", "hub"]);
const pulledAt = performance.now();

describe("two streams of one cluster", () => {
  test("on two replicas: the newer one is kept, the older is told why, and the Cluster is never gone", async () => {
    const identity = await enrolRaw(rest, token, "copied");
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

  test("on one replica: the Cluster is never gone either", async () => {
    const identity = await enrolRaw(rest, token, "again");
    const older = await connect(identity, here);
    const presence = watchPresence("again");

    await connect(identity, here);

    assert.match(await older.ended, /^ABORTED/);
    await there.until(() => clusterOf(there, "again")?.status?.agent?.epoch === 2, "its epoch");
    assert.deepEqual(presence(), [true]);
  });

  test("again and again are said on the Cluster to be two agents, whichever replicas they are on", async () => {
    const identity = await enrolRaw(rest, token, "two");
    for (let round = 0; round < 12; round += 1)
      await connect(identity, [here, there][round % 2] ?? here);

    await Promise.all([here.events.flush(), there.events.flush()]);
    const { items } = await rest.list(events, { namespace: workspace });
    const told = items.filter(({ regarding }) => regarding?.name === "two");
    assert.ok(told.length >= 1 && told.length <= 2, `${told.length} Events`);
    for (const event of told) {
      assert.equal(event.reason, "DuplicateAgent");
      assert.match(event.note ?? "", /flotilla-identity was probably copied/);
    }
  });
});

describe("a stream that ends", () => {
  test("and is made anew at once, at another replica, leaves no trace in the Cluster but its epoch", async () => {
    const identity = await enrolRaw(rest, token, "cut");
    const first = await connect(identity, here);
    const presence = watchPresence("cut");
    first.close();
    await connect(identity, there);
    await here.until(() => clusterOf(here, "cut")?.status?.agent?.replica === "hub-1", "it moves");

    assert.deepEqual(presence(), [true]);
  });

  test("for good is reported as of when it ended, not as of when it was reported", async () => {
    const identity = await enrolRaw(rest, token, "gone");
    const only = await connect(identity, here);
    const closedAt = Date.now();
    only.close();
    await there.until(
      () => clusterOf(there, "gone")?.status?.agent?.connected === false,
      "it is gone",
    );

    const reportedAt = Date.now();
    const since = Date.parse(clusterOf(there, "gone")?.status?.agent?.lastSeen ?? "");
    // In whole seconds; the hub waits 2.5 s for the agent to come back.
    assert.ok(since >= closedAt - 1_000, `${closedAt - since} ms early`);
    assert.ok(since <= reportedAt - 1_500, `${reportedAt - since} ms before it was reported`);
  });

  test("because a cable was pulled is reported within 30 s", async () => {
    const tookMs = (await toldOfPulled) - pulledAt;
    assert.ok(tookMs > 5_000 && tookMs < 30_000, `${tookMs} ms`);
  });
});
