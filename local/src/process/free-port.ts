/**
 * Ports for servers that must be told theirs. They come from below the range that kernels hand out for outgoing
 * connections and for port 0 (from 32768 on Linux, 49152 on macOS), so nothing takes one by accident between this check
 * and the server's own bind, nor while a control plane is stopped to be started again on the same port.
 *
 * Neither does another fleet that chooses its ports at the same time: a port is given out once, over all processes of the
 * machine, for as long as the process lives that asked for it. What says so is the UDP port of the same number, which is of
 * no use to anybody here: the kernel gives it to one process only, and takes it back from whoever ends, however it ends.
 */
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { localErrors } from "../errors.ts";

const host = "127.0.0.1";
const lowest = 20_000;
const highest = 29_999;
const attempts = 100;

/** A port on which nothing listens on 127.0.0.1, and that nobody else is given while this process lives. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(lowest, highest + 1);
    if ((await reserve(port)) && (await isPortFree(port))) return port;
  }
  throw new AppError(
    localErrors.PROCESS_FAILED,
    `find a free port between ${lowest} and ${highest}: ${attempts} tries were all taken`,
  );
}

/** False where somebody has reserved it already. */
function reserve(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4").unref();
    socket.once("error", () => socket.close(() => resolve(false)));
    socket.bind({ port, address: host, exclusive: true }, () => resolve(true));
  });
}

/** Whether a server could bind this port on 127.0.0.1 now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
