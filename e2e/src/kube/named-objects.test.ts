/** Objects that the hub reads by their names, outside of workspaces, with a real API server. */
import assert from "node:assert/strict";
import { WorkspaceObjects } from "@flotilla/hub/rules";
import { connectKube, loadKubeconfig } from "@flotilla/shared/kube/client";
import { namespaces, type Secret, secrets } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { systemClock } from "@flotilla/shared/time";
import { afterAll, test } from "vitest";
import { leaseControlPlane } from "../harness/control-planes.ts";

const plane = await leaseControlPlane("hub");
const rest = connectKube(await loadKubeconfig({ path: plane.kubeconfig }));
const stop = new AbortController();
const objects = new WorkspaceObjects({
  rest,
  isWorkspace: () => false,
  clock: systemClock,
  log: silentLog(),
});
const running = objects.run(stop.signal);
afterAll(async () => {
  stop.abort();
  await running;
  await rest.close();
});

const namespace = "named-objects";
const login = { kind: "Secret", name: "login" } as const;
const labels = { "reconcile.fluxcd.io/watch": "Enabled" };

/** Resolves when the object is observed in another state. */
function changed(): Promise<void> {
  return new Promise((resolve) => {
    const end = objects.onChange((where, { name }) => {
      if (where !== namespace || name !== login.name) return;
      end();
      resolve();
    });
  });
}

async function password(): Promise<string | undefined> {
  const known = await objects.known(namespace, login);
  return known.kind === "present" ? known.object.data?.["password"] : known.kind;
}

async function replaced(current: Secret, text: string): Promise<Secret> {
  return await rest.replace(secrets, { ...current, data: { password: text } });
}

test("a Secret is read by its name, on request, and at once for each change with the label", async () => {
  await rest.create(namespaces, { metadata: { name: namespace } });
  const created = await rest.create(secrets, {
    metadata: { namespace, name: "login", labels },
    data: { password: "YQ==" },
  });
  objects.watch(namespace, login);
  assert.equal(await password(), "YQ==");

  const second = changed();
  const labelled = await replaced(created, "Yg==");
  await second;
  assert.equal(await password(), "Yg==");

  const plain = await rest.replace(secrets, {
    ...labelled,
    metadata: { ...labelled.metadata, labels: {} },
  });
  await replaced(plain, "Yw==");
  const refreshed = await objects.refresh(namespace, login);
  assert.equal(refreshed.kind === "present" && refreshed.object.data?.["password"], "Yw==");

  const again = await rest.get(secrets, { namespace, name: "login" });
  assert.ok(again);
  const third = changed();
  await rest.replace(secrets, { ...again, metadata: { ...again.metadata, labels } });
  await third;
  const deleted = changed();
  await rest.delete(secrets, { namespace, name: "login" });
  await deleted;
  assert.equal(await password(), "absent");
});
