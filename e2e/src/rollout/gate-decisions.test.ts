/** Who may decide about a Gate, and what a decision says, as a real API server checks it: with the roles of the hub's chart. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBinaries } from "@flotilla/local/binaries";
import { waitUntil } from "@flotilla/local/process";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { type Gate, type GateDecision, gates } from "@flotilla/shared/api/rollout";
import {
  connectKube,
  type KubeConfig,
  type KubeConnection,
  type KubeRest,
  loadKubeconfig,
} from "@flotilla/shared/kube/client";
import { namespaces, serviceAccounts } from "@flotilla/shared/kube/objects";
import { afterAll, describe, test } from "vitest";
import { withChartRights } from "../harness/chart-rights.ts";
import { connectCluster } from "../harness/cluster-client.ts";
import { leaseControlPlane } from "../harness/control-planes.ts";
import { hangMs } from "../harness/hang.ts";
import { programFor } from "../harness/program.ts";
import { clusterRoles, roleBindings } from "../harness/rbac.ts";

const dir = await mkdtemp(join(tmpdir(), "flotilla-e2e-"));
const { helm, kubectl: kubectlPath } = await ensureBinaries(["helm", "kubectl"]);
const plane = await leaseControlPlane("hub");
const admin = await connectCluster(plane.kubeconfig);
const kubectl = programFor(kubectlPath, plane.kubeconfig);
const hubKubeconfig = await withChartRights("hub", { plane, client: admin, helm, dir });
const hub = connectKube(await loadKubeconfig({ path: hubKubeconfig }));
const opened: KubeConnection[] = [];

afterAll(async () => {
  await Promise.all([...opened, hub, admin].map((each) => each.close()));
  await plane.stop();
  await rm(dir, { recursive: true, force: true });
});

const namespace = workspaceNamespace;
const digest = `sha256:${"a".repeat(64)}`;
const hubUser = "system:serviceaccount:flotilla-system:flotilla";

await admin.create(namespaces, { metadata: { name: namespace } });
await admin.create(clusterRoles, {
  metadata: { name: "decider" },
  rules: [
    {
      apiGroups: [gates.group],
      resources: ["gates/status"],
      // As kubectl needs it, which reads the status before it patches it.
      verbs: ["get", "update", "patch"],
    },
  ],
});

/** Gives a user or a service account of the namespace a role there. */
async function bind(role: string, kind: "User" | "ServiceAccount", name: string): Promise<void> {
  await admin.create(roleBindings, {
    metadata: { namespace, name: `${role}-${name}` },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
    subjects: [{ kind, name, ...(kind === "ServiceAccount" && { namespace }) }],
  });
}

await bind("flotilla-rollout-approver", "User", "alice");
await bind("flotilla-rollout-approver", "User", "zoe");
await bind("decider", "User", "bob");
await bind("flotilla-rollout-operator", "User", "olga");
await bind("decider", "ServiceAccount", "load-test");

const as = (user: string): KubeRest => admin.as({ user, groups: [] });

/** With the token of a service account, and no other credentials. */
async function asServiceAccount(name: string): Promise<KubeRest> {
  await admin.create(serviceAccounts, { metadata: { namespace, name } });
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const answer = await admin.raw(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
    body: JSON.stringify(body),
  });
  const { status } = JSON.parse(answer) as { readonly status: { readonly token: string } };
  const { clientCertificate: _, ...config }: KubeConfig = await loadKubeconfig({
    path: plane.kubeconfig,
  });
  const connected = connectKube({
    ...config,
    credentials: { kind: "token", token: status.token },
  });
  opened.push(connected);
  return connected;
}

let count = 0;

/** Creates a Gate as the hub does; returns its name. */
async function openGate(type: Gate["spec"]["type"]): Promise<string> {
  count += 1;
  const name = `web-7-prod-gate-${count}`;
  await hub.create(gates, {
    metadata: { namespace, name, labels: { "flotilla.dev/rollout": "web-7" } },
    spec: {
      type,
      app: { kind: "HelmOp", name: "web" },
      rollout: { name: "web-7", uid: "9e1c6a2e-0000-4000-8000-000000000007" },
      stage: "prod",
      gate: "change-board",
      when: "Before",
      revision: digest,
      version: "1.4.2",
      digest,
      clusters: { count: 412, first: ["fleet-default/ams"] },
      expiresAt: "2026-12-04T10:00:00Z",
    },
  });
  return name;
}

