import assert from "node:assert/strict";
import { test } from "vitest";
import { type Endpoint, endpointsOf, formatHosts, serviceHosts, targetPortOf } from "./hosts.ts";
import type { Service } from "./resources.ts";

function endpoint(changes: Partial<Endpoint> = {}): Endpoint {
  return {
    namespace: "shop",
    labels: { app: "web", tier: "front" },
    container: { name: "web", ports: [{ name: "http", containerPort: 8080 }] },
    ip: "127.64.0.1",
    isReady: true,
    ...changes,
  };
}

function service(spec: NonNullable<Service["spec"]>): Service {
  return { metadata: { namespace: "shop", name: "web" }, spec };
}

const endpoints = [
  endpoint(),
  endpoint({ ip: "127.64.0.2", isReady: false }),
  endpoint({ ip: "127.64.0.3", labels: { app: "db" } }),
  endpoint({ ip: "127.64.0.4", namespace: "other" }),
];

test("a Service selects the ready pods of its namespace that have its labels", () => {
  const ips = (spec: NonNullable<Service["spec"]>) =>
    endpointsOf(service(spec), endpoints).map(({ ip }) => ip);

  assert.deepEqual(ips({ selector: { app: "web" } }), ["127.64.0.1"]);
  assert.deepEqual(ips({ selector: { app: "web" }, publishNotReadyAddresses: true }), [
    "127.64.0.1",
    "127.64.0.2",
  ]);
  assert.deepEqual(ips({}), []);
});

test("the hosts file of a pod has its own name and those of Services", () => {
  const hosts = serviceHosts([service({ selector: { app: "web" } })], endpoints);

  assert.equal(
    formatHosts({ name: "db-1", ip: "127.64.0.3" }, hosts),
    "127.0.0.1\tlocalhost\n127.64.0.3\tdb-1\n127.64.0.1\tweb.shop.svc.cluster.local web.shop.svc web.shop\n",
  );
});

test("a port of a Service leads to the port of the pod by its number, its name, or to the same port", () => {
  assert.equal(targetPortOf({ port: 80, targetPort: 81 }, endpoint()), 81);
  assert.equal(targetPortOf({ port: 80, targetPort: "http" }, endpoint()), 8080);
  assert.equal(targetPortOf({ port: 80 }, endpoint()), 80);
});
