/**
 * Ports for servers that must be told theirs. They come from below the range that kernels hand out for outgoing
 * connections and for port 0 (from 32768 on Linux, 49152 on macOS), so nothing takes one by accident between this check
 * and the server's own bind, nor while a control plane is stopped to be started again on the same port.
 */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { localErrors } from "../errors.ts";

const lowest = 20_000;
const highest = 29_999;
const attempts = 100;

/** A port on which nothing listens on 127.0.0.1. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(lowest, highest + 1);
    if (await isPortFree(port)) return port;
  }
  throw new AppError(
    localErrors.PROCESS_FAILED,
    `find a free port between ${lowest} and ${highest}: ${attempts} tries were all taken`,
  );
}

/** Whether a server could bind this port on 127.0.0.1 now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ host: "127.0.0.1", port, exclusive: true }, () =>
      probe.close(() => resolve(true)),
    );
  });
}
