/** A server that takes requests and never answers one. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface SilentServer {
  readonly url: string;
  /** Resolves once this many requests wait for an answer. */
  asked(times: number): Promise<void>;
  /** How many have been given up. */
  readonly givenUp: number;
  close(): Promise<void>;
}

export async function startSilentServer(): Promise<SilentServer> {
  let requests = 0;
  let givenUp = 0;
  const waiting = new Map<number, () => void>();
  const server = createServer((request) => {
    requests += 1;
    waiting.get(requests)?.();
    request.once("close", () => {
      givenUp += 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked: (times) =>
      requests >= times
        ? Promise.resolve()
        : new Promise((resolve) => void waiting.set(times, resolve)),
    get givenUp() {
      return givenUp;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
