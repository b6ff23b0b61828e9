import assert from "node:assert/strict";
import type { EndpointSlice, Service } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { type ApiServerObjects, apiServerEndpoints } from "./api-server.ts";

const metadata = { name: "kubernetes", namespace: "default" };
const service: Service = {
  metadata,
  spec: { clusterIP: "10.96.0.1", clusterIPs: ["10.96.0.1", "fd96::1"], ports: [{ port: 443 }] },
};
const slice: EndpointSlice = {
  metadata,
  addressType: "IPv4",
  endpoints: [{ addresses: ["192.0.2.10"] }, { addresses: ["192.0.2.11"] }],
  ports: [{ name: "https", port: 6443 }],
};
const none: ApiServerObjects = { server: "https://api.example.com", services: [], slices: [] };

describe("the addresses of the API server", () => {
  const rows: readonly (readonly [string, Partial<ApiServerObjects>, readonly string[]])[] = [
    ["of a name in the kubeconfig: none", {}, []],
    ["of the kubeconfig", { server: "https://192.0.2.1:6443" }, ["192.0.2.1 6443"]],
    ["of the kubeconfig, without a port", { server: "https://[fd96::1]" }, ["fd96::1 443"]],
    ["of this machine", { server: "http://localhost" }, ["127.0.0.1 80", "::1 80"]],
    ["of the Service", { services: [service] }, ["10.96.0.1 443", "fd96::1 443"]],
    [
      "of a Service of an old form",
      { services: [{ metadata, spec: { clusterIP: "10.0.0.1", ports: [{ port: 443 }] } }] },
      ["10.0.0.1 443"],
    ],
    [
      "of a Service without an address",
      { services: [{ metadata, spec: { clusterIP: "None", ports: [{ port: 443 }] } }] },
      [],
    ],
    ["of its EndpointSlices", { slices: [slice] }, ["192.0.2.10 6443", "192.0.2.11 6443"]],
  ];
  for (const [name, objects, expected] of rows)
    test(name, () => {
      const found = apiServerEndpoints({ ...none, ...objects });

      assert.deepEqual(
        found.map(({ address, port }) => `${address} ${port}`),
        expected,
      );
    });
});
