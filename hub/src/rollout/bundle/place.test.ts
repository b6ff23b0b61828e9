import assert from "node:assert/strict";
import { apiVersion, type Bundle, type ChartPin, type ClusterGroup } from "@flotilla/shared/api";
import { clusterManagementLabel, clusterNamespaceName } from "@flotilla/shared/api/names";
import { unpackContent } from "@flotilla/shared/content";
import { describe, test } from "vitest";
import { bundleOf as planned } from "../../rules/frontend/planned-bundle.ts";
import { aBundle, aCluster, aRelease, httpPin, workspace } from "../../testing/index.ts";
import { createContentPacker, matchTargets } from "./place.ts";

const own = { repo: "https://charts.example.com", chart: "web", version: "~1.2" };
const pins: readonly ChartPin[] = [
  { ...own, pin: httpPin("1.2.9") },
  { ...own, version: "^2", pin: httpPin("2.4.0") },
];
const paris = aCluster("paris", { metadata: { labels: { env: "prod" } } });
const rome = aCluster("rome", { metadata: { labels: { env: "dev" } } });
const oslo = aCluster("oslo", { metadata: { labels: { env: "prod" } } });
const prod: ClusterGroup = {
  apiVersion,
  kind: "ClusterGroup",
  metadata: { name: "prod", namespace: workspace },
  spec: { selector: { matchLabels: { env: "prod" } } },
};

function bundleOf(targets: Bundle["spec"]["targets"]): Bundle {
  return planned(aRelease({ targets: targets ?? [] }), { pins });
}

