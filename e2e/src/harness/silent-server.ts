/** A server that accepts requests and never responds. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface SilentServer {
  readonly url: string;
  /** Resolves once this many requests were received. */
  waitForRequests(count: number): Promise<void>;
  /** How many requests the client has aborted. */
  readonly aborted: number;
  close(): Promise<void>;
}

export async function startSilentServer(): Promise<SilentServer> {
  let requests = 0;
  let aborted = 0;
  const waiting = new Map<number, () => void>();
  const server = createServer((request) => {
    requests += 1;
    waiting.get(requests)?.();
    request.once("close", () => {
      aborted += 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    waitForRequests: (count) =>
      requests >= count
        ? Promise.resolve()
        : new Promise((resolve) => void waiting.set(count, resolve)),
    get aborted() {
      return aborted;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
