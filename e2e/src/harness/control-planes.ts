/** Leases control planes from the pool of this run. */
import { type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import type { ControlPlane } from "@flotilla/local/control-plane";
import type { PlaneKind } from "./control-plane-pool.ts";

/** What a test needs of a control plane whose processes are not its own. */
export type PlaneAccess = Pick<ControlPlane, "name" | "dir" | "server" | "kubeconfig" | "pki">;

export interface LeasedPlane extends PlaneAccess {
  /** Gives it back. */
  stop(): Promise<void>;
}

/** Those of this process that were not given back. */
const leased = new Set<LeasedPlane>();

/** One that no other file has. It is given back by `stop`, before the next file of this process, or when the process ends. */
export async function leaseControlPlane(kind: PlaneKind): Promise<LeasedPlane> {
  const lease = await ask(`/lease/${kind}`);
  const lines = createInterface({ input: lease })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  // The open connection is the lease, and does not keep the process.
  lease.socket.unref();
  const access = JSON.parse(String(value)) as PlaneAccess;
  const plane: LeasedPlane = {
    ...access,
    async stop() {
      if (!leased.delete(plane)) return;
      await text(await ask(`/return/${access.name}`));
      lease.destroy();
    },
  };
  leased.add(plane);
  return plane;
}

/** Gives back the planes that the last file has not given back. */
export async function endLeases(): Promise<void> {
  await Promise.all([...leased].map((plane) => plane.stop()));
}

async function ask(path: string): Promise<IncomingMessage> {
  // Not at the top: what imports this also runs outside of vitest.
  const { inject } = await import("vitest");
  const socketPath = inject("controlPlaneSocket");
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ socketPath, path, agent: false })
      .once("response", resolve)
      .once("error", reject)
      .end();
  });
  // The connection is closed when the run ends.
  response.on("error", () => undefined);
  if (response.statusCode !== 200)
    throw new Error(`the pool of control planes, asked for ${path}: ${await text(response)}`);
  return response;
}
