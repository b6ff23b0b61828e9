import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BundleDeploymentOptions } from "@flotilla/shared/api/bundle-deployment-options.ts";
import {
  type DeploymentContent,
  packContent,
  unpackContent,
} from "@flotilla/shared/content/content.ts";
import { rawNumber } from "@flotilla/shared/json/exact.ts";
import { httpPin } from "../testing/objects.ts";
import { buildContent } from "./build-content.ts";

function build(options: BundleDeploymentOptions): DeploymentContent {
  return buildContent({
    bundleName: "web",
    options,
    pin: httpPin("1.2.3"),
    insecureSkipVerify: false,
  });
}

const defaults = build({});

describe("the content of a deployment", () => {
  test("has Fleet's defaults where nothing is given", () => {
    assert.deepEqual(defaults, {
      format: 1,
      pin: httpPin("1.2.3"),
      releaseName: "web",
      namespace: "default",
      createNamespace: true,
      helm: {
        timeoutSeconds: 0,
        atomic: false,
        force: false,
        takeOwnership: false,
        waitForJobs: false,
        disableDNS: false,
        skipSchemaValidation: false,
        maxHistory: 2,
      },
      access: { insecureSkipVerify: false },
      keepResources: false,
    });
  });

  const cases: readonly (readonly [
    what: string,
    options: BundleDeploymentOptions,
    changes: Partial<DeploymentContent>,
  ])[] = [
    ["a release name", { helm: { releaseName: "shop" } }, { releaseName: "shop" }],
    ["a default namespace", { defaultNamespace: "shop" }, { namespace: "shop" }],
    [
      "a namespace before a default one",
      { namespace: "a", defaultNamespace: "b" },
      { namespace: "a" },
    ],
    ["empty names", { namespace: "", defaultNamespace: null, helm: { releaseName: null } }, {}],
    ["createNamespace", { createNamespace: false }, { createNamespace: false }],
    ["createNamespace null", { createNamespace: null }, {}],
    ["values", { helm: { values: { a: 1 } } }, { values: { a: 1 } }],
    ["empty values, which are none", { helm: { values: {} } }, {}],
    ["null values, which are none", { helm: { values: null } }, {}],
    ["keepResources", { keepResources: true }, { keepResources: true }],
    [
      "a timeout",
      { helm: { timeoutSeconds: 60 } },
      { helm: { ...defaults.helm, timeoutSeconds: 60 } },
    ],
    ["a timeout below 0, which is none", { helm: { timeoutSeconds: -1 } }, {}],
    ["a history", { helm: { maxHistory: 7 } }, { helm: { ...defaults.helm, maxHistory: 7 } }],
    ["a history of 0, which is the default", { helm: { maxHistory: 0 } }, {}],
    ["a history below 0, which is the default", { helm: { maxHistory: -1 } }, {}],
    ...(
      [
        "atomic",
        "force",
        "takeOwnership",
        "waitForJobs",
        "disableDNS",
        "skipSchemaValidation",
      ] as const
    ).map(
      (name) =>
        [name, { helm: { [name]: true } }, { helm: { ...defaults.helm, [name]: true } }] as const,
    ),
  ];
  for (const [what, options, changes] of cases) {
    test(`follows ${what}, and an agent can read it`, async () => {
      const content = build(options);

      assert.deepEqual(content, { ...defaults, ...changes });
      assert.deepEqual(await unpackContent(await packContent(content)), content);
    });
  }

  test("makes the release name from the Bundle's name as Fleet does", () => {
    const { releaseName } = buildContent({
      bundleName: "a".repeat(60),
      options: {},
      pin: httpPin("1.2.3"),
      insecureSkipVerify: true,
    });

    assert.equal(releaseName.length, 53);
    assert.match(releaseName, /^a{47}-[0-9a-f]{5}$/);
  });

  test("keeps every digit of a number in values", async () => {
    const content = build({ helm: { values: { id: rawNumber("12345678901234567890") } } });

    const read = await unpackContent(await packContent(content));

    assert.equal(JSON.stringify(read.values), '{"id":12345678901234567890}');
  });
});
