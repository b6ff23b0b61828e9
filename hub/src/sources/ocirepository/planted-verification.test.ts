import assert from "node:assert/strict";
import { ociRepositories } from "@flotilla/shared/flux";
import { secrets } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { trustedKeysDigest } from "../fluxsource/verification.ts";
import { generatedKey, startTestRegistry } from "./testing/index.ts";

test("an OCIRepository with verify is verified although somebody else wrote into its status that it was", async (t) => {
  const { push, create, putSecret, change, get, until, condition } = await startTestRegistry(t);
  push("1.0.0", "latest");
  putSecret("keys", { "team.pub": generatedKey() });
  create();
  const { status } = await until(() => {
    const found = get(ociRepositories, "web");
    return found?.status?.artifact === undefined ? undefined : found;
  });
  const verify = { provider: "cosign" as const, secretRef: { name: "keys" } };
  const data = get(secrets, "keys")?.data ?? {};
  const keys = trustedKeysDigest(verify, () => ({ data }));
  const planted = {
    ...{ type: "SourceVerified", status: "True" as const, reason: "Succeeded" },
    ...{ observedGeneration: 2, message: "verified", lastTransitionTime: "2026-01-01T00:00:00Z" },
  };
  const metadata = {
    ...status?.artifact?.metadata,
    "flotilla.dev/verified-by": keys,
    "flotilla.dev/provenance": JSON.stringify([{ verifiedBy: "keys", keys }]),
  };
  change(ociRepositories, "web", {
    spec: { verify },
    status: {
      ...status,
      observedGeneration: 2,
      ...(status?.artifact && { artifact: { ...status.artifact, metadata } }),
      conditions: [...(status?.conditions ?? []), planted],
    },
  });

  const failed = await until(() => {
    const found = condition("Ready");
    return found?.status === "False" ? found : undefined;
  });

  assert.equal(failed.reason, "VerificationError");
  assert.equal(condition("SourceVerified")?.status, "False");
});
