/** A connection to an API server that misbehaves when it is told to. */
import type { TestContext } from "vitest";
import { createFakeClock, type FakeClock } from "../../time/testing/fake-clock.ts";
import { connectKube } from "../client/connect.ts";
import type { KubeConfig } from "../client/kubeconfig.ts";
import type { KubeConnection } from "../client/rest.ts";
import { startUnrulyServer, type UnrulyServer } from "./unruly-server.ts";

export interface Connected {
  readonly server: UnrulyServer;
  readonly clock: FakeClock;
  readonly rest: KubeConnection;
}

/** Both end with the test. */
export async function connected(
  t: TestContext,
  config: Partial<KubeConfig> = {},
  connections = 32,
): Promise<Connected> {
  const server = await startUnrulyServer();
  const clock = createFakeClock();
  const rest = connectKube(
    { credentials: { kind: "none" }, ...config, server: server.url + (config.server ?? "") },
    { clock, connections },
  );
  t.onTestFinished(async () => {
    await rest.close();
    await server.close();
  });
  return { server, clock, rest };
}
