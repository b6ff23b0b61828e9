/** A client connected to an API server in memory, over HTTP. */
import type { TestContext } from "vitest";
import { createFakeClock, type FakeClock } from "../../runtime/time/testing/index.ts";
import { connectKube, type KubeConfig, type KubeConnection } from "../client/index.ts";
import { type HttpApiServer, startHttpApiServer } from "./http-api-server.ts";

export interface Connected {
  readonly server: HttpApiServer;
  readonly clock: FakeClock;
  readonly rest: KubeConnection;
}

/** Both end with the test. */
export async function connected(
  t: TestContext,
  config: Partial<KubeConfig> = {},
  connections = 32,
): Promise<Connected> {
  const server = await startHttpApiServer();
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
