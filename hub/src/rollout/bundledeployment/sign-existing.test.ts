import assert from "node:assert/strict";
import { type Bundle, bundleDeployments, type Cluster } from "@flotilla/shared/api";
import { clusterManagementLabel } from "@flotilla/shared/api/names";
import { createStore } from "@flotilla/shared/kube/cache";
import { secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { expect, test } from "vitest";
import { ensureSigningKey, recordDeploymentsSigned } from "../../link/authority/signing-key.ts";
import { createDeploymentSigner } from "../../rules/content/deployment-signature.ts";
import { createPinSigner } from "../../rules/resolve/pin-signature.ts";
import { aCluster, aDeployment } from "../../testing/index.ts";
import { signExisting } from "./sign-existing.ts";

const signer = createDeploymentSigner(createPinSigner(Buffer.from("key")));
const { signal } = new AbortController();

function setUp() {
  const rest = createMemoryApiServer();
  const clusters = createStore<Cluster>();
  const bundles = createStore<Bundle>();
  const sign = () => signExisting({ rest, clusters, bundles, signer }, signal);
  return { rest, clusters, bundles, sign };
}

test("signs the deployments of an older hub and changes nothing else", async () => {
  const { rest, sign } = setUp();
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const paused = aDeployment("paris", { spec: { paused: true, referencedObjects: ["Secret/a"] } });
  const deleted = aDeployment("oslo", { metadata: { deletionTimestamp, finalizers: ["one"] } });
  for (const each of [paused, deleted]) rest.put(bundleDeployments, each);

  assert.equal(await sign(), false);
  assert.equal(await sign(), true);

  for (const each of [paused, deleted]) {
    const { spec, metadata, ...others } = rest.peek(bundleDeployments, each.metadata) ?? each;
    assert.equal(signer.isSigned({ spec, metadata, ...others }), true);
    assert.deepEqual(spec, each.spec);
    assert.deepEqual(metadata.labels, each.metadata.labels);
  }
});

test("leaves those of a cluster that another system manages", async () => {
  const { rest, clusters, sign } = setUp();
  const labels = { [clusterManagementLabel]: "fleet" };
  clusters.set(aCluster("paris", { metadata: { labels } }));
  rest.put(bundleDeployments, aDeployment("paris"));

  assert.equal(await sign(), true);

  assert.equal(
    rest.peek(bundleDeployments, aDeployment("paris").metadata)?.metadata.annotations,
    undefined,
  );
});

test("records that all are signed with the key in use alone", async () => {
  const { rest } = setUp();
  const namespace = "flotilla-system";
  const name = "flotilla-pin-signing-key";
  const key = await ensureSigningKey(rest, namespace);
  expect(key.signsDeployments).toBe(false);

  await recordDeploymentsSigned(rest, namespace, { bytes: Buffer.from("another") }, signal);
  expect((await ensureSigningKey(rest, namespace)).signsDeployments).toBe(false);
  await recordDeploymentsSigned(rest, namespace, key, signal);
  expect((await ensureSigningKey(rest, namespace)).signsDeployments).toBe(true);

  await rest.delete(secrets, { namespace, name });
  const next = await ensureSigningKey(rest, namespace);
  expect(next.signsDeployments).toBe(false);
  expect(next.bytes).not.toEqual(key.bytes);
});
