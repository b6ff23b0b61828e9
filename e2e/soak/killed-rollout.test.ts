/**
 * A staged rollout over simulated clusters whose hub is killed again and again, and once frozen, while installations fail and are retried,
 * some never end and count as failed, agents are away, and labels move clusters between stages. An observer that reads only the API
 * server checks the limit of each stage and the gate at each promotion, by the labels that clusters had then, and the end is the
 * computed one. `FLOTILLA_ROLLOUT_CLUSTERS` and `FLOTILLA_ROLLOUT_KILLS` set other numbers.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { clusters, helmOps, type RolloutStrategy } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { gates, type StageStatus } from "@flotilla/shared/api/rollout";
import { selfSubjectReviews } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { startSimulation } from "../bench/agents/simulation.ts";
import { startTestFleet } from "../src/harness/fleet.ts";
import { observedStages } from "../src/rollout/observed-stages.ts";
import { observeRollouts } from "../src/rollout/rollout-observer.ts";

const count = Number(process.env["FLOTILLA_ROLLOUT_CLUSTERS"] ?? "120");
const kills = Number(process.env["FLOTILLA_ROLLOUT_KILLS"] ?? "6");
/** Agents that are away for a while: one in twenty. */
const away = Math.ceil(count / 20);
const canaries = Math.ceil(count / 10);
/** Clusters of each stage that are promoted and do not become ready: as many as may fail, of prod three in a hundred. */
const failing = { canary: 1, prod: Math.ceil(count * 0.03) };
const limits = { canary: 3, prod: Math.ceil(count / 10) };
/** Clusters whose labels move them to the other stage. */
const moved = { toCanary: 5, toProd: 3 };
/** Longer than the Lease of the leader lasts. */
const frozenMs = 30_000;
/** Longer than the hub is away, and longer than a retry takes. */
const deadline = { text: "2m", ms: 120_000 };
/** Time enough to end an agent while it installs. */
const slowly = "20s";

const app = "many-1";
const strategy: RolloutStrategy = {
  progressDeadline: deadline.text,
  stages: [
    {
      name: "canary",
      clusterSelector: { matchLabels: { ring: "canary" } },
      maxUnavailable: limits.canary,
      maxFailures: failing.canary,
    },
    {
      name: "prod",
      before: [{ name: "board", approval: {} }],
      maxUnavailable: limits.prod,
      maxFailures: failing.prod,
    },
  ],
};

