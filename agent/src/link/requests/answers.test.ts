/** Answers on an API server in memory; e2e/src/requests has them on a real one. */
import assert from "node:assert/strict";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { deployments, type KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import type { InventoryAttempt } from "../../state/inventory/inventory-secret.ts";
import {
  config,
  hookOf,
  jobs,
  log,
  pods,
  setUp,
  setUpAttempt,
  testHook,
  workload,
} from "./testing/index.ts";

describe("a history", () => {
  test("has all revisions, the newest first, read as the account of the deployment", async () => {
    const { ask, accounts } = setUp(
      { description: "Install complete" },
      { hooks: [testHook("smoke", "Failed"), testHook("deep")], description: "bad \u001b[31m" },
    );

    const entries = (await ask({ kind: "history" })).trim().split("\n");

    const common = { namespace: "shop", release: "web", status: "deployed", chartName: "web" };
    const more = { appVersion: "7", deployedAt: "2026-01-01T00:00:00Z" };
    assert.deepEqual(
      entries.map((line) => JSON.parse(line) as unknown),
      [
        {
          ...{ ...common, ...more, revision: 2, chartVersion: "1.1.0" },
          description: "bad \ufffd[31m",
          tests: [
            { name: "smoke", phase: "Failed" },
            { name: "deep", phase: "not run" },
          ],
        },
        {
          ...{ ...common, ...more, revision: 1, chartVersion: "1.0.0" },
          ...{
            description: "Install complete; deleted and created again: Job shop/once",
            tests: [],
          },
        },
      ],
    );
    assert.deepEqual(accounts, ["tenant"]);
  });

  test("has no error of Helm while the values that are secret in it cannot be read", async () => {
    const { ask } = setUp({ status: "failed", description: 'Invalid value: "hunter2"' });

    const entry = JSON.parse(await ask({ kind: "history" })) as { readonly description: string };

    assert.match(entry.description, /^failed, with an error that is not shown: /);
  });
});

describe("logs", () => {
  test("are of the pods that the workloads select, with the container before each line", async () => {
    const { rest, ask, pod, logOf } = setUp({ manifest: [config, workload] });
    const live: KubeObject = { ...workload, metadata: { namespace: "shop", name: "web" } };
    rest.put<KubeObject>(deployments, live);
    const [first, second] = [pod("web-1", ["main", "proxy"]), pod("web-2", ["main", "proxy"])];
    logOf(first, "main", "a\nb\n");
    logOf(second, "main", "c");

    assert.equal(
      await ask(log),
      [
        "[web-1/main] a",
        "[web-1/main] b",
        "[web-2/main] c",
        "[web-1/proxy] cannot read the log: ",
        "[web-2/proxy] cannot read the log: ",
        "",
      ].join("\n"),
    );
    assert.equal(await ask({ ...log, pod: "web-2", container: "main" }), "[web-2/main] c\n");
    await assert.rejects(ask({ ...log, container: "other" }), { code: "REQUEST_FAILED" });
    await assert.rejects(ask({ ...log, container: "proxy" }), {
      code: "REQUEST_FAILED",
      message: /^\[web-1\/proxy\] cannot read the log/,
    });
    await assert.rejects(ask({ ...log, pod: "web-3" }), { message: /has no pod web-3$/ });
  });

  test("are of the pods of tests on request", async () => {
    const { ask, pod, logOf } = setUp({ hooks: [testHook("smoke", "Failed"), testHook("gone")] });
    await assert.rejects(ask({ ...log, tests: true }), {
      message: /the pods of the tests of release shop\/web \(smoke, gone\) do not exist/,
    });

    logOf(pod("smoke", ["check"]), "check", "no\n");

    assert.equal(await ask({ ...log, tests: true }), "[smoke/check] no\n");
  });

  test("of a chart without workloads or tests do not exist", async () => {
    const { ask } = setUp({ manifest: [config] });

    await assert.rejects(ask(log), { message: "release shop/web has no pod" });
    await assert.rejects(ask({ ...log, tests: true }), { message: /has no tests$/ });
  });
});

/** A hook of the chart of an attempt, as the inventory has it. */
const migrate = {
  ...{ apiVersion: "batch/v1", kind: "Job", name: "migrate", events: ["pre-install"] },
  ...{ weight: -1, deletePolicies: [] },
} as const;
function attemptWith(hooks: InventoryAttempt["hooks"], revision = 1): InventoryAttempt {
  return { namespace: "shop", release: "web", revision, content: "c", hooks };
}
const namesIn = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .map(({ kind, name, state, hook }) => [
      kind,
      name,
      state,
      ...(hook === undefined ? [] : [hook]),
    ]);

describe("hooks", () => {
  const mark = { events: ["pre-install"], weight: -1 };
  const ownedBy = (uid = "") => [
    { apiVersion: "batch/v1", kind: "Job", name: "migrate", uid, controller: true },
  ];
  function failingJob({ rest, logOf }: ReturnType<typeof setUp>): void {
    const job = rest.put(jobs, {
      metadata: { namespace: "shop", name: "migrate" },
      spec: { selector: { matchLabels: { "job-name": "migrate" } } },
      status: { conditions: [{ type: "Failed", status: "True", message: "BackoffLimitExceeded" }] },
    } as KubeObject);
    const pod = rest.put(pods, {
      metadata: {
        ...{ namespace: "shop", name: "migrate-1", labels: { "job-name": "migrate" } },
        ownerReferences: ownedBy(job.metadata.uid),
      },
      spec: { containers: [{ name: "migrate" }] },
      status: { phase: "Failed" },
    } as KubeObject);
    logOf(pod, "migrate", "no such table\n");
  }
  const tree = [
    ["Job", "migrate", "failed", mark],
    ["Pod", "migrate-1", "failed", mark],
  ];

  test("of a first install that is running, or was uninstalled, are known from the inventory", async () => {
    const fixtures = setUpAttempt(attemptWith([migrate]));
    failingJob(fixtures);

    assert.deepEqual(namesIn(await fixtures.ask({ kind: "resources" })), tree);
    assert.equal(await fixtures.ask(log), "[migrate-1/migrate] no such table\n");
  });

  test("of an attempt come beside the objects that are installed", async () => {
    const fixtures = setUpAttempt(attemptWith([migrate], 2), { manifest: [config] });
    failingJob(fixtures);

    assert.deepEqual(namesIn(await fixtures.ask({ kind: "resources" })), [
      ...tree,
      ["ConfigMap", "web", "missing"],
    ]);
  });

  test("of the newest revision are those of its record, its tests among them", async () => {
    const hooks = [
      testHook("smoke", "Failed"),
      { ...hookOf("Job", "migrate", "pre-install", "Failed"), weight: -1 },
      hookOf("Job", "done", "post-install", "Succeeded"),
      hookOf("Job", "never", "pre-delete"),
    ];
    const fixtures = setUp({ manifest: [config], hooks });
    failingJob(fixtures);

    // What has succeeded and was deleted, and what has not run, is left out.
    assert.deepEqual(namesIn(await fixtures.ask({ kind: "resources" })), [
      ...tree,
      ["Pod", "smoke", "failed", { events: ["test"], weight: 0 }],
      ["ConfigMap", "web", "missing"],
    ]);
    fixtures.logOf(fixtures.pod("smoke", ["check"]), "check", "no\n");
    assert.equal(await fixtures.ask({ ...log, pod: "smoke" }), "[smoke/check] no\n");
    assert.equal(await fixtures.ask(log), "[migrate-1/migrate] no such table\n");
  });

  test("of a record that a tenant has written instead of that of a run are not read", async () => {
    const running = { isRunning: true, manifest: [config], hooks: [testHook("secret")] };
    const fixtures = setUpAttempt(attemptWith([migrate]), running);
    failingJob(fixtures);
    fixtures.logOf(fixtures.pod("secret", ["main"]), "main", "of others\n");

    assert.deepEqual(namesIn(await fixtures.ask({ kind: "resources" })), tree);
    await assert.rejects(fixtures.ask({ ...log, pod: "secret" }), /has no pod secret/);
  });
});

describe("a record that a tenant of the cluster has written", () => {
  const foreign = {
    isForeign: true,
    manifest: [{ ...workload, metadata: { namespace: "kube-system", name: "web" } }],
    hooks: [{ ...testHook("web-test"), events: ["test"] }],
  };

  test("does not decide which logs are read: the newest revision of the agent does", async () => {
    const { ask, rest, pod, logOf } = setUp({ manifest: [workload] }, foreign);
    const selector = { selector: { matchLabels: { app: "web" } } };
    for (const namespace of ["shop", "kube-system"]) {
      rest.put(deployments, { metadata: { namespace, name: "web" }, spec: selector } as KubeObject);
      logOf(pod(`pod-of-${namespace}`, ["main"], namespace), "main", "line\n");
    }

    assert.equal(await ask(log), "[pod-of-shop/main] line\n");
  });

  test("answers nothing where the agent has installed no revision", async () => {
    const { ask } = setUp(foreign);

    for (const body of [log, { kind: "diff" }, { kind: "resources" }] as const)
      await assert.rejects(ask(body), { code: "REQUEST_FAILED", message: /nobody has changed/ });
  });
});

describe("a diff", () => {
  test("has what does not exist, and what cannot be compared", async () => {
    const unknown = { ...config, kind: "Widget", apiVersion: "example.com/v1" };
    const { rest, ask } = setUp({ manifest: [config, unknown] });
    const title = "v1 ConfigMap shop/web";

    const diff = await ask({ kind: "diff" });

    assert.match(diff, new RegExp(`^--- live ${title}$`, "m"));
    assert.match(diff, /^\+ {2}a: "1"$/m);
    assert.match(
      diff,
      /^# example.com\/v1 Widget web: cannot be compared: the cluster does not have it$/m,
    );
    assert.deepEqual(rest.writes, []);
  });

  test("fails if nothing may be read", async () => {
    const { rest, ask } = setUp({ manifest: [config] });
    rest.beforeRead = (read) => {
      if (read.startsWith("configmaps"))
        throw new KubeStatusError("denied", { status: 403, reason: "Forbidden" });
    };

    await assert.rejects(ask({ kind: "diff" }), {
      code: "REQUEST_FAILED",
      message: /^no object of release shop\/web can be compared as service account a\/tenant$/,
    });
  });
});

describe("a request is rejected", () => {
  test("for a deployment with several releases, of which it names none", async () => {
    const { ask } = setUp({});

    await assert.rejects(ask({ kind: "history" }, { name: "several", uid: "1" }), {
      code: "REQUEST_FAILED",
      message: /deployment several has several releases/,
    });
  });

  test("for a deployment that the agent does not have, or has under another UID", async () => {
    const { ask } = setUp({});

    for (const deployment of [
      { name: "other", uid: "1" },
      { name: "web", uid: "2" },
    ])
      await assert.rejects(ask({ kind: "history" }, deployment), {
        code: "REQUEST_FAILED",
        message: /the agent does not have deployment/,
      });
  });

  test("while nothing is installed", async () => {
    await assert.rejects(setUp({}).ask({ kind: "values", target: "", targetPaths: [] }), {
      code: "REQUEST_FAILED",
      message: "deployment web is being withdrawn, and has no values any more",
    });
    await assert.rejects(setUp().ask({ kind: "history" }), {
      message: "the agent has not installed a release for deployment web",
    });
  });
});