describe("placement of a Bundle", () => {
  test("gives each cluster the content of the first target that matches, and packs each content once", async () => {
    const bundle = bundleOf([
      { clusterGroup: "prod", helm: { version: "^2", values: { replicas: 3 } } },
      { clusterSelector: {} },
    ]);

    const { placements, contents } = await matchTargets(
      bundle,
      [paris, rome, oslo],
      [prod],
      createContentPacker(),
    );

    assert.equal(contents.length, 2);
    const byCluster = new Map(
      placements.map(({ cluster, deploymentId }) => [cluster.metadata.name, deploymentId]),
    );
    assert.equal(byCluster.get("paris"), byCluster.get("oslo"));
    const opened = new Map(
      await Promise.all(
        contents.map(
          async (content) => [content.deploymentId, await unpackContent(content)] as const,
        ),
      ),
    );
    const [inParis, inRome] = ["paris", "rome"].map((name) =>
      opened.get(byCluster.get(name) ?? ""),
    );
    assert.deepEqual(inParis?.pin, httpPin("2.4.0"));
    assert.deepEqual(inParis.values, { replicas: 3 });
    assert.deepEqual(inRome?.pin, httpPin("1.2.9"));
    assert.equal(inRome.values, undefined);
  });

  test("excludes clusters that the restrictions do not allow", async () => {
    const targetRestrictions = [{ clusterGroup: "prod" }];
    const bundle = planned(aRelease({ targets: [{ clusterSelector: {} }], targetRestrictions }), {
      pins,
    });

    const { placements } = await matchTargets(
      bundle,
      [paris, rome, oslo],
      [prod],
      createContentPacker(),
    );

    assert.deepEqual(
      placements.map(({ cluster }) => cluster.metadata.name),
      ["paris", "oslo"],
    );
  });

  test("returns each cluster's namespace", async () => {
    const { placements } = await matchTargets(
      bundleOf([{ clusterName: "paris" }]),
      [paris, rome],
      [],
      createContentPacker(),
    );

    assert.deepEqual(
      placements.map(({ namespace }) => namespace),
      [clusterNamespaceName(workspace, "paris")],
    );
  });

  test("excludes a cluster that another system manages, which it does not call missing", async () => {
    const labels = { [clusterManagementLabel]: "CLI" };
    const managed = aCluster("paris", { metadata: { labels } });

    const { placements, contents, missing } = await matchTargets(
      bundleOf([{ clusterName: "paris" }]),
      [managed, rome],
      [],
      createContentPacker(),
    );

    assert.deepEqual(
      { placements, contents, missing },
      { placements: [], contents: [], missing: [] },
    );
  });

  test("excludes a cluster that is being deleted, but not one without a status", async () => {
    const deletionTimestamp = "2026-01-01T00:00:00Z";

    const { placements } = await matchTargets(
      bundleOf([{ clusterSelector: {} }]),
      [aCluster("paris", { metadata: { deletionTimestamp } }), aCluster("rome", { status: {} })],
      [],
      createContentPacker(),
    );

    assert.deepEqual(
      placements.map(({ cluster }) => cluster.metadata.name),
      ["rome"],
    );
  });

  test("shares one content among targets that differ only in their clusters", async () => {
    const { contents } = await matchTargets(
      bundleOf([{ clusterName: "paris" }, { clusterName: "rome" }]),
      [paris, rome],
      [],
      createContentPacker(),
    );

    assert.equal(contents.length, 1);
  });

  test("merges the options of customizations over those of the target with AllMatches, and shares equal ones", async () => {
    const env = (value: string) => ({ clusterSelector: { matchLabels: { env: value } } });
    const targets = [
      { ...env("prod"), helm: { values: { replicas: 2 } } },
      { clusterName: "paris", helm: { values: { replicas: 3, tag: "x" } } },
      { clusterSelector: {}, helm: { values: { zone: "z" } } },
    ];
    const bundle = bundleOf(targets);
    const spec = {
      ...bundle.spec,
      targetRestrictions: [{ clusterSelector: {} }],
      targetCustomizationMode: "AllMatches" as const,
    };

    const { placements, contents } = await matchTargets(
      { ...bundle, spec },
      [paris, rome, oslo],
      [],
      createContentPacker(),
    );

    const values = new Map(
      await Promise.all(
        contents.map(
          async (each) => [each.deploymentId, (await unpackContent(each)).values] as const,
        ),
      ),
    );
    assert.deepEqual(
      placements.map(({ cluster, deploymentId }) => [
        cluster.metadata.name,
        values.get(deploymentId),
      ]),
      [
        ["paris", { replicas: 3, tag: "x", zone: "z" }],
        ["rome", { zone: "z" }],
        ["oslo", { replicas: 2, zone: "z" }],
      ],
    );
  });

  const replicas = { helm: { values: { replicas: 2 } } };
  const rows = [
    ["FirstMatch", { replicas: 2 }],
    ["AllMatches", { zone: "z", replicas: 3, tag: "x" }],
  ] as const;
  test.each(rows)("[1.10] c1, env=prod; B sets replicas 3 as well; %s", async (mode, expected) => {
    const targets = [
      { name: "A", clusterSelector: { matchLabels: { env: "prod" } }, ...replicas },
      { name: "B", clusterName: "c1", helm: { values: { replicas: 3, tag: "x" } } },
      { name: "C", clusterSelector: {}, helm: { values: { zone: "z" } } },
    ];
    const bundle = bundleOf(targets);
    const spec = {
      ...bundle.spec,
      targetRestrictions: [{ clusterSelector: {} }],
      targetCustomizationMode: mode,
    };
    const c1 = aCluster("c1", { metadata: { labels: { env: "prod" } } });

    const { contents } = await matchTargets({ ...bundle, spec }, [c1], [], createContentPacker());

    const [only] = contents;
    assert.ok(only !== undefined && contents.length === 1);
    assert.deepEqual((await unpackContent(only)).values, expected);
  });

  test("packs again only when the Bundle's spec or labels change", async () => {
    const packer = createContentPacker();
    const bundle = bundleOf([{ clusterSelector: {} }]);
    const [target] = bundle.spec.targets ?? [];
    assert.ok(target !== undefined);

    const first = packer.pack(bundle, [target]);

    assert.equal(
      packer.pack({ ...bundle, metadata: { ...bundle.metadata, generation: 9 } }, [target]),
      first,
    );
    const relabelled = { ...bundle, metadata: { ...bundle.metadata, labels: { tier: "base" } } };
    const again = packer.pack(relabelled, [target]);
    assert.notEqual((await again).deploymentId, (await first).deploymentId);
    assert.notEqual(packer.pack({ ...bundle, spec: { ...bundle.spec } }, [target]), first);
    await first;
  });

  test("rejects an unresolved chart and names it", async () => {
    const bundle = aBundle({
      helm: { ...own, version: "1.0.0" },
      targets: [{ name: "all", clusterSelector: {} }],
    });

    await assert.rejects(matchTargets(bundle, [paris], [], createContentPacker()), {
      code: "PIN_MISSING",
      message:
        /target all of the Bundle .* https:\/\/charts\.example\.com\/ web 1\.0\.0; retrying when its HelmOp/,
    });
  });

  test("redacts secrets in the error about an unresolved chart", async () => {
    const bundle = aBundle({
      helm: { repo: "https://user:secret@charts.example.com/a?token=secret", chart: "web" },
      targets: [{ clusterSelector: {} }],
    });

    await assert.rejects(
      matchTargets(bundle, [paris], [], createContentPacker()),
      (thrown: Error) => {
        assert.match(thrown.message, /https:\/\/charts\.example\.com\/a\?… web/);
        assert.doesNotMatch(thrown.message, /secret/);
        return true;
      },
    );
  });

  test("reports clusters and groups that targets name and that do not exist or are being deleted", async () => {
    const terminating = aCluster("rome", {
      metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" },
    });
    const bundle = bundleOf([{ clusterName: "rome" }, { clusterGroup: "europe" }]);

    const { placements, missing } = await matchTargets(
      bundle,
      [paris, terminating],
      [],
      createContentPacker(),
    );

    assert.deepEqual(placements, []);
    assert.deepEqual(missing, [
      "there is no Cluster rome in the namespace fleet-default",
      "there is no ClusterGroup europe in the namespace fleet-default",
    ]);
  });

  test("finds the pin of an archive without a version", async () => {
    const url = "https://x.example/a.tgz";
    const pin = { kind: "tarball", url } as const;
    const bundle = planned(aRelease({ helm: { chart: url }, targets: [{ clusterSelector: {} }] }), {
      pins: [{ repo: "", chart: url, version: "", pin }],
    });

    const { contents } = await matchTargets(bundle, [paris], [], createContentPacker());

    const [content] = await Promise.all(contents.map(unpackContent));
    assert.deepEqual(content?.pin, pin);
  });

  test("pauses between clusters, because targets times groups may be many", async () => {
    let pauses = 0;
    const slices = {
      isOver: true,
      pause() {
        pauses += 1;
        return Promise.resolve();
      },
    };
    const clusters = Array.from({ length: 20 }, (_, at) => aCluster(`c${at}`));
    const bundle = bundleOf([{ clusterGroup: "prod" }]);

    const { placements } = await matchTargets(bundle, clusters, [prod], createContentPacker(), {
      slices,
    });

    assert.deepEqual(placements, []);
    // Also between those that are compared with the group, to say that it has no members.
    assert.ok(pauses >= 2 * clusters.length, String(pauses));
  });

  test("excludes clusters with doNotDeploy", async () => {
    const bundle = bundleOf([{ clusterName: "oslo", doNotDeploy: true }, { clusterGroup: "prod" }]);

    const { placements } = await matchTargets(
      bundle,
      [paris, rome, oslo],
      [prod],
      createContentPacker(),
    );

    assert.deepEqual(
      placements.map(({ cluster }) => cluster),
      [paris],
    );
  });
});
