/** Answers on an API server in memory; e2e/src/requests has them on a real one. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { RequestBody } from "@flotilla/proto";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import {
  configMaps,
  deployments,
  type KubeObject,
  type Resource,
  secrets,
} from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { formatYaml } from "@flotilla/shared/yaml";
import { describe, test } from "vitest";
import { type ReleaseRecord, recordSecretName } from "../helm/index.ts";
import { readRecordsHere } from "../record/testing/index.ts";
import { createAnswers } from "./answers.ts";
import { logPath } from "./logs.ts";
import type { Pod } from "./pods-of-release.ts";

const owner = { name: "web", uid: "1" };
const log: Extract<RequestBody, { kind: "log" }> = {
  ...{ kind: "log", tailLines: 10, previous: false, tests: false },
};
const resources: Readonly<Record<string, Resource<KubeObject>>> = {
  ConfigMap: configMaps,
  Deployment: deployments,
};
const pods: Resource<KubeObject> = {
  ...{ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true },
};
const config = {
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web" }, data: { a: "1" } },
};
const workload = {
  ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } },
  spec: { selector: { matchLabels: { app: "web" } } },
};
const testHook = (name: string, phase?: string) => ({
  ...{ name, kind: "Pod", events: ["test"], last_run: { phase: phase ?? "" } },
});

interface Revision {
  readonly manifest?: readonly object[];
  readonly hooks?: readonly object[];
  readonly description?: string;
}

function setUp(...revisions: readonly Revision[]) {
  const rest = createMemoryApiServer();
  const records: Partial<ReleaseRecord>[] = [];
  for (const [index, { manifest = [], hooks = [], description = "Done" }] of revisions.entries()) {
    const revision = index + 1;
    const release = {
      ...{ name: "web", namespace: "shop", version: revision, hooks },
      manifest: manifest.map((object) => `---\n${formatYaml(object)}`).join(""),
      info: { status: "deployed", description, last_deployed: "2026-01-01T00:00:00Z" },
      chart: { metadata: { name: "web", version: `1.${index}.0`, appVersion: "7" } },
    };
    const stored = btoa(gzipSync(JSON.stringify(release)).toString("base64"));
    const name = recordSecretName({ name: "web", revision });
    rest.put(secrets, { metadata: { namespace: "shop", name }, data: { release: stored } });
    records.push({ namespace: "shop", name: "web", revision });
  }
  const accounts: (string | undefined)[] = [];
  const answer = createAnswers({
    // Withdrawn and lost: its account is known from the inventory.
    assignments: {
      get: (name) =>
        name === "web"
          ? {
              ...{ owner, deploymentId: "id", content: new Uint8Array() },
              ...{ paused: false, withdrawing: false },
            }
          : undefined,
    },
    inventory: {
      releasesOf: () =>
        revisions.length === 0
          ? []
          : [
              {
                ...{ namespace: "shop", name: "web", uid: "1", revisions: [], deploymentId: "id" },
                ...{ serviceAccount: "tenant", keepResources: false, deleteCRDResources: false },
              },
            ],
    },
    clients: {
      clientFor(account) {
        accounts.push(account);
        return Promise.resolve({
          ...{ subject: "service account a/tenant", isAgent: false, rest, helmArgs: [] },
          watch: { subject: "the agent", rest, isPerNamespace: false },
        });
      },
    },
    releases: { history: () => records as ReleaseRecord[] },
    records: readRecordsHere,
    inputs: { layers: () => Promise.reject(new Error("not expected")) },
    findResource: (_, kind) => Promise.resolve(resources[kind] ?? "the cluster does not have it"),
  });
  async function ask(body: RequestBody, deployment = owner): Promise<string> {
    const parts: string[] = [];
    const { signal } = new AbortController();
    const write = (part: string) => Promise.resolve(void parts.push(part));
    await answer({ deployment, body }, { write, signal });
    return parts.join("");
  }
  function pod(name: string, containers: readonly string[], namespace = "shop"): Pod {
    const spec = { containers: containers.map((each) => ({ name: each })) };
    const labels = { app: "web" };
    return rest.put(pods, { metadata: { namespace, name, labels }, spec } as KubeObject);
  }
  function logOf(of: Pod, container: string, text: string): void {
    rest.rawResponses.set(logPath(of, container, log), text);
  }
  return { rest, ask, pod, logOf, accounts };
}

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
          ...{ description: "Install complete", tests: [] },
        },
      ],
    );
    assert.deepEqual(accounts, ["tenant"]);
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