const passed = (by: string): GateDecision => ({ result: "Passed", by, digest, message: "CHG-1" });

/** `decision`: null removes it. */
async function decide(
  user: KubeRest,
  name: string,
  decision: Partial<GateDecision> | null,
): Promise<Gate> {
  return await user.patch(
    gates,
    { namespace, name },
    { type: "merge", body: { status: { decision } } },
    { subresource: "status" },
  );
}

async function decisionOf(name: string): Promise<GateDecision | undefined> {
  return (await admin.get(gates, { namespace, name }))?.status?.decision;
}

// A policy takes effect some time after it was created.
const probe = await openGate("External");
await waitUntil(
  async () => {
    try {
      await decide(as("bob"), probe, { result: "Passed", by: "alice", digest });
    } catch {
      return true;
    }
    throw new Error("a false name was taken");
  },
  { what: "the policy for decisions", timeoutMs: hangMs },
);

describe("an approval", () => {
  test("is taken from somebody with the right to approve, under their own name", async () => {
    const name = await openGate("Approval");

    await decide(as("alice"), name, passed("alice"));

    assert.deepEqual(await decisionOf(name), passed("alice"));
  });

  test("is refused under the name of somebody else, who is named", async () => {
    const name = await openGate("Approval");

    await assert.rejects(decide(as("alice"), name, passed("zoe")), /decision\.by must be alice/);

    assert.equal(await decisionOf(name), undefined);
  });

  test("is refused without the right to approve, which is named", async () => {
    const name = await openGate("Approval");

    await assert.rejects(
      decide(as("bob"), name, passed("bob")),
      /bob has no right to update gates\/approve in namespace fleet-default/,
    );

    assert.equal(await decisionOf(name), undefined);
  });

  test("is refused to an operator of rollouts, who may not write decisions at all", async () => {
    const name = await openGate("Approval");

    await assert.rejects(decide(as("olga"), name, passed("olga")), { code: "KUBE_FORBIDDEN" });
  });

  test("is refused to the hub itself", async () => {
    const name = await openGate("Approval");

    await assert.rejects(
      hub.replace(gates, await withStatus(name, { decision: passed(hubUser) }), {
        subresource: "status",
      }),
      /flotilla has no right to update gates\/approve/,
    );
  });

  test("names the digest of what was seen, or is refused", async () => {
    const name = await openGate("Approval");
    const alice = as("alice");

    for (const [wrong, message] of [
      [
        { ...passed("alice"), digest: `sha256:${"b".repeat(64)}` },
        /must be the digest of the spec/,
      ],
      [{ result: "Passed", by: "alice" }, /decision\.digest: Required value/],
      [{ by: "alice", digest }, /decision\.result: Required value/],
      [{ result: "Passed", digest }, /decision\.by/],
    ] as const)
      await assert.rejects(decide(alice, name, wrong), message);

    assert.equal(await decisionOf(name), undefined);
  });
});

describe("a decision that was made", () => {
  test("is not changed by anybody", async () => {
    const name = await openGate("Approval");
    await decide(as("alice"), name, passed("alice"));

    for (const [who, decision] of [
      ["alice", { result: "Failed" }],
      ["alice", { message: "CHG-2" }],
      ["zoe", { by: "zoe" }],
      ["zoe", null],
    ] as const)
      await assert.rejects(
        decide(as(who), name, decision),
        /a decision cannot be changed or removed/,
      );
    await assert.rejects(
      decide(admin, name, { ...passed("alice"), result: "Failed" }),
      /a decision cannot be changed or removed/,
    );

    assert.deepEqual(await decisionOf(name), passed("alice"));
  });

  test("is not removed with the whole status", async () => {
    const name = await openGate("External");
    await decide(as("bob"), name, passed("bob"));
    const { status: _, ...bare } = await gateNamed(name);

    await assert.rejects(
      admin.replace(gates, bare, { subresource: "status" }),
      /a decision cannot be changed or removed/,
    );
    await admin.replace(gates, bare);

    assert.deepEqual(await decisionOf(name), passed("bob"));
  });

  test("is not brought along when a Gate is created", async () => {
    const name = await openGate("Approval");
    const { metadata, spec } = await gateNamed(name);
    await admin.delete(gates, { namespace, name });

    await admin.create(gates, {
      metadata: { namespace, name: metadata.name },
      spec,
      status: { decision: passed("alice") },
    });

    assert.equal(await decisionOf(name), undefined);
  });
});

