/**
 * Events are neither lost nor invented by a change of leader (docs/adr/0035): random histories are run twice, once with leaders that
 * end while they handle a change, and both deliver the same events. Only the number of deliveries of one may differ: after a change of
 * leader it may be delivered once more.
 */
import assert from "node:assert/strict";
import { alerts, providers } from "@flotilla/shared/flux";
import { secrets } from "@flotilla/shared/kube/objects";
import { delay } from "@flotilla/shared/time";
import fc from "fast-check";
import { test } from "vitest";
import type { SendEvent } from "../../events/notification/sender.ts";
import { createTestLeader, type TestLeader, workspace } from "../../testing/index.ts";
import {
  applyFluxStep,
  applyStep,
  clusterNames,
  type FleetStep,
  type FluxStep,
  fleetStep,
  fluxStep,
  isFluxStep,
  type RepositoryState,
  resolverOf,
  sourcesOf,
  stable,
  untilSettled,
} from "./testing/index.ts";

type Step = FleetStep | FluxStep | { readonly kind: "provider"; readonly isUp: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fleetStep },
  { weight: 4, arbitrary: fluxStep },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("provider" as const), isUp: fc.boolean() }),
  },
);

/** How long after a change the leader ends. */
const crash = fc.constantFrom(undefined, 0, 100, 200, 500, 1_000, 1_500);

/** Events are stored slowly, so that leaders end meanwhile. */
const storingMs = 250;
const outboxPrefix = "flotilla-notifications-";

/** Longer than the longest pause before a delivery is repeated. */
const longestRetryMs = 6 * 60_000;

function putAlert({ rest }: TestLeader): void {
  const metadata = { namespace: workspace, name: "chat" };
  const kinds = [
    "HelmOp",
    "HelmRelease",
    "HelmRepository",
    "HelmChart",
    "Bundle",
    "Cluster",
  ] as const;
  rest.put(providers, { metadata, spec: { type: "generic", address: "https://chat.example.com" } });
  rest.put(alerts, {
    metadata,
    spec: {
      providerRef: { name: "chat" },
      eventSources: kinds.map((kind) => ({ kind, name: "*" })),
      eventSeverity: "info",
    },
  });
}

/** How often each event is delivered. */
async function deliveries(
  steps: readonly Step[],
  crashes: readonly (number | undefined)[],
  ends: boolean,
): Promise<ReadonlyMap<string, number>> {
  const repository: RepositoryState = { version: "1.2.3", isUp: true, requests: 0 };
  const delivered = new Map<string, number>();
  let isUp = true;
  const send: SendEvent = ({ timestamp: _, ...event }) => {
    if (!isUp) return Promise.resolve({ kind: "failed", why: "it is down" });
    const text = JSON.stringify(stable(event));
    delivered.set(text, (delivered.get(text) ?? 0) + 1);
    return Promise.resolve({ kind: "delivered" });
  };
  const leader = createTestLeader(resolverOf(repository), { ...sourcesOf(repository), send });
  putAlert(leader);
  let ending = new AbortController();
  leader.rest.beforeWrite = async (write) => {
    if (!write.includes(outboxPrefix)) return;
    // The request of a process that ends meanwhile does not arrive.
    const { signal } = ending;
    await delay(leader.clock, storingMs, signal);
    signal.throwIfAborted();
  };
  try {
    for (const [index, each] of steps.entries()) {
      if (each.kind === "provider") isUp = each.isUp;
      else if (isFluxStep(each)) applyFluxStep(leader, repository, each);
      else applyStep(leader, repository, each);
      if (each.kind === "wait") await leader.pass(each.ms);
      await leader.pass(crashes[index] ?? 0);
      if (ends && crashes[index] !== undefined) {
        ending.abort();
        ending = new AbortController();
        await leader.drop();
      }
      await untilSettled(leader, repository);
    }
    isUp = true;
    await leader.pass(longestRetryMs);
    assert.deepEqual(waitingIn(leader), [], "the outbox is empty at the end");
  } finally {
    ending.abort();
    await leader.stop();
  }
  return delivered;
}

/** What the outboxes still have. */
function waitingIn({ rest }: TestLeader): readonly string[] {
  return rest
    .all(secrets)
    .filter(({ metadata }) => metadata.name.startsWith(outboxPrefix))
    .map(({ data }) => Buffer.from(data?.["events"] ?? "", "base64").toString())
    .filter((text) => text !== "[]");
}

const beginning: readonly Step[] = [
  ...clusterNames.map((name) => ({ kind: "cluster", name, presence: "join" }) as const),
  { kind: "source", spec: { interval: "1m" } },
  { kind: "release", name: "web", spec: {} },
  { kind: "agents", report: "ready" },
];

test("leaders that end at any moment deliver the events that one leader delivers, and no others", async () => {
  const histories = fc.array(fc.tuple(step, crash), { minLength: 4, maxLength: 16 });
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const steps = [...beginning, ...history.map(([each]) => each)];
      const crashes = [...beginning.map(() => 100), ...history.map(([, after]) => after)];
      const leaders = 1 + crashes.filter((after) => after !== undefined).length;

      const one = await deliveries(steps, crashes, false);
      const many = await deliveries(steps, crashes, true);

      assert.deepEqual([...many.keys()].toSorted(), [...one.keys()].toSorted());
      for (const [event, count] of many)
        assert.ok(count <= (one.get(event) ?? 0) + leaders, `${count} times ${event}`);
    }),
    { numRuns: 10, endOnFailure: true },
  );
});

test("leaders that change while nothing else does deliver nothing again", async () => {
  const quiet = Array.from({ length: 3 }, () => ({ kind: "wait", ms: 61_000 }) as const);
  const steps = [...beginning, ...quiet];
  const crashes = [...beginning.map(() => undefined), ...quiet.map(() => 0)];

  const one = await deliveries(steps, crashes, false);
  const many = await deliveries(steps, crashes, true);

  assert.ok(one.size > 0);
  assert.deepEqual(many, one);
});

test("the histories have events: of a release, of its source and of a failure, also when the Provider was down meanwhile", async () => {
  const steps: readonly Step[] = [
    ...beginning,
    { kind: "provider", isUp: false },
    { kind: "publish", version: "1.2.4" },
    { kind: "wait", ms: 61_000 },
    { kind: "agents", report: "failed" },
    { kind: "cluster", name: "rome", presence: "offline" },
  ];

  const delivered = [...(await deliveries(steps, [], false)).keys()].join("\n");

  for (const [kind, reason] of [
    ["HelmRepository", "NewArtifact"],
    ["HelmRelease", "InstallSucceeded"],
    ["HelmRelease", "ReconciliationFailed"],
    ["Cluster", "ClusterOffline"],
  ])
    assert.match(delivered, new RegExp(`"kind":"${kind}".*"reason":"${reason}"`));
});
