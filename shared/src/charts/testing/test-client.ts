/** A chart client for tests: short patience, closed at the end of the test. */
import { type ChartClient, type ChartClientOptions, createChartClient } from "../chart-client.ts";

export function createTestClient(
  options: Partial<ChartClientOptions> = {},
): ChartClient & AsyncDisposable {
  const client = createChartClient({ userAgent: "flotilla-test", ...options });
  return { ...client, [Symbol.asyncDispose]: () => client.close() };
}
