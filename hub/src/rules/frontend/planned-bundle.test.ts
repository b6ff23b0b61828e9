import assert from "node:assert/strict";
import type { ChartPin } from "@flotilla/shared/api";
import { bundleFinalizer, createdByNameLabel, helmOpLabel } from "@flotilla/shared/api/names";
import { describe, test } from "vitest";
import { aRelease, httpPin } from "../../testing/index.ts";
import { chartReferenceOf, chartReferences, entryFor } from "./charts.ts";
import { bundleOf } from "./planned-bundle.ts";

const repo = "https://charts.example.com";
const own = { repo, chart: "web", version: "~1.2" };
const ownPin: ChartPin = { ...own, pin: httpPin("1.2.9") };

describe("the chart references of a HelmOp", () => {
  const cases = [
    ["only its own, without targets", {}, [own]],
    ["only its own, for targets that name no chart", { targets: [{ name: "all" }] }, [own]],
    [
      "once what several targets reference",
      { targets: [{ helm: { version: "1.3.0" } }, { helm: { version: "1.3.0" } }, { helm: {} }] },
      [own, { ...own, version: "1.3.0" }],
    ],
    [
      "fields that a target leaves empty are the HelmOp's",
      { targets: [{ helm: { chart: "shop", version: "" } }] },
      [own, { ...own, chart: "shop" }],
    ],
    [
      "nothing for a target that deploys nothing",
      { targets: [{ helm: { version: "9" }, doNotDeploy: true }] },
      [own],
    ],
    [
      "an archive has neither repository nor version",
      { helm: { chart: "https://x.example/a.tgz" } },
      [{ repo: "", chart: "https://x.example/a.tgz", version: "" }],
    ],
  ] as const;
  for (const [what, spec, expected] of cases) {
    test(what, () => {
      assert.deepEqual(chartReferences(aRelease(spec)), expected);
    });
  }

  test("a pin is found by the identical reference", () => {
    assert.equal(entryFor([ownPin], own), ownPin);
    assert.equal(entryFor([ownPin], { ...own, version: "~1.3" }), undefined);
    assert.deepEqual(chartReferenceOf({ repo: null }), { repo: "", chart: "", version: "" });
  });
});

describe("the Bundle of a HelmOp", () => {
  test("has the HelmOp's name, its labels for Bundles, and none of its own labels", () => {
    const bundle = bundleOf(
      aRelease(
        { labels: { team: "a", [helmOpLabel]: "forged", [createdByNameLabel]: "me" } },
        { labels: { mine: "x" } },
      ),
      { pins: [ownPin] },
    );

    assert.deepEqual(bundle.metadata, {
      name: "web",
      namespace: "fleet-default",
      labels: { team: "a", [helmOpLabel]: "web" },
      finalizers: [bundleFinalizer],
    });
  });

  test("has the resolved version, and keeps the constraint with the pin", () => {
    const { spec } = bundleOf(aRelease({ insecureSkipTLSVerify: true }), { pins: [ownPin] });

    assert.deepEqual(spec.helm, { repo, chart: "web", version: "1.2.9" });
    assert.deepEqual(spec.helmOpOptions, { helmOpInsecureSkipTLSVerify: true, pins: [ownPin] });
  });

  test("targets the group `default` when the HelmOp has no targets", () => {
    for (const targets of [undefined, null, []]) {
      const { spec } = bundleOf(aRelease(targets === undefined ? {} : { targets }), {
        pins: [ownPin],
      });

      assert.deepEqual(spec.targets, [{ name: "default", clusterGroup: "default" }]);
    }
  });

  test("numbers targets without a name, and keeps other names", () => {
    const { spec } = bundleOf(
      aRelease({ targets: [{ clusterName: "a" }, { name: "b" }, { name: "" }] }),
      { pins: [ownPin] },
    );

    assert.deepEqual(
      spec.targets?.map(({ name }) => name),
      ["target000", "b", "target002"],
    );
  });

  test("has a resolved chart in each target with Helm options, and none in others", () => {
    const other: ChartPin = { ...own, version: "^2", pin: httpPin("2.4.0") };
    const { spec } = bundleOf(
      aRelease({
        targets: [
          { clusterName: "a", helm: { values: { x: 1 } } },
          { clusterName: "b", helm: { version: "^2" } },
          { clusterName: "c" },
        ],
      }),
      { pins: [ownPin, other] },
    );

    assert.deepEqual(
      spec.targets?.map(({ helm }) => helm),
      [
        { repo, chart: "web", version: "1.2.9", values: { x: 1 } },
        { repo, chart: "web", version: "2.4.0" },
        undefined,
      ],
    );
  });

  test("never has a constraint, not even in a target that deploys nothing", () => {
    const { spec } = bundleOf(
      aRelease({ targets: [{ clusterName: "a", doNotDeploy: true, helm: { version: ">=9" } }] }),
      { pins: [ownPin] },
    );

    assert.deepEqual(spec.targets?.[0]?.helm, { repo, chart: "web" });
  });

  test("has no version for an archive", () => {
    const url = "https://x.example/a.tgz";
    const { spec } = bundleOf(aRelease({ helm: { chart: url, version: "" } }), {
      pins: [{ repo: "", chart: url, version: "", pin: { kind: "tarball", url } }],
    });

    assert.deepEqual(spec.helm, { chart: url });
  });

  test("has the options, without those that only the hub uses", () => {
    const { spec } = bundleOf(
      aRelease({
        namespace: "shop",
        paused: true,
        keepResources: true,
        pollingInterval: "5m",
        helmSecretName: "secret",
        suspend: true,
        resources: [{ name: "x" }],
        helmOpOptions: { forged: true },
      }),
      { pins: [ownPin] },
    );

    assert.deepEqual(Object.keys(spec).sort(), [
      "helm",
      "helmOpOptions",
      "keepResources",
      "namespace",
      "paused",
      "suspend",
      "targets",
    ]);
    assert.deepEqual(spec.helmOpOptions, { helmOpSecretName: "secret", pins: [ownPin] });
  });

  test("has the trusted certificate authorities, as in Fleet", () => {
    const { spec } = bundleOf(aRelease(), { pins: [ownPin], caBundle: "pem" });

    assert.deepEqual(spec.helmOpOptions, {
      helmOpCABundle: Buffer.from("pem").toString("base64"),
      pins: [ownPin],
    });
  });
});
