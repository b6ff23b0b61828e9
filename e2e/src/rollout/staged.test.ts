/**
 * A staged rollout as people and a CI job see and decide it: by the command line, each with a kubeconfig of their own, on a real fleet. In
 * the end the clusters have what Helm's records say.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureBinaries } from "@flotilla/local/binaries";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { type BundleRollout, bundleRollouts, type Gate, gates } from "@flotilla/shared/api/rollout";
import { afterAll, test } from "vitest";
import { parse, stringify } from "yaml";
import { configChart } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestCluster } from "../harness/fleet.ts";
import { type CommandEnd, commandsIn } from "../harness/flotilla-command.ts";
import { programFor } from "../harness/program.ts";
import { clusterRoles, roleBindings } from "../harness/rbac.ts";
import { installedConfig, releaseHistory } from "../harness/releases.ts";
import { waitForObject } from "../harness/wait.ts";

const { fleet, charts } = await startFleetForFile({ clusters: [{ canary: "true" }, {}] });
const flotilla = await commandsIn({ onTestFinished: afterAll });
const { kubectl: kubectlPath } = await ensureBinaries(["kubectl"]);
const { hub, workspace } = fleet;
const [canary, rest] = fleet.clusters;
assert.ok(canary !== undefined && rest !== undefined);
const namespace = workspaceNamespace;

await hub.create(clusterRoles, {
  metadata: { name: "gate-decider" },
  rules: [
    {
      apiGroups: [gates.group],
      resources: ["gates/status"],
      verbs: ["get", "update", "patch"],
    },
  ],
});

/** The roles of the hub's chart, and of those who decide external gates. */
const users = {
  alice: ["flotilla-rollout-approver"],
  olga: ["flotilla-rollout-operator"],
  bob: ["flotilla-rollout-viewer", "gate-decider"],
  ci: ["flotilla-rollout-viewer", "gate-decider"],
} as const;
type User = keyof typeof users;

for (const [user, roles] of Object.entries(users))
  for (const role of roles)
    await hub.create(roleBindings, {
      metadata: { namespace, name: `${role}-${user}` },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
      subjects: [{ kind: "User", name: user }],
    });

/** A kubeconfig that makes requests as this user alone. */
async function kubeconfigOf(user: User): Promise<string> {
  const config = parse(await readFile(fleet.hubPlane.kubeconfig, "utf8")) as {
    users: { user: Record<string, unknown> }[];
  };
  for (const each of config.users) each.user["as"] = user;
  const path = join(fleet.dir, `${user}.kubeconfig`);
  await writeFile(path, stringify(config));
  return path;
}

const kubeconfigs = new Map<User, string>();
for (const user of ["alice", "olga", "bob", "ci"] as const)
  kubeconfigs.set(user, await kubeconfigOf(user));

function as(user: User, ...args: readonly string[]): Promise<CommandEnd> {
  return flotilla.run(...args, "--kubeconfig", kubeconfigs.get(user) ?? "");
}

/** Printed by a command that succeeded. */
async function printed(user: User, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await as(user, ...args);
  assert.deepEqual([code, stderr], [0, ""], stdout);
  return stdout;
}

/** The sentence of a command that failed, in one line of standard error. */
async function refused(user: User, ...args: readonly string[]): Promise<string> {
  const { code, stderr } = await as(user, ...args);
  assert.equal(code, 1);
  return stderr;
}

async function rolloutAs(
  what: string,
  isDesired: (rollout: BundleRollout) => boolean,
  name = "web-1",
): Promise<BundleRollout> {
  return await waitForObject(hub, bundleRollouts, { namespace, name }, what, isDesired);
}

/** Waits for the Gate of the name that the rollout has stored. */
async function gateOf(rollout: BundleRollout, stage: string): Promise<Gate> {
  const record = rollout.status?.stages
    ?.find((each) => each.name === stage)
    ?.gates?.findLast(({ result }) => result === "Waiting");
  assert.ok(record !== undefined, JSON.stringify(rollout.status));
  const found = await hub.reader.get(gates, { namespace, name: record.gate });
  assert.ok(found !== undefined);
  return found;
}

const waitsIn = (stage: string) => (rollout: BundleRollout) =>
  rollout.status?.phase === "Waiting" &&
  rollout.status.stages?.some(
    ({ name, gates: records = [] }) =>
      name === stage && records.some(({ result, uid }) => result === "Waiting" && Boolean(uid)),
  ) === true;

async function versionIn(cluster: TestCluster): Promise<string | undefined> {
  return (await installedConfig(cluster.client, "web"))?.data?.["version"];
}

/** What kubectl prints of what a rollout waits for, and since when. */
async function waitingByKubectl(name: string): Promise<readonly string[]> {
  const kubectl = programFor(kubectlPath, fleet.hubPlane.kubeconfig);
  const { stdout } = await kubectl([
    ...["get", "bundlerollout", name, `--namespace=${namespace}`],
    '--output=jsonpath={.status.message}{"\\n"}{.status.since}',
  ]);
  return stdout.split("\n");
}

