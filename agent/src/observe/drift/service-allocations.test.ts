import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { withoutAllocations } from "./service-allocations.ts";

function service(spec: object, apiVersion = "v1"): KubeObject {
  const object: KubeObject & { readonly spec: object } = {
    ...{ apiVersion, kind: "Service", metadata: { name: "web" } },
    spec,
  };
  return object;
}

const allocated = {
  ...{ type: "LoadBalancer", clusterIP: "10.96.0.7", clusterIPs: ["10.96.0.7"] },
  ...{ healthCheckNodePort: 30_001, ports: [{ port: 80, nodePort: 30_000 }] },
};

test("a Service loses its addresses and the ports of nodes", () => {
  assert.deepEqual(
    withoutAllocations(service(allocated)),
    service({ type: "LoadBalancer", ports: [{ port: 80 }] }),
  );
});

test("a Service without addresses stays so", () => {
  const headless = service({ clusterIP: "None", clusterIPs: ["None"], ports: [{ port: 80 }] });
  assert.deepEqual(withoutAllocations(headless), headless);
});

test("a Service of another group stays as it is", () => {
  const other = service(allocated, "serving.knative.dev/v1");
  assert.deepEqual(withoutAllocations(other), other);
});
