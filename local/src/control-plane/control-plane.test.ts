import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { ensureBinaries } from "../binaries/index.ts";
import { waitUntil } from "../process/index.ts";
import { startTestControlPlane, testDir } from "../testing/index.ts";
import { type ApiClient, apiClient } from "./api-client.ts";
import { copyEtcdData } from "./cluster-dir.ts";
import type { ControlPlane } from "./control-plane.ts";
import { controlPlaneTools } from "./control-plane.ts";
import { startControlPlane } from "./start-control-plane.ts";

// Shared by most tests, stopped after the last one.
const plane = await startTestControlPlane({ onTestFinished: afterAll }, { workloads: true });
const api = apiFor(plane);
afterAll(() => api.close());

function apiFor(one: ControlPlane): ApiClient {
  return apiClient(one.server, { ca: one.pki.ca, client: one.pki.clients.admin });
}

async function create(path: string, object: unknown): Promise<void> {
  const answer = await api.call("POST", path, object);
  assert.equal(answer.status, 201, answer.body);
}

/** Waits until the object at `path` satisfies `condition`. */
async function eventually(path: string, condition: (object: Answer) => boolean): Promise<void> {
  await waitUntil(
    async () => {
      const answer = await api.call("GET", path);
      return answer.status === 200 && condition(JSON.parse(answer.body));
    },
    { what: path, timeoutMs: 60_000 },
  );
}

/** The fields that the tests read. */
interface Answer {
  readonly status?: {
    readonly phase?: string;
    readonly readyReplicas?: number;
    readonly succeeded?: number;
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] };
  };
}

interface PodTemplate {
  readonly metadata: object;
  readonly spec: object;
}

function podTemplate(app: string, restartPolicy: string): PodTemplate {
  return {
    metadata: { labels: { app } },
    spec: { restartPolicy, containers: [{ name: "main", image: "example.test/image:1" }] },
  };
}

test("a Deployment becomes Ready", async () => {
  await create("/apis/apps/v1/namespaces/default/deployments", {
    metadata: { name: "web" },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: "web" } },
      template: podTemplate("web", "Always"),
    },
  });

  await eventually(
    "/apis/apps/v1/namespaces/default/deployments/web",
    ({ status }) => status?.readyReplicas === 3,
  );
});

test("a Job completes", async () => {
  await create("/apis/batch/v1/namespaces/default/jobs", {
    metadata: { name: "once" },
    spec: { template: podTemplate("once", "Never") },
  });

  await eventually(
    "/apis/batch/v1/namespaces/default/jobs/once",
    ({ status }) => status?.succeeded === 1,
  );
});

test("a Service of type LoadBalancer gets an address", async () => {
  await create("/api/v1/namespaces/default/services", {
    metadata: { name: "web" },
    spec: { type: "LoadBalancer", ports: [{ port: 80 }], selector: { app: "web" } },
  });

  await eventually(
    "/api/v1/namespaces/default/services/web",
    ({ status }) => status?.loadBalancer?.ingress?.[0]?.ip === "192.0.2.10",
  );
});

test("a PersistentVolumeClaim without a class is bound", async () => {
  await create("/api/v1/namespaces/default/persistentvolumeclaims", {
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });

  await eventually(
    "/api/v1/namespaces/default/persistentvolumeclaims/data",
    ({ status }) => status?.phase === "Bound",
  );
});

test("kwok is started again when it crashes, and plays the pods that came meanwhile", async () => {
  const before = plane.part("kwok");
  assert.ok(before !== undefined);
  // The runtime of Go ends it as after a crash.
  process.kill(before.identity.pid, "SIGQUIT");
  await before.exited;
  await create("/api/v1/namespaces/default/pods", {
    metadata: { name: "later" },
    spec: podTemplate("later", "Always").spec,
  });

  await eventually(
    "/api/v1/namespaces/default/pods/later",
    ({ status }) => status?.phase === "Running",
  );
  assert.notEqual(plane.part("kwok")?.identity.pid, before.identity.pid);
});

test("a deleted namespace is removed with its objects", async () => {
  await create("/api/v1/namespaces", { metadata: { name: "short-lived" } });
  await create("/api/v1/namespaces/short-lived/configmaps", { metadata: { name: "in-it" } });
  await api.call("DELETE", "/api/v1/namespaces/short-lived");

  await waitUntil(
    async () => (await api.call("GET", "/api/v1/namespaces/short-lived")).status === 404,
    {
      what: "the deletion of the namespace",
      timeoutMs: 60_000,
    },
  );
});

test("rejects requests without a certificate, and only the owner can read kubeconfig and keys", async () => {
  const anonymous = apiClient(plane.server, { ca: plane.pki.ca, client: { cert: "", key: "" } });
  const answer = await anonymous.call("GET", "/api/v1/secrets");
  await anonymous.close();

  assert.ok(answer.status === 401 || answer.status === 403, `HTTP status ${answer.status}`);
  assert.equal((await stat(plane.kubeconfig)).mode & 0o777, 0o600);
  assert.equal((await stat(join(plane.pki.dir, "ca.key"))).mode & 0o777, 0o600);
});

test("rejects a second start on the folder of a running cluster", async () => {
  const binaries = await ensureBinaries(controlPlaneTools);
  await assert.rejects(
    startControlPlane({ name: "test", dir: plane.dir, binaries, workloads: false }),
    {
      code: "CLUSTER_ALREADY_RUNS",
    },
  );
});

test("a restarted cluster has its data and addresses, and a backup of its data can be restored", async (t) => {
  const dir = await testDir(t);
  const first = await startTestControlPlane(t, { workloads: false, dir });
  const before = apiFor(first);
  await before.call("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "old" } });
  await before.close();
  const kubeconfig = await readFile(first.kubeconfig, "utf8");
  await first.stop();
  await copyEtcdData(dir, join(dir, "backup"));

  const second = await startTestControlPlane(t, { workloads: false, dir });
  const restarted = apiFor(second);
  const found = await restarted.call("GET", "/api/v1/namespaces/default/configmaps/old");
  await restarted.call("POST", "/api/v1/namespaces/default/configmaps", {
    metadata: { name: "new" },
  });
  await restarted.close();
  await second.stop();
  const restored = await startTestControlPlane(t, {
    workloads: false,
    dir,
    etcdDir: join(dir, "backup"),
  });
  const afterRestore = apiFor(restored);
  const old = await afterRestore.call("GET", "/api/v1/namespaces/default/configmaps/old");
  const missing = await afterRestore.call("GET", "/api/v1/namespaces/default/configmaps/new");
  await afterRestore.close();

  assert.deepEqual([found.status, old.status, missing.status], [200, 200, 404]);
  assert.equal(restored.server, first.server);
  assert.equal(await readFile(restored.kubeconfig, "utf8"), kubeconfig);
});

test("the error of a component that cannot start has its name and the end of its log", async (t) => {
  const dir = await testDir(t);
  const binaries = { ...(await ensureBinaries(controlPlaneTools)), "kube-apiserver": "/bin/false" };

  await assert.rejects(
    startTestControlPlane(t, { name: "broken", workloads: false, dir, binaries }),
    {
      message:
        /^kube-apiserver of broken exited with code 1; its log .*kube-apiserver\.log ends with:/,
    },
  );
});
