/** The plan of a change that is not written: another version, or other values. */
import assert from "node:assert/strict";
import type { HelmOp } from "@flotilla/shared/api";
import { unpackContent } from "@flotilla/shared/content";
import { describe, test } from "vitest";
import { bundleOf, releaseOfHelmOp } from "../../rules/index.ts";
import { aBundle, aCluster, aHelmOp, aPolicy, httpPin } from "../../testing/index.ts";
import { servePlans } from "./testing/index.ts";

const reference = { repo: "https://charts.example.com", chart: "web", version: "~1.2" };
const everywhere = [{ name: "all", clusterSelector: {} }];

/** The HelmOp `web` of version ~1.2, which is 1.2.0 now, on all clusters. */
async function start(spec: HelmOp["spec"] = {}, setUp: Parameters<typeof servePlans>[0] = {}) {
  const hub = await servePlans(setUp);
  const helm = { ...reference, values: { image: { tag: "1" }, ports: [{ port: 80 }] } };
  const helmOp = aHelmOp({ helm, targets: everywhere, ...spec });
  hub.caches.helmOps.saw(helmOp);
  const pins = [{ ...reference, pin: httpPin("1.2.0") }];
  const made = bundleOf(releaseOfHelmOp(helmOp), { pins });
  const { metadata } = aBundle({}, { resourceVersion: "2" });
  hub.caches.bundles.saw(hub.signer.signed({ ...made, metadata }));
  /** The content that an agent was asked about. */
  async function content() {
    const [target] = hub.targets;
    assert.ok(target?.content);
    const { deploymentId, content: bytes } = target;
    return await unpackContent({ deploymentId, bytes });
  }
  return { ...hub, content };
}

describe("the plan of a change", () => {
  test("has the version that is proposed, and keeps everything else", async () => {
    const { propose, content, targets, server } = await start();

    const response = await propose({ version: "~1.3" });

    assert.equal(response.status, 200, await response.text());
    const { pin, values } = await content();
    assert.equal(pin.kind === "http" && pin.version, "1.3.0");
    assert.deepEqual(values, { image: { tag: "1" }, ports: [{ port: 80 }] });
    assert.deepEqual(
      new Set(targets.map(({ cluster }) => cluster)),
      new Set(["fleet-default/ams", "fleet-default/ber", "fleet-default/cgn"]),
    );
    assert.deepEqual(server.writes, []);
  });

  test("has values merged over those of the app, then what lines of --set say", async () => {
    const { propose, content } = await start();

    await propose({ values: { image: { pull: "Always" } }, set: ["ports[0].port=81,image.tag=2"] });

    const { pin, values } = await content();
    assert.equal(pin.kind === "http" && pin.version, "1.2.0");
    assert.deepEqual(values, { image: { tag: 2, pull: "Always" }, ports: [{ port: 81 }] });
  });

  test("changes nothing where it says what the app has", async () => {
    const { propose, targets } = await start();

    await propose({ values: { image: { tag: "1" } } });
    await propose({ version: "~1.2" });

    assert.equal(new Set(targets.map(({ deploymentId }) => deploymentId)).size, 1);
  });

  test("of one cluster asks that one alone", async () => {
    const { propose, targets } = await start();

    await propose({ version: "~1.3" }, "?cluster=ber");

    assert.deepEqual(
      new Set(targets.map(({ cluster }) => cluster)),
      new Set(["fleet-default/ber"]),
    );
  });

  test("has the clusters that only the app's targets decide about", async () => {
    const { propose, caches, targets } = await start({
      targets: [{ clusterSelector: { matchLabels: { env: "prod" } } }],
    });
    caches.clusters.saw(aCluster("cgn", { metadata: { labels: { env: "prod" } } }));

    await propose({ version: "~1.3" });

    assert.deepEqual(
      new Set(targets.map(({ cluster }) => cluster)),
      new Set(["fleet-default/cgn"]),
    );
  });

  test("needs the right to create bundlerollouts/plan, which who reads plans need not have", async () => {
    const { propose, get, asked } = await start({}, { lacks: "create bundlerollouts" });

    const response = await propose({ version: "~1.3" });

    assert.equal(response.status, 403);
    assert.match(
      await response.text(),
      /alice may not create bundlerollouts\/plan of API group flotilla\.dev in namespace fleet-default/,
    );
    assert.deepEqual(asked, []);
    assert.equal((await get()).status, 200);
  });

  test("is refused as the change itself would be: by a Policy", async () => {
    const { propose, caches, asked } = await start();
    caches.policies.saw(
      aPolicy("rules", { helmOp: { allowedHelmRepoPatterns: ["https://other.example.com"] } }),
    );

    const response = await propose({ version: "~1.3" });

    assert.equal(response.status, 422);
    assert.match(await response.text(), /charts\.example\.com/);
    assert.deepEqual(asked, []);
  });

  test("is refused as the change itself would be: by its source", async () => {
    const { propose } = await start();

    const response = await propose({ version: "9.9.9" });

    assert.equal(response.status, 422);
    assert.match(await response.text(), /no version matches 9\.9\.9/);
  });

  test("is refused for a line of --set that cannot be read, without its text", async () => {
    const { propose } = await start();

    const response = await propose({ set: ["password"] });

    assert.equal(response.status, 400);
    const text = await response.text();
    assert.match(text, /a line of --set cannot be read: number 1/);
    assert.ok(!text.includes("password"));
  });

  test("is refused for a body of more than a megabyte", async () => {
    const { propose } = await start();

    const response = await propose({ values: { a: "x".repeat(1024 * 1024) } });

    assert.equal(response.status, 400);
    assert.match(await response.text(), /more than 1048576 bytes/);
  });

  test("is refused together with the Gate that an approval is about", async () => {
    const { propose } = await start();

    assert.equal((await propose({ version: "~1.3" }, "?gate=web-7-prod-board")).status, 400);
  });

  test("is refused while somebody else has written the Bundle", async () => {
    const { propose, caches } = await start();
    caches.bundles.saw(aBundle({ helmOpOptions: { pins: [] } }, { resourceVersion: "3" }));

    const response = await propose({ version: "~1.3" });

    assert.equal(response.status, 404);
    assert.match(await response.text(), /is not as the hub wrote it/);
  });
});
