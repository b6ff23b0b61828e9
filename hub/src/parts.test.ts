/** The clients that all of the hub writes with. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configMaps } from "@flotilla/shared/kube/objects";
import { startHttpApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { test } from "vitest";
import { parseHubConfig } from "./config.ts";
import { createParts } from "./parts.ts";

test("the hub writes nothing with any of its clients before it knows that Fleet does not run", async (t) => {
  const server = await startHttpApiServer();
  const dir = await mkdtemp(join(tmpdir(), "flotilla-parts-"));
  const kubeconfig = join(dir, "kubeconfig");
  const contexts = `contexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n`;
  await writeFile(
    kubeconfig,
    `apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "${server.url}"}}]\nusers: [{name: u, user: {}}]\n${contexts}`,
  );
  const config = parseHubConfig([`--kubeconfig=${kubeconfig}`], {});
  const { rest, leaseRest, close } = await createParts(config, {}, silentLog());
  t.onTestFinished(async () => {
    await close();
    await server.close();
    await rm(dir, { recursive: true });
  });
  const object = { metadata: { namespace: "x", name: "a" } };

  for (const client of [rest, leaseRest])
    await assert.rejects(client.create(configMaps, object), { code: "FLEET_RUNNING" });

  assert.deepEqual(server.requests, []);
});
