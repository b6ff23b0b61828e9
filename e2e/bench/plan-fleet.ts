/** What a plan of many clusters costs the hub: simulated agents in a few groups answer `flotilla plan`, over the hub's port. */
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { serviceAccounts } from "@flotilla/shared/kube/objects";
import { fleetPlanSchema } from "@flotilla/shared/plan";
import { clusterRoles, roleBindings } from "../src/harness/rbac.ts";
import { type AgentsFleet, startAgentsFleet } from "./agents/agents-fleet.ts";
import { memoryMb, untilCount } from "./measure/bench-fleet.ts";
import { endOfHub } from "./measure/end-of-hub.ts";
import type { Figure } from "./measure/figures.ts";
import { requestCounts, since } from "./measure/request-counts.ts";

const run = promisify(execFile);
const program = fileURLToPath(new URL("../../cli/bin/flotilla.js", import.meta.url));

const planGroups = 5;
const bars = { ms: 10_000, mb: 50, writes: 3 } as const;
/** Whose token the hub gets. */
const account = "planner";
const sampleMs = 100;
const quietMs = 2_000;
const mostOutputBytes = 64 * 1024 * 1024;

/** Nothing of these is stored. */
const unstored = /tokenreviews|subjectaccessreviews| token$/;

export interface PlanOptions {
  readonly agents: number;
  readonly report: (figures: readonly Figure[]) => void;
}

export async function planOfFleet(options: PlanOptions): Promise<void> {
  const bench = await startAgentsFleet();
  try {
    await Promise.race([measure(bench, options), endOfHub(bench)]);
  } finally {
    await bench.close();
  }
}

async function measure(bench: AgentsFleet, { agents, report }: PlanOptions): Promise<void> {
  const { fleet, deployments } = bench;
  await allowPlans(bench);
  await bench.simulate("many", agents, { keep: true, planGroups });
  await untilCount(
    deployments,
    agents,
    ({ spec, status }) =>
      spec.deploymentID !== "" && status?.appliedDeploymentID === spec.deploymentID,
  );
  // What a pause holds is what `flotilla plan` plans.
  const helm = { chart: "https://charts.example.com/web-3.0.0.tgz" };
  await fleet.hub.patch(
    helmOps,
    { namespace, name: "many-1" },
    { type: "merge", body: { spec: { paused: true, helm } } },
  );
  await untilCount(
    deployments,
    agents,
    ({ spec }) => spec.paused === true && spec.stagedDeploymentID !== spec.deploymentID,
  );

  // Not counted: the code of the command and of the plan is loaded.
  await plan(bench, "--sample=1");
  const before = await untilNoWrites(bench);
  const peak = await peakMemory(bench);
  const begunAt = performance.now();
  const answer = await plan(bench);
  const ms = performance.now() - begunAt;
  const mb = await peak.end();
  const writes = writesSince(before, await requestCounts(bench));

  const counted = answer.groups.map(({ clusters }) => clusters.count);
  if (counted.length !== planGroups || answer.unknown.length > 0)
    throw new Error(
      `the plan has groups of ${counted.join(", ")}: ${JSON.stringify(answer.unknown)}`,
    );
  const what = `plan of ${agents} clusters in ${planGroups} groups`;
  report([
    { what, unit: "ms", value: ms, bar: bars.ms },
    {
      what: `${what}: memory of the hub, the peak above the start`,
      unit: "MB",
      value: mb,
      bar: bars.mb,
    },
    {
      what: `${what}: writes of the hub's API server`,
      unit: "writes",
      value: writes.reduce((sum, [, count]) => sum + count, 0),
      bar: bars.writes,
      detail: writes.map(([each, count]) => `${each}: ${count}`).join(", "),
    },
  ]);
}

type Counts = Awaited<ReturnType<typeof requestCounts>>;

function writesSince(before: Counts, after: Counts) {
  return since(before, after).filter(
    ([what]) => /^(POST|PUT|PATCH|DELETE)/.test(what) && !unstored.test(what),
  );
}

/** The statuses of many clusters are written for a while after their agents have connected. */
async function untilNoWrites(bench: AgentsFleet): Promise<Counts> {
  for (let last = await requestCounts(bench); ; ) {
    await sleep(quietMs);
    const next = await requestCounts(bench);
    if (writesSince(last, next).length === 0) return next;
    last = next;
  }
}

async function plan({ fleet }: AgentsFleet, ...flags: readonly string[]) {
  const args = [
    ...[program, "plan", "helmop/many-1", "--output=json", ...flags],
    `--service-account=${account}`,
    `--kubeconfig=${fleet.hubPlane.kubeconfig}`,
    `--hub-url=http://127.0.0.1:${fleet.hubPorts.http}`,
  ];
  const env = { HOME: fleet.dir, PATH: process.env["PATH"] ?? "" };
  const { stdout } = await run(process.execPath, args, { env, maxBuffer: mostOutputBytes }).catch(
    (thrown: { readonly code?: unknown; readonly stdout?: string; readonly stderr?: string }) => {
      // As `diff`: something would change.
      if (thrown.code === 1 && thrown.stdout !== undefined) return { stdout: thrown.stdout };
      throw new Error(`flotilla plan ended with ${String(thrown.code)}: ${thrown.stderr}`);
    },
  );
  return fleetPlanSchema.parse(JSON.parse(stdout));
}

async function allowPlans({ fleet }: AgentsFleet): Promise<void> {
  const name = account;
  await fleet.hub.create(serviceAccounts, { metadata: { namespace, name } });
  await fleet.hub.create(clusterRoles, {
    metadata: { name },
    rules: [{ apiGroups: ["flotilla.dev"], resources: ["bundlerollouts/plan"], verbs: ["get"] }],
  });
  await fleet.hub.create(roleBindings, {
    metadata: { namespace, name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", namespace, name }],
  });
}

/** How much more memory the hub has at any time than now. */
async function peakMemory({ fleet }: AgentsFleet): Promise<{ end(): Promise<number> }> {
  const { pid } = fleet.hubProcess().identity;
  const before = await memoryMb(pid);
  let most = before;
  async function sample(): Promise<void> {
    most = Math.max(most, await memoryMb(pid));
  }
  const timer = setInterval(() => void sample(), sampleMs);
  return {
    async end() {
      clearInterval(timer);
      await sample();
      return most - before;
    },
  };
}