/** What the command line says in its lines `message` and `since`. */
async function waitingByCommand(user: User, app: string): Promise<readonly string[]> {
  const text = await printed(user, "rollout", "status", app);
  const [, message = ""] = /^message +(.*)$/m.exec(text) ?? [];
  const [, since = ""] = /^since +(\S+) \(\S+\)$/m.exec(text) ?? [];
  return [message, since];
}

const example = fileURLToPath(new URL("../../../examples/gate-smoke/main.ts", import.meta.url));

/** The controller of the example, as the user `ci`. */
function startController(): ChildProcess {
  return spawn(process.execPath, [example, namespace], {
    env: { ...process.env, KUBECONFIG: kubeconfigs.get("ci") },
    stdio: "inherit",
  });
}

test("a CI job fails a gate, and everybody sees the same sentence", async () => {
  charts.publish(await configChart("web", "1.0.0"), await configChart("web", "1.1.0"));
  await workspace.createHelmOp("web", {
    helm: { repo: charts.url, chart: "web", version: "1.0.0" },
    rolloutStrategy: {
      stages: [
        {
          name: "canary",
          clusterSelector: { matchLabels: { canary: "true" } },
          after: [{ name: "smoke", external: { config: { url: `${charts.url}/index.yaml` } } }],
        },
        { name: "rest", before: [{ name: "change-board", approval: {} }] },
      ],
    },
  });

  // The canary has the version, and waits for the CI job.
  const tested = await rolloutAs("waiting for the gate of canary", waitsIn("canary"));
  const { message = "", since = "" } = tested.status ?? {};
  assert.match(message, /^waits for the gate smoke \(until .*\) of stage canary$/);
  assert.ok(Date.parse(since) <= Date.now(), since);
  assert.deepEqual(await waitingByKubectl("web-1"), [message, since]);
  assert.deepEqual(await waitingByCommand("bob", "web"), [message, since]);
  assert.ok((await printed("bob", "rollout", "list")).includes(`${since}   ${message}\n`));
  await workspace.waitForHelmOp(
    "web",
    "waiting with the same sentence, since the same time",
    ({ status }) => status?.rollout?.message === message && status.rollout.since === since,
  );
  assert.deepEqual([await versionIn(canary), await versionIn(rest)], ["1.0.0", undefined]);

  // It fails the gate under its own name, which halts the rollout; a script that watches ends with 1.
  const watching = as("bob", "rollout", "status", "helmop/web", "-w");
  const failed = await printed(
    "ci",
    ...["gate", "fail", (await gateOf(tested, "canary")).metadata.name],
    ...["--message", "p99 900 ms", "--wait"],
  );
  assert.match(failed, /failed by ci\n {2}kubectl patch gate web-1-canary-smoke --namespace /);
  assert.match(failed, /^result +Failed$/m);
  const watched = await watching;
  assert.deepEqual([watched.code, watched.stderr], [1, ""]);
  assert.match(
    watched.stdout,
    /^web-1 {2}1\.0\.0 {2}Halted {2}canary {2}1\/2 {2}the gate smoke .*$/m,
  );
  assert.match(
    await refused("ci", "gate", "pass", "web-1-canary-smoke"),
    /was decided already: Failed by ci, "p99 900 ms"; a decision is never changed/,
  );
});

test("nobody resumes it without the right or without saying so, and the gate is asked for again", async (t) => {
  assert.match(
    await refused("olga", "rollout", "resume", "web"),
    /nothing was changed: there is no terminal to ask on; add --yes/,
  );
  assert.match(
    await refused("bob", "rollout", "resume", "web", "--yes"),
    /bob.*patch.*bundlerollouts/,
  );
  const resumed = await printed("olga", "rollout", "resume", "web", "--yes");
  assert.match(
    resumed,
    /^resumes rollout web-1 \(version 1\.0\.0\): 1 of 2 clusters are left; the gate smoke of stage canary is asked for again$/m,
  );
  assert.match(
    resumed,
    /^ {2}kubectl patch bundlerollout web-1 --namespace fleet-default --type merge --patch '\{"spec":\{"resume":"/m,
  );

  // The gate is asked for again, and the controller of the example passes it.
  const again = await rolloutAs("waiting for a second gate", (rollout) =>
    waitsIn("canary")(rollout),
  );
  assert.equal((await gateOf(again, "canary")).metadata.name, "web-1-canary-smoke-2");
  const controller = startController();
  t.onTestFinished(() => void controller.kill("SIGKILL"));
  await rolloutAs("waiting for the approval of rest", waitsIn("rest"));
  const smoke = await hub.reader.get(gates, { namespace, name: "web-1-canary-smoke-2" });
  assert.deepEqual(
    [smoke?.status?.decision?.by, smoke?.status?.decision?.message],
    ["ci", "HTTP status 200"],
  );
  const { status } = await rolloutAs("the decision of ci", waitsIn("rest"));
  const record = status?.stages?.[0]?.gates?.findLast(({ name }) => name === "smoke");
  assert.deepEqual([record?.decision?.by, record?.decision?.verified], ["ci", true]);
});

