/**
 * The dashboard of a hub whose caches have a large fleet, in a process of its own. Run by large-fleet.ts, which it talks to.
 * Everything from the caches to the browser is the hub's own; a reviewer that accepts every token replaces the API server.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createDashboard } from "@flotilla/hub/dashboard";
import { FleetDetails, FleetView } from "@flotilla/hub/fleetview";
import { bundles, clusters, helmOps } from "@flotilla/shared/api";
import { hubNamespace } from "@flotilla/shared/api/names";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { systemClock as clock } from "@flotilla/shared/time";
import type { LargeFleetMessage, LargeFleetOrder } from "./large-fleet.ts";
import { createLargeFleet, noObjects, type Watched } from "./large-fleet-caches.ts";

const [pageDir = "", clusterCount = "", appCount = ""] = process.argv.slice(2);
const fleet = createLargeFleet(Number(clusterCount), Number(appCount));
const say = (message: LargeFleetMessage): void => void process.send?.(message);
const version = "0.3.0";
const shown = {
  ...fleet,
  apps: {
    HelmOp: fleet.helmOps,
    HelmRelease: noObjects<never>(),
    Bundle: fleet.bundles,
  },
  groups: noObjects<never>(),
  rollouts: noObjects<never>(),
  gates: noObjects<never>(),
  schedules: noObjects<never>(),
  mappings: noObjects<never>(),
  workspaces: noObjects<never>(),
  rolloutPolicies: noObjects<never>(),
  events: noObjects<never>(),
  sources: {
    HelmRepository: noObjects<never>(),
    OCIRepository: noObjects<never>(),
    GitRepository: noObjects<never>(),
    Bucket: noObjects<never>(),
    HelmChart: noObjects<never>(),
  },
};
const viewed = [
  { resource: helmOps, namespaces: () => namespacesOf(fleet.helmOps) },
  { resource: bundles, namespaces: () => namespacesOf(fleet.bundles) },
  { resource: clusters, namespaces: () => namespacesOf(fleet.clusters) },
];

const dashboard = await createDashboard({
  rest: reviewer(),
  asUser: () => Promise.reject(new Error("there is no API server")),
  namespace: hubNamespace,
  view: new FleetView(shown),
  details: new FleetDetails({ ...shown, version }),
  events: { record: () => undefined, flush: () => Promise.resolve() },
  requests: { answer: () => Promise.reject(new Error("there are no agents")) },
  viewedKinds: viewed,
  hub: { version, replica: "large" },
  pageDir,
  notReady: () => undefined,
  clock,
  log: silentLog(),
});
const server = createServer((request, response) => {
  void dashboard.handle(request, response);
});
server.listen(0, "127.0.0.1", () => {
  // Listening on a TCP port, so the address is one.
  const { port } = server.address() as AddressInfo;
  say({ kind: "serving", port });
});

// When the benchmark was killed.
process.once("disconnect", () => process.exit());
let changes: NodeJS.Timeout | undefined;
process.on("message", (order: LargeFleetOrder) => {
  clearInterval(changes);
  if (order.perSecond > 0) changes = setInterval(fleet.changeNext, 1_000 / order.perSecond);
});

/** Every token is that of the user of its name, who may see everything. */
function reviewer(): KubeRest {
  const memory = createMemoryApiServer();
  return {
    ...memory,
    raw(_path, { body = "" } = {}) {
      const { spec }: { readonly spec: { readonly token?: string } } = JSON.parse(body);
      const status =
        spec.token === undefined
          ? { allowed: true }
          : { authenticated: true, user: { username: spec.token } };
      return Promise.resolve(JSON.stringify({ status }));
    },
  };
}

function* namespacesOf({ store }: Watched<KubeObject>): Iterable<string> {
  for (const { metadata } of store.list()) yield metadata.namespace ?? "";
}
