/** [3.7 no. 13] A content exists as long as any deployment or rollout may need it, and is collected afterwards. */
import assert from "node:assert/strict";
import type { BundleDeployment } from "@flotilla/shared/api";
import {
  type BundleRollout,
  type BundleRolloutStatus,
  rolloutApiVersion,
} from "@flotilla/shared/api/rollout";
import { createStore } from "@flotilla/shared/kube/cache";
import { keyOf, type Secret, secrets } from "@flotilla/shared/kube/objects";
import { aContext, createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { contentSecretName } from "../../rules/content/content-secret.ts";
import { createContentStore } from "../../rules/content/content-store.ts";
import { aDeployment, digestA, digestB, workspace } from "../../testing/index.ts";
import { collectReconciler } from "./reconcile.ts";

const namespace = "flotilla-system";
const graceMs = 300_000;

/** The content `digestA` is stored, in as many parts as it has bytes for. */
async function start({ bytes = Buffer.from("content") }: { readonly bytes?: Buffer } = {}) {
  const rest = createMemoryApiServer();
  const clock = createFakeClock();
  const contentSecrets = createStore<Secret>();
  const deployments = createStore<BundleDeployment>();
  const rollouts = createStore<BundleRollout>();
  const contents = createContentStore({ rest, stored: contentSecrets, namespace, clock });
  await contents.ensure({ deploymentId: digestA, bytes });
  const reconcile = collectReconciler({
    ...{ rest, contentSecrets, deployments, rollouts, contents, clock, graceMs },
  });
  const key = (part = 0) => keyOf({ namespace, name: contentSecretName(digestA, part) });
  return {
    rest,
    clock,
    contentSecrets,
    deployments,
    rollouts,
    contents,
    collect: (part = 0) => reconcile(key(part), aContext()),
    stored: () => rest.all(secrets).map(({ metadata }) => metadata.name),
  };
}

type Fixture = Awaited<ReturnType<typeof start>>;

/** Twice, with the time between that an unneeded content is kept. */
async function collectAfterGrace({ collect, clock }: Fixture): Promise<void> {
  await collect();
  await clock.advance(graceMs);
  await collect();
}

/** A rollout that pins `digestA`. */
function aRollout(phase: BundleRolloutStatus["phase"] | undefined): BundleRollout {
  return {
    apiVersion: rolloutApiVersion,
    kind: "BundleRollout",
    metadata: { name: "web-2", namespace: workspace, uid: "uid-2" },
    spec: {
      bundle: { name: "web", uid: "uid-bundle" },
      app: { kind: "HelmOp", name: "web" },
      number: 2,
      revision: "sha256:revision",
      version: "1.2.4",
      targets: [{ clusterName: "ams", deploymentID: digestB }, { deploymentID: digestA }],
      signature: "",
    },
    ...(phase !== undefined && { status: { phase } }),
  };
}

const other = { deploymentID: digestB, stagedDeploymentID: digestB };
const at = "2026-12-01T00:00:00Z";

describe("[3.7 no. 13] a content is kept", () => {
  const needed: readonly (readonly [what: string, deployment: BundleDeployment])[] = [
    ["desired", aDeployment("paris", { spec: { ...other, deploymentID: digestA } })],
    ["staged", aDeployment("paris", { spec: { ...other, stagedDeploymentID: digestA } })],
    ["applied", aDeployment("paris", { spec: other, status: { appliedDeploymentID: digestA } })],
    [
      "what a rollback gives back (promotion.from)",
      aDeployment("paris", {
        spec: { ...other, promotion: { rollout: "web-2", at, from: digestA } },
      }),
    ],
  ];
  test.each(needed)("while it is %s in one deployment", async (_, deployment) => {
    const fixture = await start();
    fixture.deployments.set(deployment);

    await collectAfterGrace(fixture);

    assert.equal(fixture.stored().length, 1);
  });

  test.each([undefined, "Progressing", "Waiting", "Halted", "RollingBack", "Completed"] as const)(
    "while a rollout pins it whose phase is %s",
    async (phase) => {
      const fixture = await start();
      fixture.rollouts.set(aRollout(phase));

      await collectAfterGrace(fixture);

      assert.equal(fixture.stored().length, 1);
    },
  );

  test("for five minutes after the last reference to it", async () => {
    const fixture = await start();
    const { clock, collect, stored, deployments } = fixture;
    const deployment = aDeployment("paris");
    deployments.set(deployment);
    await clock.advance(10 * graceMs);
    await collect();
    deployments.remove(deployment);
    const first = await collect();
    await clock.advance(graceMs - 1);
    await collect();

    assert.deepEqual(first.kind === "requeue" && first.afterMs, graceMs);
    assert.equal(stored().length, 1);
  });

  test("for as long again when something refers to it meanwhile", async () => {
    const fixture = await start();
    const { clock, collect, stored, deployments } = fixture;
    await collect();
    await clock.advance(graceMs - 1);
    const deployment = aDeployment("paris");
    deployments.set(deployment);
    await collect();
    deployments.remove(deployment);
    await collect();
    await clock.advance(graceMs - 1);
    await collect();

    assert.equal(stored().length, 1);
  });

  test("for as long again when it is about to be used", async () => {
    const fixture = await start();
    const { clock, collect, stored, contents } = fixture;
    await collect();
    await clock.advance(graceMs - 1);
    await contents.ensure({ deploymentId: digestA, bytes: Buffer.from("content") });
    await clock.advance(1);
    await collect();

    assert.equal(stored().length, 1);
  });
});

describe("[3.7 no. 13] a content is collected", () => {
  test("five minutes after the last reference to it", async () => {
    const fixture = await start();
    fixture.deployments.set(aDeployment("paris", { spec: other }));

    await collectAfterGrace(fixture);

    assert.deepEqual(fixture.stored(), []);
  });

  test.each(["RolledBack", "Superseded", "Cancelled"] as const)(
    "when the rollout that pins it is %s",
    async (phase) => {
      const fixture = await start();
      fixture.rollouts.set(aRollout(phase));

      await collectAfterGrace(fixture);

      assert.deepEqual(fixture.stored(), []);
    },
  );

  test("in all its parts", async () => {
    const fixture = await start({ bytes: Buffer.alloc(1_000_000, "large ") });
    assert.equal(fixture.stored().length, 2);

    for (const part of [0, 1]) await fixture.collect(part);
    await fixture.clock.advance(graceMs);
    for (const part of [0, 1]) await fixture.collect(part);

    assert.deepEqual(fixture.stored(), []);
  });

  test("and written again by the next that needs it", async () => {
    const fixture = await start();
    const [secret] = fixture.rest.all(secrets);
    assert.ok(secret);
    await collectAfterGrace(fixture);
    // The watch delivers it.
    fixture.contentSecrets.remove(secret);

    await fixture.contents.ensure({ deploymentId: digestA, bytes: Buffer.from("content") });

    assert.equal(fixture.stored().length, 1);
  });
});

test("leaves a Secret that is no content", async () => {
  const { rest, clock, contents } = await start();
  const contentSecrets = createStore<Secret>();
  const secret = rest.put(secrets, {
    ...{ apiVersion: "v1", kind: "Secret" },
    metadata: { namespace, name: "content-of-somebody" },
  });
  contentSecrets.set(secret);
  const reconcile = collectReconciler({
    ...{ rest, contentSecrets, contents, clock, graceMs: 0 },
    deployments: createStore<BundleDeployment>(),
    rollouts: createStore<BundleRollout>(),
  });

  await reconcile(keyOf(secret), aContext());

  assert.ok(rest.peek(secrets, secret.metadata));
});
