/**
 * Global setup of the e2e tests: serves the pool of control planes to the processes of the test files. `/lease/KIND` takes
 * a plane, which is given back by `/return/NAME` or when the connection of the lease ends, so also when the process is killed.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "@flotilla/shared/errors";
import type { TestProject } from "vitest/node";
import { createControlPlanePool, type PooledPlane, planeKinds } from "./control-plane-pool.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The path of the socket that control planes are leased at. */
    readonly controlPlaneSocket: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-planes-"));
  const pool = await createControlPlanePool(dir);
  const taken = new Map<string, PooledPlane>();
  const pending = new Set<Promise<unknown>>();
  const server = createServer(({ url = "" }, response) => {
    const served = serve(url, response)
      .catch((thrown: unknown) => response.writeHead(500).end(messageOf(thrown)))
      .finally(() => pending.delete(served));
    pending.add(served);
  });
  const path = join(dir, "socket");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  project.provide("controlPlaneSocket", path);
  return async () => {
    server.close();
    server.closeAllConnections();
    await Promise.all(pending);
    await pool.close();
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  };

  async function serve(url: string, response: ServerResponse): Promise<void> {
    const [, action, what = ""] = url.split("/");
    if (action === "return") {
      await taken.get(what)?.giveBack();
      response.end();
      return;
    }
    const kind = planeKinds.find((each) => each === what);
    if (action !== "lease" || kind === undefined) throw new Error(`there is no ${url}`);
    const closed = new Promise<void>((resolve) => response.once("close", resolve));
    const lease = await pool.take(kind);
    const { name, dir, server, kubeconfig, pki } = lease.plane;
    taken.set(name, lease);
    response.write(`${JSON.stringify({ name, dir, server, kubeconfig, pki })}\n`);
    await closed;
    // It may be somebody else's by now.
    if (taken.get(name) === lease) taken.delete(name);
    await lease.giveBack();
  }
}
