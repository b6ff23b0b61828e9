/** A source client for tests, closed at the end of the test. */
import { createSourceClient, type SourceClient } from "../client/index.ts";
import type { SourceClientOptions } from "../client/source-client.ts";

export function createTestClient(
  options: Partial<SourceClientOptions> = {},
): SourceClient & AsyncDisposable {
  const client = createSourceClient({ userAgent: "flotilla-test", ...options });
  return { ...client, [Symbol.asyncDispose]: () => client.close() };
}