test(`in a rollout over ${count} clusters no limit and no gate is broken by ${kills} kills of the hub`, {
  timeout: 1_800_000,
}, async () => {
  const fleet = await startTestFleet({ clusters: [] });
  afterAll(() => fleet.close());
  const { hub } = fleet;
  const observer = await observeRollouts(hub, app);
  afterAll(() => observer.close());
  const simulate = async (
    name: string,
    agents: number,
    { bundles = 0, latency = "300ms", failureRate = 0.03 } = {},
  ) => {
    const simulation = await startSimulation({
      ...{ name, agents, bundles, latency, failureRate, keep: true },
      kubeconfig: fleet.hubPlane.kubeconfig,
      logFile: join(fleet.dir, "logs", `${name}.log`),
      environment: { HOME: fleet.dir, PATH: process.env["PATH"] ?? "" },
    });
    afterAll(() => {
      process.kill(simulation.pid, "SIGCONT");
      return simulation.end();
    });
    return simulation;
  };
  const lasting = { latency: slowly, failureRate: 0 };
  await simulate("many", count - away - failing.canary - failing.prod, { bundles: 1 });
  const absent = await simulate("away", away);
  // By their names they are promoted first.
  const stuckCanaries = await simulate("first", failing.canary, lasting);
  const stuckInProd = await simulate("among", failing.prod, lasting);
  const label = (name: string, ring: string) =>
    hub.patch(
      clusters,
      { namespace, name },
      { type: "merge", body: { metadata: { labels: { ring } } } },
    );
  const names = (await hub.list(clusters, { namespace })).items
    .map(({ metadata }) => metadata.name)
    .sort();
  const isStuck = (name: string) => name.startsWith("first-") || name.startsWith("among-");
  const canary = new Set([
    ...names.filter((name) => name.startsWith("first-")),
    ...names.filter((name) => name.startsWith("many-")).slice(0, canaries - failing.canary),
  ]);
  for (const name of canary) await label(name, "canary");
  const change = (body: object) =>
    hub.patch(helmOps, { namespace, name: app }, { type: "merge", body: { spec: body } });
  await change({ targets: [{ name: "all", clusterSelector: {} }] });
  await observer.until(
    () =>
      observer.latest.size === count &&
      [...observer.latest.values()].every(({ isReady }) => isReady),
  );

  const before = new Set([...observer.latest.values()].map(({ desired }) => desired));
  const from = observer.states.length;
  const isPromoted = ({ desired }: { readonly desired: string }) =>
    desired !== "" && !before.has(desired);
  const promoted = () => [...observer.latest.values()].filter(isPromoted).length;
  const helm = { chart: "https://charts.example.com/web-2.0.0.tgz" };
  await change({ helm, rolloutStrategy: strategy });

  async function kill(): Promise<void> {
    const { identity, exited } = fleet.hubProcess();
    process.kill(identity.pid, "SIGKILL");
    await exited;
    await fleet.startHub();
  }

  async function freeze(): Promise<void> {
    const { identity, exited } = fleet.hubProcess();
    process.kill(identity.pid, "SIGSTOP");
    await sleep(frozenMs);
    process.kill(identity.pid, "SIGCONT");
    assert.equal((await exited).code, 1, "a hub that has lost its leadership ends");
    await fleet.startHub();
  }

  await observer.until(() => promoted() >= limits.canary && arePromoted("first-"));
  process.kill(stuckCanaries.pid, "SIGSTOP");
  process.kill(absent.pid, "SIGSTOP");
  await kill();
  const waiting = await waitingGate();
  assert.equal(promoted(), canaries, "the gate waits for all canaries, and prod for the gate");
  const by = (await hub.create(selfSubjectReviews, { metadata: { name: "self" } })).status?.userInfo
    ?.username;
  const decision = { result: "Passed", by, digest: waiting.spec.digest };
  await hub.patch(
    gates,
    waiting.metadata,
    { type: "merge", body: { status: { decision } } },
    { subresource: "status" },
  );
  await observer.until(() => arePromoted("among-"));
  process.kill(stuckInProd.pid, "SIGSTOP");
  const steps = kills - 1;
  for (let step = 1; step <= steps; step += 1) {
    const due = canaries + Math.floor(((count - away - canaries) * step) / (steps + 1));
    await observer.until(() => promoted() >= due);
    if (step === Math.min(2, steps)) await moveLabels();
    await (step === 3 ? freeze() : kill());
    if (step === Math.min(4, steps)) process.kill(absent.pid, "SIGCONT");
  }
  const stages = { canary: canaries + moved.toCanary - moved.toProd, prod: 0 };
  stages.prod = count - stages.canary;
  await observer.until(() => status()?.phase === "Completed" && status()?.clusters?.offline === 0);
  await untilEnded({
    canary: { total: stages.canary, failed: failing.canary },
    prod: { total: stages.prod, failed: failing.prod },
  });
  const stuck = [...observer.latest.values()].filter(({ isReady }) => !isReady);
  assert.deepEqual(
    stuck.map(({ cluster }) => cluster).sort(),
    names.filter(isStuck),
    "all others are ready",
  );
  process.kill(stuckCanaries.pid, "SIGCONT");
  process.kill(stuckInProd.pid, "SIGCONT");
  await untilEnded({
    canary: { total: stages.canary, failed: 0 },
    prod: { total: stages.prod, failed: 0 },
  });
  assert.ok([...observer.latest.values()].every((each) => isPromoted(each) && each.isReady));
  assert.equal(new Set([...observer.latest.values()].map(({ desired }) => desired)).size, 1);
  assert.deepEqual(broken(), []);

  function arePromoted(prefix: string): boolean {
    const states = [...observer.latest.values()].filter(({ cluster }) =>
      cluster.startsWith(prefix),
    );
    return states.length > 0 && states.every(isPromoted);
  }

  function status() {
    return observer.rollouts.at(-1)?.status;
  }

  /** Resolves when each stage has these numbers and nothing else, and the rollout is completed. */
  async function untilEnded(
    expected: Readonly<Record<string, { readonly total: number; readonly failed: number }>>,
  ): Promise<void> {
    await observer.until(
      () =>
        status()?.phase === "Completed" &&
        (status()?.stages ?? []).every(({ name, phase, total, done, failed }) => {
          const end = expected[name];
          return (
            phase === "Completed" &&
            total === end?.total &&
            failed === end.failed &&
            done === total - failed
          );
        }),
    );
  }

  async function waitingGate() {
    const record = () =>
      observer.rollouts
        .at(-1)
        ?.status?.stages?.flatMap((stage) => stage.gates ?? [])
        .find(({ result, uid }) => result === "Waiting" && uid !== undefined);
    await observer.until(() => record() !== undefined);
    const gate = await hub.get(gates, { namespace, name: record()?.gate ?? "" });
    assert.ok(gate);
    return gate;
  }

  /** Some that wait for their turn in prod become canaries, and some canaries that are done come to prod. */
  async function moveLabels(): Promise<void> {
    const pending = names.filter((name) => {
      const state = observer.latest.get(name);
      return state !== undefined && !isPromoted(state) && name.startsWith("many-");
    });
    assert.ok(pending.length >= moved.toCanary, "some still wait for their turn");
    for (const name of pending.slice(0, moved.toCanary)) await label(name, "canary");
    const done = [...canary].filter((name) => !isStuck(name));
    for (const name of done.slice(0, moved.toProd)) await label(name, "prod");
  }

  /** One sentence for each promotion that no limit or gate permits. */
  function broken(): readonly string[] {
    const [content] = new Set([...observer.latest.values()].map(({ desired }) => desired));
    const canaryIsDone = storedSince((stages) =>
      stages.some(({ name, phase }) => name === "canary" && phase === "Completed"),
    );
    const isPassed = storedSince((stages) =>
      stages.some(({ gates: records = [] }) =>
        records.some(({ name, result }) => name === "board" && result === "Passed"),
      ),
    );
    const seen = {
      states: observer.states.slice(from),
      labels: observer.labels,
      content: content ?? "",
      deadlineMs: deadline.ms,
    };
    const { broken: sentences, largest } = observedStages(seen, [
      {
        name: "canary",
        takes: ({ ring }) => ring === "canary",
        maxUnavailable: limits.canary,
        opensAt: 0,
      },
      {
        name: "prod",
        takes: () => true,
        maxUnavailable: limits.prod,
        opensAt: Math.max(canaryIsDone, isPassed),
      },
    ]);
    // Above them: clusters in flight whose labels have moved them since, which `broken` judges by what the hub knew.
    assert.ok((largest.get("canary") ?? 0) >= limits.canary, "the limit of canaries was used");
    assert.ok((largest.get("prod") ?? 0) >= limits.prod, "the limit of prod was used");
    return sentences;
  }

  /** The resource version at which the stages of the rollout were stored so first. */
  function storedSince(isSo: (stages: readonly StageStatus[]) => boolean): number {
    const found = observer.rollouts.find(({ status: stored }) => isSo(stored?.stages ?? []));
    assert.ok(found, "it was stored");
    return Number(found.metadata.resourceVersion);
  }
});
