import assert from "node:assert/strict";
import type { Receiver as FluxReceiver } from "@flotilla/shared/flux";
import { secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import { createSentObject } from "../../rules/referenced/sent-object.ts";
import type { Receiver } from "./receiver.ts";
import { createReceiverSecrets } from "./tokens.ts";

const spec = {
  ...{ type: "github", interval: "10m", secretRef: { name: "login" } },
  resources: [{ kind: "HelmRepository", name: "charts" }],
} satisfies FluxReceiver["spec"];
const receiver: Receiver = { metadata: { namespace: "prod", name: "push" }, spec };

async function tokens(type: string) {
  const rest = createMemoryApiServer();
  const data = { token: Buffer.from("secret-token").toString("base64") };
  rest.put(secrets, { metadata: { namespace: "prod", name: "login" }, type, data });
  const known = createReceiverSecrets({
    rest,
    objects: {
      known: () =>
        Promise.resolve({
          ...{ kind: "present", resourceVersion: "1" },
          object: { type, data },
          sent: createSentObject({ type, data }),
        }),
    },
  });
  const found = [await known.known(receiver), await known.current(receiver)];
  return found.map((each) => each?.token);
}

describe("the token of a Receiver", () => {
  test("is that of its Secret", async () => {
    assert.deepEqual(await tokens("Opaque"), ["secret-token", "secret-token"]);
  });

  test.each([
    "kubernetes.io/service-account-token",
    "bootstrap.kubernetes.io/token",
    "helm.sh/release.v1",
    "flotilla.dev/webhook-key",
  ])("is never in a Secret of type %s", async (type) => {
    assert.deepEqual(await tokens(type), [undefined, undefined]);
  });
});
