/** The HTTP probes of a container, as the kubelet makes them. */
import type { Container } from "./resources.ts";

export type Probe = NonNullable<Container["readinessProbe"]>;

export interface ProbeTarget {
  readonly podIp: string;
  readonly container: Container;
}

/** Why the probe failed; undefined when it succeeded. */
export async function probe(
  { httpGet, timeoutSeconds = 1 }: Probe,
  { podIp, container }: ProbeTarget,
): Promise<string | undefined> {
  if (httpGet === undefined) return "only httpGet probes are supported";
  const port = portOf(container, httpGet.port);
  const url = `http://${podIp}:${port}${httpGet.path ?? "/"}`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutSeconds * 1_000) });
    const text = await response.text();
    return response.ok ? undefined : `GET ${url}: ${response.status}: ${text.trim().slice(0, 200)}`;
  } catch (thrown) {
    const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
    return `GET ${url}: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
}

/** The number of a port that may be given by its name. */
export function portOf(container: Container, port: number | string | object | undefined): number {
  if (typeof port === "number") return port;
  return container.ports?.find(({ name }) => name === port)?.containerPort ?? Number(port);
}
