/**
 * Helm in memory: the four commands that the agent runs, on the API server in memory. As the real one it writes a record before it
 * changes an object, and the result afterwards, each with a write of its own. A chart has one ConfigMap and one test. What it
 * does not do: prune the history (`--history-max`), wait, and compare objects. The tests in e2e run the real one.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import { configMaps, type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { MemoryApiServer } from "@flotilla/shared/kube/testing";
import { ownershipMarks } from "../../../helm/cli/ownership.ts";
import {
  isLocked,
  type ReleaseKey,
  recordSecretName,
  storedValue,
} from "../../../helm/cli/release-record.ts";
import type { HelmResult, RunHelm } from "../../../helm/cli/run-helm.ts";
import {
  chartVersionIn,
  describeHelmRun,
  type HelmCommand,
  type HelmInvocation,
  parseHelmArgs,
} from "./helm-invocation.ts";

/** `is interrupted`: it was killed while its record was pending. */
export type HelmOutcome = "succeeds" | "fails" | "fails before its record" | "is interrupted";

/** For each run, in order, then all succeed; one outcome alone is that of all runs. A run that ends with the agent uses none. */
export type HelmPlan = Readonly<Partial<Record<HelmCommand, HelmOutcome | readonly HelmOutcome[]>>>;

export interface MemoryHelm {
  readonly run: RunHelm;
  /** Those that have begun, as `upgrade to 1.1.0 as revision 2 in shop`. */
  readonly runs: readonly string[];
  /** `namespace`: of the releases; absent: of all that have no plan of their own. */
  plan(plan: HelmPlan, namespace?: string): void;
  /** The revisions of a release, the oldest first. */
  releases(release: ReleaseKey): readonly ReleaseJson[];
  /** As somebody runs it by hand: it is not in `runs`, and succeeds. */
  byHand(...args: readonly string[]): Promise<void>;
}

/** As Helm stores and prints it. */
export interface ReleaseJson {
  readonly name: string;
  readonly namespace: string;
  readonly version: number;
  readonly manifest: string;
  readonly hooks: readonly object[];
  readonly apply_method: "ssa";
  readonly info: { readonly status: string; readonly description: string };
  readonly chart: { readonly metadata: { readonly name: string; readonly version: string } };
  readonly labels: Readonly<Record<string, string>>;
}

export function createMemoryHelm(server: MemoryApiServer): MemoryHelm {
  const runs: string[] = [];
  /** By namespace; "": of all others. */
  const left = new Map<string, Partial<Record<HelmCommand, HelmOutcome | HelmOutcome[]>>>();

  /** By what is stored. */
  const unpacked = new Map<string, ReleaseJson>();

  function releases({ namespace, name }: ReleaseKey): readonly ReleaseJson[] {
    return server
      .all(secrets)
      .filter(({ metadata: { namespace: where, labels } }) => {
        return where === namespace && labels?.["owner"] === "helm" && labels["name"] === name;
      })
      .map((secret) => {
        const stored = storedValue(secret);
        const release = unpacked.get(stored) ?? unpack(stored);
        unpacked.set(stored, release);
        return release;
      })
      .toSorted((a, b) => a.version - b.version);
  }

  async function start(invocation: HelmInvocation, outcome: HelmOutcome): Promise<HelmResult> {
    const { command } = invocation;
    const history = releases(invocation);
    const latest = history.at(-1);
    if (outcome === "fails before its record") return failed("the chart cannot be rendered");
    if (command === "upgrade") {
      if (latest !== undefined && isLocked({ status: latest.info.status }))
        return failed("another operation (install/upgrade/rollback) is in progress");
      return await upgrade(server, invocation, { history, outcome });
    }
    if (latest === undefined) return failed("Release not loaded: app: release: not found");
    const changed = { history, latest, outcome };
    if (command === "rollback") return await rollBack(server, invocation, changed);
    if (command === "uninstall") return await uninstall(server, invocation, changed);
    return await runTests(server, changed);
  }

  return {
    runs,
    releases,
    plan(plan, namespace = "") {
      const outcomesOf = Object.entries(plan).map(([command, outcomes]) => [
        command,
        typeof outcomes === "string" ? outcomes : [...outcomes],
      ]);
      left.set(namespace, Object.fromEntries(outcomesOf));
    },
    async run({ args, stdin = "{}" }) {
      const invocation = parseHelmArgs(args, stdin);
      const plan = left.get(invocation.namespace) ?? left.get("");
      const planned = plan?.[invocation.command];
      const outcome = (typeof planned === "string" ? planned : planned?.[0]) ?? "succeeds";
      const revision = (releases(invocation).at(-1)?.version ?? 0) + 1;
      runs.push(describeHelmRun(invocation, revision));
      const result = await start(invocation, outcome);
      if (Array.isArray(planned)) planned.shift();
      return result;
    },
    async byHand(...args) {
      const { code, stderr } = await start(parseHelmArgs(args, "{}"), "succeeds");
      if (code !== 0) throw new Error(stderr);
    },
  };
}

interface Changed {
  /** The oldest first. */
  readonly history: readonly ReleaseJson[];
  readonly latest: ReleaseJson;
  readonly outcome: HelmOutcome;
}

