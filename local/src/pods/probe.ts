/** The HTTP probes of a container, as the kubelet makes them. */
import { delay, systemClock } from "@flotilla/shared/time";
import type { Container } from "./resources.ts";

type Probe = NonNullable<Container["readinessProbe"]>;

export interface ProbeTarget {
  readonly podIp: string;
  readonly container: Container;
}

export interface ProbeResults {
  readonly report: (isStarted: boolean, isReady: boolean) => void;
  /** The container is to be restarted. */
  readonly failed: (probe: "startup" | "liveness", failure: string) => void;
}

/** Startup, then readiness and liveness, until `signal` aborts. */
export async function probeContainer(
  target: ProbeTarget,
  { report, failed }: ProbeResults,
  signal: AbortSignal,
): Promise<void> {
  const { startupProbe, readinessProbe, livenessProbe } = target.container;
  await repeat(startupProbe, target, signal, {
    // Faster than the chart says: nobody waits on purpose.
    periodMs: 50,
    onFailure: (failure) => failed("startup", failure),
    until: "success",
  });
  report(true, readinessProbe === undefined);
  await Promise.all([
    repeat(readinessProbe, target, signal, {
      periodMs: 250,
      onResult: (failure) => report(true, failure === undefined),
    }),
    repeat(livenessProbe, target, signal, {
      onFailure: (failure) => failed("liveness", failure),
    }),
  ]);
}

/** Why the probe failed; undefined when it succeeded. */
async function probe(
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

interface Repeating {
  /** Default: the probe's. */
  readonly periodMs?: number;
  readonly onResult?: (failure: string | undefined) => void;
  /** After as many failures in a row as the probe allows. */
  readonly onFailure?: (failure: string) => void;
  readonly until?: "success";
}

async function repeat(
  each: Probe | undefined,
  target: ProbeTarget,
  signal: AbortSignal,
  { periodMs, onResult, onFailure, until }: Repeating,
): Promise<void> {
  if (each === undefined) return;
  const slowMs = (each.periodSeconds ?? 10) * 1_000;
  const allowedMs = slowMs * (each.failureThreshold ?? 3);
  let failingSince: number | undefined;
  let isPassing = false;
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    const failure = await probe(each, target);
    if (isOver()) return;
    onResult?.(failure);
    isPassing = failure === undefined;
    if (isPassing && until === "success") return;
    failingSince = isPassing ? undefined : (failingSince ?? performance.now());
    if (failure !== undefined && performance.now() - (failingSince ?? 0) >= allowedMs) {
      onFailure?.(failure);
      if (onFailure !== undefined) return;
    }
    // What has become ready is probed as often as the chart says.
    const pauseMs = isPassing ? slowMs : Math.min(slowMs, periodMs ?? slowMs);
    await delay(systemClock, pauseMs, signal).catch(() => undefined);
  }
}
