/** Connects to a Kubernetes API server: `KubeRest` over HTTP. */
import { type Clock, systemClock } from "../../time/index.ts";
import type { KubeConfig } from "./kubeconfig.ts";
import { readsOver } from "./reads.ts";
import type { KubeConnection, KubeRest } from "./rest.ts";
import { createSender, type Sender } from "./sender.ts";
import { writesOver } from "./writes.ts";

export interface ConnectOptions {
  readonly userAgent?: string;
  /** Limit of connections for requests; each watch has a connection of its own. */
  readonly connections?: number;
  readonly clock?: Clock;
}

/** As fast for 1,000 creates as 64 are. */
const defaultConnections = 32;

/** Opens no connection yet: that happens with the first request. */
export function connectKube(config: KubeConfig, options: ConnectOptions = {}): KubeConnection {
  const { server } = config;
  const sender = createSender({
    config,
    clock: options.clock ?? systemClock,
    userAgent: options.userAgent ?? "flotilla",
    connections: options.connections ?? defaultConnections,
  });
  return {
    ...restOver(sender, server),
    as: (user) => ({ ...restOver(sender.as(user), server), close: () => Promise.resolve() }),
  };
}

function restOver(sender: Sender, server: string): KubeRest {
  return {
    server,
    ...readsOver(sender, server),
    ...writesOver(sender, server),
    nextResponse: (signal) => sender.nextResponse(signal),
    close: () => sender.close(),
  };
}
