import assert from "node:assert/strict";
import type { Secret } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { localToken, planBootstrap } from "./bootstrap.ts";

const token = { ...localToken, metadata: { ...localToken.metadata, uid: "token-1" } };
const registration: Secret = {
  metadata: { namespace: "fleet-local", name: "local" },
  data: { address: "aHVi", "ca.crt": "Y2E=", token: "dG9rZW4=" },
};

function made(): Secret {
  const step = planBootstrap(token, registration, undefined);
  assert.ok(step.kind === "create");
  return { ...step.secret, metadata: { ...step.secret.metadata, uid: "secret-1" } };
}

describe("the bootstrap Secret of the hub's own cluster", () => {
  test("has the registration, and the name that the token is for", () => {
    const { metadata, data } = made();

    assert.equal(`${metadata.namespace}/${metadata.name}`, "flotilla-agent/flotilla-bootstrap");
    assert.deepEqual(data, { ...registration.data, clusterName: "bG9jYWw=" });
  });

  test("stays while nothing changes", () => {
    assert.deepEqual(planBootstrap(token, registration, made()), { kind: "none" });
  });

  test("is made again for another token, and for another address of the hub", () => {
    const other = { ...token, metadata: { ...token.metadata, uid: "token-2" } };
    const moved = { ...registration, data: { ...registration.data, address: "bW92ZWQ=" } };

    for (const step of [
      planBootstrap(other, registration, made()),
      planBootstrap(token, moved, made()),
    ])
      assert.deepEqual([step.kind, "uid" in step && step.uid], ["recreate", "secret-1"]);
  });

  test("is left alone where somebody else has made it", () => {
    const { metadata, ...others } = made();
    const foreign = { ...others, metadata: { ...metadata, annotations: {} } };

    assert.deepEqual(planBootstrap(token, registration, foreign), { kind: "foreign" });
  });
});