async function upgrade(
  server: MemoryApiServer,
  { namespace, name, operand, labels, values, flags }: HelmInvocation,
  { history, outcome }: Pick<Changed, "history" | "outcome">,
): Promise<HelmResult> {
  const latest = history.at(-1);
  const isInstall = latest === undefined || latest.info.status === "uninstalled";
  const version = chartVersionIn(operand);
  const release: ReleaseJson = {
    ...{ namespace, name, version: (latest?.version ?? 0) + 1, apply_method: "ssa" },
    // As Helm does: somebody who upgrades by hand keeps those of the agent.
    labels: { ...(isInstall ? {} : latest.labels), ...labels },
    manifest: `---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata: ${JSON.stringify({ version, values })}\n`,
    hooks: [testHook(name)],
    info: { status: isInstall ? "pending-install" : "pending-upgrade", description: "" },
    chart: { metadata: { name: "app", version } },
  };
  if (isInstall && latest !== undefined)
    await server.replace(secrets, secretOf(withStatus(latest, "superseded")));
  await server.create(secrets, secretOf(release));
  if (outcome === "is interrupted") return killed;
  if (outcome === "fails") {
    const broken = withStatus(release, "failed");
    await server.replace(secrets, secretOf(broken));
    const target = history.findLast(({ info }) => info.status === "deployed");
    if (flags.has("--rollback-on-failure") && target !== undefined)
      await restore(server, [...history, broken], target);
    return failed(`${isInstall ? "INSTALLATION" : "UPGRADE"} FAILED: the chart is broken`);
  }
  return await deploy(server, history, release);
}

async function rollBack(
  server: MemoryApiServer,
  { operand }: HelmInvocation,
  { history, latest, outcome }: Changed,
): Promise<HelmResult> {
  const target = history.find(({ version }) => String(version) === operand);
  if (target === undefined) return failed("release has no such revision");
  const release = rolledBack(target, latest);
  if (outcome === "succeeds") return { ...(await restore(server, history, target)), stdout: "" };
  await server.create(secrets, secretOf(release));
  if (outcome === "is interrupted") return killed;
  await server.replace(secrets, secretOf(withStatus(release, "failed")));
  return failed("the objects cannot be rolled back");
}

async function restore(
  server: MemoryApiServer,
  history: readonly ReleaseJson[],
  target: ReleaseJson,
): Promise<HelmResult> {
  const release = rolledBack(target, history.at(-1) ?? target);
  await server.create(secrets, secretOf(release));
  return await deploy(server, history, release);
}

/** Helm copies the labels of the revision that it rolls back to. */
function rolledBack(target: ReleaseJson, latest: ReleaseJson): ReleaseJson {
  return { ...withStatus(target, "pending-rollback"), version: latest.version + 1 };
}

/** For a release whose record is pending. */
async function deploy(
  server: MemoryApiServer,
  history: readonly ReleaseJson[],
  release: ReleaseJson,
): Promise<HelmResult> {
  const { namespace, name } = release;
  const { labels, annotations } = ownershipMarks({ namespace, name });
  const [, data = "{}"] = /^data: (.*)$/m.exec(release.manifest) ?? [];
  const object = { metadata: { namespace, name, labels, annotations }, data: JSON.parse(data) };
  const isNew = server.peek(configMaps, { namespace, name }) === undefined;
  await (isNew ? server.create(configMaps, object) : server.replace(configMaps, object));
  for (const each of history)
    if (each.info.status === "deployed")
      await server.replace(secrets, secretOf(withStatus(each, "superseded")));
  const deployed = withStatus(release, "deployed");
  await server.replace(secrets, secretOf(deployed));
  return { code: 0, stdout: JSON.stringify(deployed), stderr: "" };
}

async function uninstall(
  server: MemoryApiServer,
  { namespace, name, flags }: HelmInvocation,
  { history, latest, outcome }: Changed,
): Promise<HelmResult> {
  await server.replace(secrets, secretOf(withStatus(latest, "uninstalling")));
  if (outcome === "is interrupted") return killed;
  if (outcome === "fails") return failed("failed to delete release: app");
  await server.delete(configMaps, { namespace, name });
  if (flags.has("--keep-history")) {
    await server.replace(secrets, secretOf(withStatus(latest, "uninstalled")));
    return succeeded;
  }
  for (const each of history) await server.delete(secrets, secretOf(each).metadata);
  return succeeded;
}

async function runTests(
  server: MemoryApiServer,
  { latest, outcome }: Changed,
): Promise<HelmResult> {
  const phase = outcome === "succeeds" ? "Succeeded" : "Failed";
  const hooks = [testHook(latest.name, phase)];
  await server.replace(secrets, secretOf({ ...latest, hooks }));
  return outcome === "succeeds" ? succeeded : failed(`pod ${latest.name}-test failed`);
}

function unpack(stored: string): ReleaseJson {
  const packed = Buffer.from(Buffer.from(stored, "base64").toString(), "base64");
  return JSON.parse(gunzipSync(packed).toString()) as ReleaseJson;
}

function secretOf(release: ReleaseJson): Secret {
  const { namespace, name, version, labels, info } = release;
  const packed = gzipSync(JSON.stringify(release), { level: 1 }).toString("base64");
  const own = { owner: "helm", name, version: String(version), status: info.status };
  return {
    metadata: {
      namespace,
      name: recordSecretName({ name, revision: version }),
      labels: { ...labels, ...own },
    },
    data: { release: Buffer.from(packed).toString("base64") },
  };
}

function withStatus(release: ReleaseJson, status: string): ReleaseJson {
  return { ...release, info: { status, description: status } };
}

function testHook(name: string, phase = ""): object {
  const manifest = `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}-test\n`;
  return { name: `${name}-test`, kind: "Pod", manifest, events: ["test"], last_run: { phase } };
}

function failed(why: string): HelmResult {
  return { code: 1, stdout: "", stderr: `Error: ${why}` };
}

const killed: HelmResult = { code: null, stdout: "", stderr: "" };
const succeeded: HelmResult = { code: 0, stdout: "", stderr: "" };
