import assert from "node:assert/strict";
import { findCondition } from "@flotilla/shared/conditions";
import type { RepositoryAccess } from "@flotilla/shared/source";
import { describe, test } from "vitest";
import {
  aHelmOp,
  aPolicy,
  createTestHelmOps,
  httpPin,
  testRepository,
  web,
} from "../../testing/index.ts";

describe("a HelmOp under a Policy", () => {
  const guard = aPolicy("guard", { helmOp: { allowedHelmRepoPatterns: ["https://good/.*"] } });

  test("is rejected before any repository request, with one Warning, also after a restart", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.govern(guard);
    helmOps.put(aHelmOp());

    assert.deepEqual(await helmOps.reconcile(web), { kind: "done" });
    await helmOps.reconcile(web);
    helmOps.restart();
    await helmOps.reconcile(web);

    assert.equal(answers.requests, 0);
    assert.equal(helmOps.bundle(web), undefined);
    const accepted = findCondition(helmOps.helmOp(web).status?.conditions, "Accepted");
    assert.equal(accepted?.status, "False");
    assert.match(accepted.message ?? "", /^disallowed helm repo/);
    assert.deepEqual(
      helmOps.events.map(({ reason, action, note }) => [reason, action, note]),
      [["PolicyViolation", "ApplyPolicyRestrictions", accepted.message]],
    );
  });

  test("that is created later keeps the Bundle and its pin, and blocks changes until it is deleted", async () => {
    const { answers, helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.put(aHelmOp());
    await helmOps.reconcile(web);
    const before = helmOps.bundle(web);

    helmOps.govern(guard);
    helmOps.put({ ...helmOps.helmOp(web), spec: { ...aHelmOp().spec, namespace: "other" } });
    await helmOps.reconcile(web);
    assert.deepEqual(helmOps.bundle(web), before);
    assert.equal(helmOps.helmOp(web).status?.version, "1.2.3");

    helmOps.revoke(guard);
    await helmOps.reconcile(web);
    assert.equal(helmOps.bundle(web)?.spec.namespace, "other");
    assert.equal(answers.requests, 1);
  });

  test("sees what its repository responds only where the Policy limits repositories", async () => {
    for (const [policy, isShown] of [
      [undefined, false],
      [aPolicy("guard", { helmOp: { allowedChartPatterns: ["web"] } }), false],
      [aPolicy("guard", { helmOp: { allowedHelmRepoPatterns: ["https://.*"] } }), true],
    ] as const) {
      const accesses: RepositoryAccess[] = [];
      const helmOps = createTestHelmOps({
        resolve: (_, __, access) => {
          accesses.push(access);
          return Promise.resolve({ pin: httpPin("1.2.3"), problems: [] });
        },
      });
      if (policy !== undefined) helmOps.govern(policy);
      helmOps.put(aHelmOp());

      await helmOps.reconcile(web);

      assert.deepEqual(
        accesses.map(({ showsResponses }) => showsResponses),
        [isShown],
      );
    }
  });

  test("gets its defaults in its Bundle, not in its own spec", async () => {
    const { helmOps } = testRepository(httpPin("1.2.3"));
    helmOps.govern(
      aPolicy("guard", {
        requireServiceAccount: true,
        helmOp: { defaultServiceAccount: "deployer", defaultHelmSecretName: "login" },
      }),
    );
    helmOps.put(aHelmOp());

    await helmOps.reconcile(web);

    const { serviceAccount, helmOpOptions } = helmOps.bundle(web)?.spec ?? {};
    assert.deepEqual([serviceAccount, helmOpOptions?.helmOpSecretName], ["deployer", "login"]);
    assert.equal(helmOps.helmOp(web).spec.serviceAccount, undefined);
    assert.equal(helmOps.helmOp(web).spec.helmSecretName, undefined);
  });
});
