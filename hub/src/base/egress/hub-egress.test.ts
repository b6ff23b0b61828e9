import assert from "node:assert/strict";
import { endpointSlices, services } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { checkHost } from "@flotilla/shared/source/transport";
import { type TestContext, test, vi } from "vitest";
import type { EgressConfig } from "../../config.ts";
import { createHubEgress } from "./hub-egress.ts";

const byDefault: EgressConfig = {
  ...{ allowLoopback: false, denyPrivate: false, denyPrivateNotifications: false },
  ...{ denyApiServer: true, denied: [] },
};
const ref = { namespace: "default", name: "kubernetes" };

function start(t: TestContext, config: Partial<EgressConfig> = {}) {
  const rest = createMemoryApiServer();
  rest.put(services, {
    metadata: ref,
    spec: { clusterIPs: ["10.96.0.1"], ports: [{ port: 443 }] },
  });
  rest.put(endpointSlices, {
    metadata: ref,
    addressType: "IPv4",
    endpoints: [{ addresses: ["192.0.2.10"] }],
    ports: [{ port: 6443 }],
  });
  const egress = createHubEgress({
    config: { ...byDefault, ...config },
    ...{ server: "https://203.0.113.9:6443", rest, log: silentLog() },
    replicaAddresses: () => ["10.1.2.3:8444"],
  });
  egress.ownPorts.push(8080, 8444);
  const stop = new AbortController();
  const running = egress.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const isDenied = (address: string, policy = egress.charts): boolean => {
    try {
      checkHost(new URL(address), policy);
      return false;
    } catch {
      return true;
    }
  };
  return { rest, egress, isDenied };
}

test("the API server is denied at each of its addresses, as they change", async (t) => {
  const { rest, egress, isDenied } = start(t);
  const server = ["https://10.96.0.1", "https://192.0.2.10:6443", "https://203.0.113.9:6443"];

  await vi.waitFor(() =>
    assert.deepEqual(
      server.map((each) => isDenied(each)),
      [true, true, true],
    ),
  );
  assert.ok(isDenied("https://192.0.2.10:6443", egress.notifications));
  assert.ok(!isDenied("https://192.0.2.10:5000"), "a registry on the same machine");

  rest.put(endpointSlices, {
    metadata: ref,
    addressType: "IPv4",
    endpoints: [{ addresses: ["192.0.2.11"] }],
    ports: [{ port: 6443 }],
  });
  await vi.waitFor(() => assert.ok(isDenied("https://192.0.2.11:6443")));
  assert.ok(!isDenied("https://192.0.2.10:6443"));
});

test("the API server is contacted where the administrator allows it", (t) => {
  const { isDenied } = start(t, { denyApiServer: false });

  assert.ok(!isDenied("https://203.0.113.9:6443"));
});

test("the ports of the hub are denied at its other replicas", (t) => {
  const { isDenied } = start(t);

  assert.ok(isDenied("http://10.1.2.3:8080"));
  assert.ok(!isDenied("http://10.1.2.3:5000"));
  assert.ok(!isDenied("http://10.1.2.4:8080"));
});

test("private networks are denied for notifications alone, and Services for both", (t) => {
  const { egress, isDenied } = start(t, {
    denyPrivateNotifications: true,
    denied: ["10.96.0.0/12"],
  });

  assert.ok(!isDenied("http://10.1.2.3"));
  assert.ok(isDenied("http://10.1.2.3", egress.notifications));
  assert.ok(isDenied("http://10.97.1.1"));
  assert.ok(isDenied("http://10.97.1.1", egress.notifications));
});
