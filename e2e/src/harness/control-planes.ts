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

/** One that no other process has. It is given back by `stop`, or when this process ends: with its test file. */
export async function leaseControlPlane(kind: PlaneKind): Promise<LeasedPlane> {
  // Not at the top: what imports this also runs outside of vitest.
  const { inject } = await import("vitest");
  const lease = request({ socketPath: inject("controlPlaneSocket"), path: `/${kind}` }).end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    lease.once("response", resolve);
    lease.once("error", reject);
  });
  // The connection is closed when the plane is given back.
  response.on("error", () => undefined);
  if (response.statusCode !== 200)
    throw new Error(`lease a control plane of kind ${kind}: ${await text(response)}`);
  const lines = createInterface({ input: response })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  // The open connection is the lease, and does not keep the process.
  lease.socket?.unref();
  return {
    ...(JSON.parse(String(value)) as PlaneAccess),
    stop: () => {
      lease.destroy();
      return Promise.resolve();
    },
  };
}