describe("an external gate", () => {
  test("is decided by a service account under its own name", async () => {
    const name = await openGate("External");
    const robot = await asServiceAccount("load-test");
    const user = `system:serviceaccount:${namespace}:load-test`;

    await assert.rejects(
      decide(robot, name, passed("load-test")),
      new RegExp(`decision\\.by must be ${user}`),
    );
    await decide(robot, name, { ...passed(user), result: "Failed", message: "p99 900 ms" });

    assert.deepEqual(await decisionOf(name), {
      ...passed(user),
      result: "Failed",
      message: "p99 900 ms",
    });
  });
});

for (const [type, user] of [
  ["External", "bob"],
  ["Approval", "alice"],
] as const) {
  test(`a gate of the type ${type} is decided with kubectl`, async () => {
    const name = await openGate(type);

    const { code, stderr } = await kubectl([
      ...["patch", "gate", name, `--namespace=${namespace}`, `--as=${user}`],
      ...["--subresource=status", "--type=merge"],
      `--patch=${JSON.stringify({ status: { decision: passed(user) } })}`,
    ]);

    assert.deepEqual([code, stderr], [0, ""]);
    assert.deepEqual(await decisionOf(name), passed(user));
  });
}

test("a Gate of a newer hub, with fields that are not known here, is decided as well", async () => {
  const name = await openGate("External");
  const { metadata, spec } = await gateNamed(name);
  const novel = { ...spec, novel: { deep: [1] }, app: { ...spec.app, novel: true } };
  await admin.delete(gates, { namespace, name });
  await hub.create(gates, { metadata: { namespace, name: metadata.name }, spec: novel });

  await decide(as("bob"), name, passed("bob"));

  assert.deepEqual((await gateNamed(name)).spec, novel);
});

test("a gate that the hub decides takes no decision", async () => {
  for (const type of ["Soak", "Test", "Window", "Lifecycle", "Rollout"] as const) {
    const name = await openGate(type);

    await assert.rejects(
      decide(as("bob"), name, passed("bob")),
      /only gates of the types Approval and External have a decision/,
    );
  }
});

test("what a Gate is about is not changed", async () => {
  const name = await openGate("Approval");
  const gate = await gateNamed(name);

  for (const change of [{ digest: "sha256:00" }, { type: "External" }, { stage: "all" }] as const)
    await assert.rejects(
      admin.replace(gates, { ...gate, spec: { ...gate.spec, ...change } }),
      /the spec of a Gate is never changed/,
    );
  await admin.patch(
    gates,
    { namespace, name },
    { type: "merge", body: { metadata: { labels: { team: "shop" } } } },
  );
});

test("kubectl waits for the condition that the hub writes, and shows who decided", async () => {
  const name = await openGate("Approval");
  await decide(as("alice"), name, passed("alice"));
  const waiting = kubectl([
    ...["wait", `gate/${name}`, `--namespace=${namespace}`, "--for=condition=Passed"],
    "--timeout=60s",
  ]);

  const condition = {
    type: "Passed",
    status: "True",
    reason: "Approved",
    message: "alice has approved it",
    lastTransitionTime: "2026-12-01T10:00:00Z",
  } as const;
  const { status } = await gateNamed(name);
  await hub.replace(gates, await withStatus(name, { ...status, conditions: [condition] }), {
    subresource: "status",
  });

  assert.equal((await waiting).code, 0);
  const { stdout } = await kubectl(["get", "gates", name, `--namespace=${namespace}`]);
  const [header = "", row = ""] = stdout.split("\n");
  assert.match(header, /^NAME\s+APP\s+STAGE\s+TYPE\s+RESULT\s+BY\s+EXPIRES\s+AGE\s*$/);
  assert.match(
    row,
    /^\S+\s+web\s+prod\s+Approval\s+Approved\s+alice\s+2026-12-04T10:00:00Z\s+\S+\s*$/,
  );
});

async function gateNamed(name: string): Promise<Gate> {
  const gate = await admin.get(gates, { namespace, name });
  assert.ok(gate !== undefined);
  return gate;
}

async function withStatus(name: string, status: Gate["status"]): Promise<Gate> {
  return { ...(await gateNamed(name)), ...(status !== undefined && { status }) };
}