test("an approval needs the digest and the right, and completes the rollout", async () => {
  const gated = await rolloutAs("waiting for the approval of rest", waitsIn("rest"));
  const { digest } = (await gateOf(gated, "rest")).spec;
  const unseen = await as("alice", "approve", "web", "--stage", "rest");
  assert.equal(unseen.code, 1);
  assert.match(unseen.stdout, /^clusters +1: fleet-default\/cluster-2$/m);
  assert.ok(unseen.stderr.includes(`flotilla approve web --stage rest ${digest}`), unseen.stderr);
  assert.match(
    await refused("alice", "approve", "web", `sha256:${"0".repeat(64)}`),
    /no approval of rollout web-1 \(version 1\.0\.0\) waits for sha256:0+, /,
  );
  assert.match(
    await refused("bob", "approve", "web", digest),
    /bob has no right to update gates\/approve in namespace fleet-default: ask for .* flotilla-rollout-approver/,
  );
  assert.match(
    await refused("olga", "approve", "web", digest),
    /olga may not patch gates\/status in namespace fleet-default/,
  );
  assert.match(
    await refused("ci", "gate", "pass", "web-1-rest-change-board"),
    /is decided with `flotilla approve helmop\/web --stage rest`/,
  );
  assert.match(
    await printed("alice", "approve", "web", digest, "--message", "CHG-1234"),
    /^gate web-1-rest-change-board \(approval change-board of stage rest\) passed by alice$/m,
  );
  assert.match(
    await refused("alice", "approve", "web", digest),
    /change-board of stage rest was passed by alice at |was decided already: Passed by alice/,
  );
  const completed = await as("olga", "rollout", "status", "web", "-w");
  assert.deepEqual([completed.code, completed.stderr], [0, ""]);
  assert.deepEqual([await versionIn(canary), await versionIn(rest)], ["1.0.0", "1.0.0"]);
});

test("the next version goes the same way, and is taken back in all clusters", async (t) => {
  const controller = startController();
  t.onTestFinished(() => void controller.kill("SIGKILL"));
  await workspace.patchHelmOp("web", { helm: { version: "1.1.0" } });
  const next = await rolloutAs("waiting for its approval", waitsIn("rest"), "web-2");
  await printed("alice", "approve", "helmop", "web", (await gateOf(next, "rest")).spec.digest);
  const second = await flotilla.run(
    ...["rollout", "status", "web", "-w", "-o", "json", "--kubeconfig", fleet.hubPlane.kubeconfig],
  );
  assert.equal(second.code, 0, second.stderr);
  const last = JSON.parse(second.stdout.trim().split("\n").at(-1) ?? "") as Record<string, unknown>;
  assert.deepEqual([last["name"], last["phase"]], ["web-2", "Completed"]);
  assert.deepEqual([await versionIn(canary), await versionIn(rest)], ["1.1.0", "1.1.0"]);

  // Both clusters have what they had, by an upgrade of Helm each.
  const back = await flotilla.run(
    ...["rollout", "rollback", "web", "--yes", "--kubeconfig", fleet.hubPlane.kubeconfig],
  );
  assert.match(
    back.stdout,
    /^takes rollout web-2 \(version 1\.1\.0\) back, .*: 2 clusters get back what they had before, 0 keep it/,
  );
  const ended = await as("olga", "rollout", "status", "web", "-w");
  assert.equal(ended.code, 1, ended.stderr);
  const returned = await rolloutAs(
    "taken back",
    ({ status }) => status?.phase === "RolledBack",
    "web-2",
  );
  const { message, since } = returned.status ?? {};
  assert.deepEqual(await waitingByKubectl("web-2"), [message, since]);
  assert.ok(ended.stdout.includes(message ?? "without a message"));
  assert.deepEqual([await versionIn(canary), await versionIn(rest)], ["1.0.0", "1.0.0"]);
  // Without `maxHistory` two revisions are kept.
  for (const cluster of [canary, rest])
    assert.deepEqual(await releaseHistory(cluster.client, "web"), ["2 superseded", "3 deployed"]);
});

test("who decided what is kept in the history", async () => {
  const history = await printed("bob", "rollout", "history", "web");
  assert.match(history, /^web-2 +1\.1\.0 +RolledBack /m);
  assert.match(history, /^web-1 +1\.0\.0 +Completed /m);
  assert.match(history, /^web-1 +canary +smoke +External +Failed +ci +\S+ +p99 900 ms$/m);
  assert.match(history, /^web-1 +rest +change-board +Approval +Passed +alice +\S+ +CHG-1234$/m);
});
