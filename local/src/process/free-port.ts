/**
 * Chooses ports for servers that need a fixed one. They lie below the ephemeral range (from 32768 on Linux, 49152 on macOS), so
 * the kernel assigns none of them to another socket before the server binds it, or while a control plane is restarted.
 *
 * Each port is reserved machine-wide for the lifetime of this process by binding the UDP port with the same number: the
 * kernel gives it to one process only and releases it when that process ends. So two fleets never choose the same port.
 */
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { AppError } from "@flotilla/shared/errors";
import { localErrors } from "../errors.ts";

const host = "127.0.0.1";
const lowest = 20_000;
const highest = 29_999;
const attempts = 100;

/** A free TCP port on 127.0.0.1, reserved until this process ends. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(lowest, highest + 1);
    if ((await reservePort(port)) && (await isPortFree(port))) return port;
  }
  throw new AppError(
    localErrors.PROCESS_FAILED,
    `find a free port between ${lowest} and ${highest}: ${attempts} attempts found ports in use`,
  );
}

/** False when another call has reserved it. */
function reservePort(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4").unref();
    socket.once("error", () => socket.close(() => resolve(false)));
    socket.bind({ port, address: host, exclusive: true }, () => resolve(true));
  });
}

/** Whether a server can bind this port on 127.0.0.1 now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
