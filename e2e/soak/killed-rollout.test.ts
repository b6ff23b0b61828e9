/**
 * A staged rollout over simulated clusters whose hub is killed again and again, and once frozen, while installations fail, agents are
 * away and labels move clusters between stages. An observer that reads only the API server checks limits and the gate at each state.
 * `FLOTILLA_ROLLOUT_CLUSTERS` and `FLOTILLA_ROLLOUT_KILLS` set other numbers.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { clusters, helmOps, type RolloutStrategy } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { gates } from "@flotilla/shared/api/rollout";
import { selfSubjectReviews } from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { startSimulation } from "../bench/agents/simulation.ts";
import { startTestFleet } from "../src/harness/fleet.ts";
import { observeRollouts } from "../src/rollout/rollout-observer.ts";

const count = Number(process.env["FLOTILLA_ROLLOUT_CLUSTERS"] ?? "120");
const kills = Number(process.env["FLOTILLA_ROLLOUT_KILLS"] ?? "6");
/** Agents that are away for a while: one in twenty. */
const away = Math.ceil(count / 20);
const canaries = Math.ceil(count / 10);
const limits = { canary: 3, prod: Math.ceil(count / 10) };
/** Longer than the Lease of the leader lasts. */
const frozenMs = 30_000;

const app = "many-1";
const strategy: RolloutStrategy = {
  stages: [
    {
      name: "canary",
      clusterSelector: { matchLabels: { ring: "canary" } },
      maxUnavailable: limits.canary,
    },
    { name: "prod", before: [{ name: "board", approval: {} }], maxUnavailable: limits.prod },
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
  const simulate = async (name: string, agents: number, bundles: number) => {
    const simulation = await startSimulation({
      ...{ name, agents, bundles, latency: "300ms", failureRate: 0.03, keep: true },
      kubeconfig: fleet.hubPlane.kubeconfig,
      logFile: join(fleet.dir, "logs", `${name}.log`),
      environment: { HOME: fleet.dir, PATH: process.env["PATH"] ?? "" },
    });
    afterAll(() => simulation.end());
    return simulation;
  };
  await simulate("many", count - away, 1);
  const absent = await simulate("away", away, 0);
  const label = (name: string, ring: string) =>
    hub.patch(
      clusters,
      { namespace, name },
      { type: "merge", body: { metadata: { labels: { ring } } } },
    );
  const names = (await hub.list(clusters, { namespace })).items
    .map(({ metadata }) => metadata.name)
    .sort();
  const canary = new Set(names.filter((name) => name.startsWith("many-")).slice(0, canaries));
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

  await observer.until(() => promoted() >= limits.canary);
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
  const steps = kills - 1;
  for (let step = 1; step <= steps; step += 1) {
    const due = canaries + Math.floor(((count - away - canaries) * step) / (steps + 1));
    await observer.until(() => promoted() >= due);
    if (step === 1) process.kill(absent.pid, "SIGSTOP");
    if (step === 2) await moveLabels();
    await (step === 3 ? freeze() : kill());
    if (step === Math.min(4, steps)) process.kill(absent.pid, "SIGCONT");
  }
  await observer.until(() =>
    [...observer.latest.values()].every((each) => isPromoted(each) && each.isReady),
  );
  await observer.until(() => observer.rollouts.at(-1)?.status?.phase === "Completed");
  assert.deepEqual(broken(), []);

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
    for (const name of pending.slice(0, 5)) await label(name, "canary");
    for (const name of [...canary].slice(0, 3)) await label(name, "prod");
  }

  /** One sentence for each state that no limit or gate permits. */
  function broken(): readonly string[] {
    const passedAt = Math.min(
      ...observer.rollouts
        .filter(({ status }) =>
          (status?.stages ?? []).some(({ gates: records = [] }) =>
            records.some(({ name, result }) => name === "board" && result === "Passed"),
          ),
        )
        .map(({ metadata }) => Number(metadata.resourceVersion)),
    );
    assert.ok(Number.isFinite(passedAt), "the decision was stored");
    const inFlight = new Set<string>();
    let largest = 0;
    const sentences: string[] = [];
    for (const state of observer.states.slice(from)) {
      const { cluster, resourceVersion } = state;
      if (isPromoted(state) && !state.isReady) inFlight.add(cluster);
      else inFlight.delete(cluster);
      largest = Math.max(largest, inFlight.size);
      const most = resourceVersion < passedAt ? limits.canary : limits.canary + limits.prod;
      if (inFlight.size > most)
        sentences.push(`${inFlight.size} in flight at ${resourceVersion}, and ${most} may be`);
      if (isPromoted(state) && resourceVersion < passedAt && !canary.has(cluster))
        sentences.push(`${cluster} was promoted at ${resourceVersion}, before the gate passed`);
    }
    assert.ok(largest > limits.canary, "the limits were used");
    return sentences;
  }
});
