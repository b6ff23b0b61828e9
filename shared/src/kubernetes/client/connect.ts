/** Connects to a Kubernetes API server: `KubeRest` over HTTP. */
import { type Clock, systemClock } from "../../runtime/time/index.ts";
import type { KubeConfig } from "./kubeconfig.ts";
import type { GrantOf } from "./missing-right.ts";
import { readsOver } from "./reads.ts";
import type { Origin } from "./response.ts";
import type { KubeConnection, KubeRest } from "./rest.ts";
import { createSender, type Sender } from "./sender.ts";
import { writesOver } from "./writes.ts";

export interface ConnectOptions {
  readonly userAgent?: string;
  /** Limit of connections for requests; each watch has a connection of its own. */
  readonly connections?: number;
  /** For messages: what grants a right to the account of the kubeconfig. */
  readonly grantOf?: GrantOf;
  readonly clock?: Clock;
}

/** As fast for 1,000 creates as 64 are. */
const defaultConnections = 32;

/** Opens no connection yet: that happens with the first request. */
export function connectKube(config: KubeConfig, options: ConnectOptions = {}): KubeConnection {
  const { server } = config;
  const { grantOf } = options;
  const sender = createSender({
    config,
    clock: options.clock ?? systemClock,
    userAgent: options.userAgent ?? "flotilla",
    connections: options.connections ?? defaultConnections,
  });
  return {
    ...restOver(sender, { server, grantOf }),
    as(user) {
      // A denied impersonation names the account of the kubeconfig.
      const ofOwn: GrantOf = (right) => (right.user === user.user ? undefined : grantOf?.(right));
      const origin = { server, grantOf: ofOwn };
      return { ...restOver(sender.as(user), origin), close: () => Promise.resolve() };
    },
  };
}

function restOver(sender: Sender, origin: Origin): KubeRest {
  return {
    server: origin.server,
    ...readsOver(sender, origin),
    ...writesOver(sender, origin),
    nextResponse: (signal) => sender.nextResponse(signal),
    close: () => sender.close(),
  };
}
