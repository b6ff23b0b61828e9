/**
 * Global setup of the e2e tests: serves the pool of control planes to the processes of the test files. A plane is taken by
 * a request and is given back when its connection ends, so also when the process is killed.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "@flotilla/shared/errors";
import type { TestProject } from "vitest/node";
import {
  type ControlPlanePool,
  createControlPlanePool,
  type PooledPlane,
  planeKinds,
} from "./control-plane-pool.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The path of the socket that control planes are leased at. */
    readonly controlPlaneSocket: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-planes-"));
  const pool = await createControlPlanePool(dir);
  const leases = new Set<Promise<void>>();
  const server = createServer(({ url }, response) => {
    const lease = serve(pool, url ?? "", response).finally(() => leases.delete(lease));
    leases.add(lease);
  });
  const path = join(dir, "socket");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  project.provide("controlPlaneSocket", path);
  return async () => {
    server.close();
    server.closeAllConnections();
    await Promise.all(leases);
    await pool.close();
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  };
}

/** Answers `/KIND` with one line of JSON, and ends when the client has closed the connection and the plane is reset. */
async function serve(pool: ControlPlanePool, url: string, response: ServerResponse): Promise<void> {
  const closed = new Promise<void>((resolve) => response.once("close", resolve));
  let taken: PooledPlane;
  try {
    const kind = planeKinds.find((one) => url === `/${one}`);
    if (kind === undefined) throw new Error(`there is no kind of control plane ${url}`);
    taken = await pool.take(kind);
  } catch (thrown) {
    response.writeHead(500).end(messageOf(thrown));
    return;
  }
  const { name, dir, server, kubeconfig, pki } = taken.plane;
  response.write(`${JSON.stringify({ name, dir, server, kubeconfig, pki })}\n`);
  await closed;
  await taken.giveBack();
}
