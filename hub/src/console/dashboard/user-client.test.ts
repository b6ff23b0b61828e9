import assert from "node:assert/strict";
import { configMaps } from "@flotilla/shared/kube/objects";
import { connected } from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import { createAsUser } from "./user-client.ts";

const ref = { namespace: "default", name: "settings" };

describe("a request as a user", () => {
  test("of an identity provider is impersonated with that user and their groups alone", async (t) => {
    const { rest: connection, server } = await connected(t, {
      credentials: { kind: "token", token: "of-the-hub" },
    });
    const kubeconfig = { server: server.url, credentials: { kind: "none" } } as const;
    const asUser = createAsUser({ kubeconfig, connection, userAgent: "test" });
    const credentials = { kind: "impersonation", user: "anna", groups: ["dev", "ops"] } as const;

    await asUser(credentials, (rest) => rest.get(configMaps, ref));

    const headers = server.requests[0]?.headers;
    assert.equal(headers?.authorization, "Bearer of-the-hub");
    assert.equal(headers["impersonate-user"], "anna");
    assert.equal(headers["impersonate-group"], "dev, ops");
  });

  test("is not sent as a user or in a group of Kubernetes itself", async (t) => {
    const { rest: connection, server } = await connected(t);
    const kubeconfig = { server: server.url, credentials: { kind: "none" } } as const;
    const asUser = createAsUser({ kubeconfig, connection, userAgent: "test" });

    for (const identity of [
      { user: "system:admin", groups: [] },
      { user: "anna", groups: ["dev", "system:masters"] },
    ])
      await assert.rejects(
        asUser({ kind: "impersonation", ...identity }, (rest) => rest.get(configMaps, ref)),
        { code: "IDENTITY_REJECTED" },
      );
    assert.deepEqual(server.requests, []);
  });

  test("with a token has that token, and none of the hub's credentials", async (t) => {
    const { rest: connection, server } = await connected(t);
    const asUser = createAsUser({
      kubeconfig: {
        server: server.url,
        credentials: { kind: "token", token: "of-the-hub" },
        impersonate: { user: "other", groups: [] },
      },
      ...{ connection, userAgent: "test" },
    });

    await asUser({ kind: "token", token: "own" }, (rest) => rest.get(configMaps, ref));

    const headers = server.requests[0]?.headers;
    assert.equal(headers?.authorization, "Bearer own");
    assert.equal(headers["impersonate-user"], undefined);
  });
});
