/** GitRepositories that cannot be used: each has one condition that says why, and all others go on. All tests share a fleet. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { hubNamespace, localNamespace } from "@flotilla/shared/api/names";
import {
  buckets,
  type GitRepositorySpec,
  type HelmChart,
  helmCharts,
  ociRepositories,
} from "@flotilla/shared/flux";
import { leases, type ObjectRef } from "@flotilla/shared/kube/objects";
import { requireProgram, runProgram } from "@flotilla/shared/source/git/testing";
import { afterAll, afterEach, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { installedConfig } from "../harness/releases.ts";
import { currentCondition, messageOf, waitForObject } from "../harness/wait.ts";
import { createWorkspace } from "../harness/workspace.ts";
import { chartFiles, gitChart, startGitFleet } from "./git-fleet.ts";
import { createHostileSources, hostileSources, startHostileServer } from "./hostile-server.ts";
import { bombs, heavyCharts, hostileCharts, hostileFiles, hugeCharts } from "./hostile-tree.ts";

const releases = await startGitFleet({ agentFlags: ["--git-size-limit=300Ki"] });
const { https, local, ssh } = releases;
const namespace = "apps";
await releases.createGitNamespace(namespace);
await releases.createGitNamespace("other");
const refOf = (name: string): ObjectRef & { readonly namespace: string } => ({ namespace, name });

const healthy = await releases.repository("healthy");
let minor = 0;
await healthy.commit(chartFiles("app", "1.0.0"));
await releases.createGit(refOf("healthy"));
await releases.create(refOf("healthy"), gitChart("healthy", "app"));
await releases.ready(refOf("healthy"), "1.0.0");

afterEach(async () => {
  minor += 1;
  await healthy.commit(chartFiles("app", `1.${minor}.0`));
  await releases.reconcileGit(refOf("healthy"));
  await releases.ready(refOf("healthy"), `1.${minor}.0`);
});

await (await releases.repository("app")).commit(chartFiles("app", "1.0.0"));
await releases.createSecret(refOf("wrong-password"), {
  ...releases.credentials,
  password: "hunter2-is-wrong",
});
await releases.createSecret(refOf("wrong-host-key"), {
  ...releases.identity,
  known_hosts: ssh.knownHosts.replace(/AAAA\S+/, otherHostKey()),
});
const httpsUrl = https.url("app.git");
const sshUrl = ssh.url("app.git").replace(/\/\/[^@]+@/, "//");

test.each<
  [
    what: string,
    spec: Partial<GitRepositorySpec>,
    failure: readonly [type: string, reason: string, message: RegExp],
  ]
>([
  [
    "wrong password",
    { url: httpsUrl, secretRef: { name: "wrong-password" } },
    [
      "FetchFailed",
      "GitOperationFailed",
      new RegExp(
        `cannot list the references of ${httpsUrl}: the server denies access.*; retrying at`,
      ),
    ],
  ],
  [
    "wrong host key",
    { url: ssh.url("app.git"), secretRef: { name: "wrong-host-key" } },
    [
      "FetchFailed",
      "GitOperationFailed",
      new RegExp(
        `cannot list the references of ${sshUrl}: the host key of the server is not in known_hosts.*; retrying at`,
      ),
    ],
  ],
  [
    "branch that is gone",
    { url: httpsUrl, ref: { branch: "gone" } },
    [
      "FetchFailed",
      "GitOperationFailed",
      new RegExp(`${httpsUrl} has no branch "gone"; retrying at`),
    ],
  ],
  [
    "address that the egress policy denies",
    { url: "http://169.254.169.254/app.git" },
    [
      "FetchFailed",
      "GitOperationFailed",
      /cannot list the references of http:\/\/169\.254\.169\.254\/app\.git: .*; retrying at/,
    ],
  ],
  [
    "Secret that does not exist",
    { url: httpsUrl, secretRef: { name: "none" } },
    ["FetchFailed", "AuthenticationFailed", /there is no Secret none in the namespace/],
  ],
])("a GitRepository with a %s says so, and its releases wait", async (what, spec, failure) => {
  const ref = refOf(what.replaceAll(" ", "-").toLowerCase());
  await releases.createGit(ref, spec);
  await releases.create(ref, gitChart(ref.name, "app"));

  const failed = await releases.gitFailed(ref, ...failure);

  assert.equal(failed.status?.artifact, undefined);
  assert.doesNotMatch(JSON.stringify(failed.status), /hunter2/);
  await releases.waitForCondition(ref, "Ready", "False", "SourceNotReady", /no artifact yet/);
});

test("a chart path and a values file that climb out of the repository stall, and are not read", async () => {
  await releases.createGit(refOf("climb"), { url: httpsUrl });
  await releases.create(refOf("climb-chart"), gitChart("climb", "../../app"));
  const valuesFiles = ["app/../../values.yaml"];
  await releases.create(refOf("climb-values"), gitChart("climb", "app", { valuesFiles }));

  for (const [name, reason] of [
    ["climb-chart", "InvalidChartReference"],
    ["climb-values", "ValuesFilesError"],
  ] as const) {
    const chart = await releases.waitForChart(
      refOf(name),
      "stalled",
      (each) => currentCondition(each, "Stalled")?.reason === reason,
    );
    assert.match(
      messageOf(chart, "Ready"),
      /of commit [0-9a-f]{40}.*leaves the repository|from commit [0-9a-f]{40}.*leaves the repository/,
    );
    await releases.waitForCondition(
      refOf(name),
      "Ready",
      "False",
      "SourceNotReady",
      /leaves the repository/,
    );
  }
});

test("a symbolic link out of the repository is an error of the agent, which names it", async () => {
  const repository = await releases.repository("linked");
  const files = { "files/note.txt": "link:../../../../etc/hostname" };
  await repository.commit(chartFiles("app", "1.0.0", files));
  await releases.createGit(refOf("linked"));

  await releases.create(refOf("linked"), gitChart("linked", "app"));

  const release = await releases.waitFor(refOf("linked"), "failed", (each) =>
    /symbolic link out of the repository/.test(messageOf(each, "Ready")),
  );
  assert.match(messageOf(release, "Ready"), /app\/files\/note\.txt is a symbolic link/);
  assert.equal(await installedConfig(local.client, "linked", namespace), undefined);
});

test("a repository with more bytes than the limit of the agent is an error, and so is a Chart.yaml with more than that of the hub", async () => {
  const repository = await releases.repository("large");
  await repository.commit(
    chartFiles("app", "1.0.0", { "files/big.bin": randomBytes(400_000).toString("base64") }),
  );
  await releases.createGit(refOf("large"));
  await releases.create(refOf("large"), gitChart("large", "app"));

  const release = await releases.waitFor(refOf("large"), "failed", (each) =>
    /more than the limit/.test(messageOf(each, "Ready")),
  );
  assert.match(
    messageOf(release, "Ready"),
    new RegExp(`${https.url("large.git")}: the server sent more than the limit of 307200 bytes`),
  );

  await repository.commit({ "app/Chart.yaml": `name: app\n#${" ".repeat(11 * 1024 * 1024)}\n` });
  await releases.reconcileGit(refOf("large"));

  const chart = await releases.waitForChart(
    refOf("large"),
    "failed",
    (each) => currentCondition(each, "FetchFailed") !== undefined,
  );
  assert.match(
    messageOf(chart, "FetchFailed"),
    /app\/Chart\.yaml of https:.* has \d+ bytes, more than the limit of \d+; retrying at/,
  );
});

test("a GitRepository of another namespace is denied", async () => {
  await releases.createGit({ namespace: "other", name: "app" });
  await releases.create(
    refOf("crossing"),
    gitChart("app", "app", {
      sourceRef: { kind: "GitRepository", name: "app", namespace: "other" },
    }),
  );

  await releases.waitForCondition(refOf("crossing"), "Ready", "False", "AccessDenied", /other/);
  await releases.waitForCondition(refOf("crossing"), "Stalled", "True", "AccessDenied");
});

test("a repository that is rewritten without the commit of a chart is an error until it is read again", async () => {
  const git = requireProgram("git", "git");
  const repository = await releases.repository("rewritten");
  const gone = await repository.commit(chartFiles("app", "1.0.0"));
  await releases.createGit(refOf("rewritten"));
  await releases.create(refOf("rewritten"), gitChart("rewritten", "app"));
  await releases.ready(refOf("rewritten"), "1.0.0");
  const kept = await repository.commit(chartFiles("app", "1.0.0"), {
    ...{ amend: true, message: "rewritten" },
  });
  for (const args of [
    ["reflog", "expire", "--expire=now", "--all"],
    ["gc", "--quiet", "--prune=now"],
  ])
    await runProgram(git, ["-C", repository.bareDir, ...args], {
      env: { HOME: releases.fleet.dir },
    });

  const late = refOf("late");
  await releases.create(late, {
    ...gitChart("rewritten", "app", { valuesFiles: ["app/values.yaml"] }),
  });
  const failed = await releases.waitForChart(
    late,
    "failed",
    (each) => currentCondition(each, "FetchFailed") !== undefined,
  );
  assert.match(
    messageOf(failed, "FetchFailed"),
    new RegExp(`commit ${gone} of .*the server does not have this commit any more.*; retrying at`),
  );

  await releases.reconcileGit(refOf("rewritten"));

  await releases.gitReady(refOf("rewritten"), `main@sha1:${kept}`);
  await releases.ready(late, "1.0.0+1");
  const chart = await releases.waitForChart(
    refOf("rewritten"),
    "of the commit that is there",
    ({ status }) => status?.artifact?.metadata?.["flotilla.dev/pin"]?.includes(kept) === true,
  );
  assert.equal(chart.status?.artifact?.revision, "1.0.0");
  await releases.ready(refOf("rewritten"), "1.0.0");
});

// Last: the hub reads such sources again and again.
test("sources that are made to stop the hub change nothing for the others: twenty HelmOps become ready, and the same process leads", async () => {
  const { charts, fleet, hub } = releases;
  charts.publish(await configChart("config", "1.0.0"));
  const beside = createWorkspace(hub, localNamespace);
  const lease = () => hub.reader.get(leases, { namespace: hubNamespace, name: "flotilla-hub" });
  const before = await lease();
  const running = fleet.hubProcess();
  await (await releases.repository("hostile")).commit(await hostileFiles());
  await releases.createGit(refOf("hostile"));
  const server = await startHostileServer();
  afterAll(() => server[Symbol.asyncDispose]());
  const others = hostileSources(namespace, server.host);
  const names = Array.from({ length: 20 }, (_, at) => `beside-${at}`);

  await Promise.all([
    createHostileSources(hub, others),
    ...[...hostileCharts("hostile")].map(([name, spec]) =>
      hub.create<HelmChart>(helmCharts, { metadata: refOf(name), spec }),
    ),
    ...names.map((name) =>
      beside.createHelmOp(name, { helm: { repo: charts.url, chart: "config", version: "1.0.0" } }),
    ),
  ]);

  await Promise.all(names.map((name) => beside.waitUntilReady(name, "1.0.0", 1)));
  await Promise.all([
    ...[...heavyCharts, "small"].map((name) =>
      waitForObject(
        hub,
        helmCharts,
        refOf(name),
        "ready",
        (chart) => currentCondition(chart, "Ready")?.status === "True",
      ),
    ),
    ...hugeCharts.map((name) =>
      waitForObject(hub, helmCharts, refOf(name), "failed", (chart) =>
        /more than the limit of 262144/.test(messageOf(chart, "FetchFailed")),
      ),
    ),
    ...bombs.map((name) =>
      waitForObject(hub, helmCharts, refOf(name), "failed", (chart) =>
        /is not within the first 64 MiB/.test(messageOf(chart, "FetchFailed")),
      ),
    ),
    ...others.buckets.map(({ metadata }) =>
      waitForObject(hub, buckets, metadata, "failed", (each) =>
        /has more than 50000 objects/.test(messageOf(each, "FetchFailed")),
      ),
    ),
    ...others.ociRepositories.map(({ metadata }) =>
      waitForObject(hub, ociRepositories, metadata, "failed", (each) =>
        /semverFilter takes too long/.test(messageOf(each, "FetchFailed")),
      ),
    ),
  ]);
  const after = await lease();
  assert.deepEqual(
    [after?.spec?.holderIdentity, after?.spec?.leaseTransitions],
    [before?.spec?.holderIdentity, before?.spec?.leaseTransitions],
  );
  assert.equal(running.exit(), undefined);
});

/** The public key of another server. */
function otherHostKey(): string {
  const type = Buffer.from("ssh-ed25519");
  const key = randomBytes(32);
  const length = (bytes: Buffer) => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(bytes.length);
    return size;
  };
  return Buffer.concat([length(type), type, length(key), key]).toString("base64");
}
