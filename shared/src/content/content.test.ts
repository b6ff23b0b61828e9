import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, test } from "vitest";
import { parseExact } from "../json/exact.ts";
import {
  type DeploymentContent,
  maxContentBytes,
  packContent,
  releaseDigest,
  unpackContent,
} from "./content.ts";
import { plainContent } from "./testing/plain-content.ts";

const pin = {
  kind: "http",
  version: "1.2.3",
  url: "https://charts.example.com/web-1.2.3.tgz",
  digest: `sha256:${"a".repeat(64)}`,
} as const;

const otherDigest = `sha256:${"b".repeat(64)}`;

const content: DeploymentContent = {
  ...plainContent,
  pin,
  releaseName: "web",
  namespace: "apps",
  values: { replicas: 2 },
  helm: { ...plainContent.helm, maxHistory: 10 },
};

describe("a change is sent to agents, and", () => {
  const { values: _, ...withoutValues } = content;
  const cases: readonly (readonly [what: string, changed: DeploymentContent, runsHelm: boolean])[] =
    [
      ["another version", { ...content, pin: { ...pin, version: "1.2.4" } }, true],
      [
        "the same version with other bytes",
        { ...content, pin: { ...pin, digest: `sha256:${"b".repeat(64)}` } },
        true,
      ],
      [
        "the same archive at another address",
        { ...content, pin: { ...pin, url: "https://mirror.example.com/web-1.2.3.tgz" } },
        false,
      ],
      [
        "another archive of that version",
        { ...content, pin: { ...pin, digest: otherDigest } },
        true,
      ],
      [
        "another address that tells no digest",
        { ...content, pin: { kind: "tarball", url: "https://mirror.example.com/web.tgz" } },
        true,
      ],
      ["another release name", { ...content, releaseName: "shop" }, true],
      ["another namespace", { ...content, namespace: "shop" }, true],
      ["other values", { ...content, values: { replicas: 3 } }, true],
      ["no values any more", withoutValues, true],
      ["a number that asks for it", { ...content, forceSyncGeneration: 1 }, true],
      ["whether the namespace is made", { ...content, createNamespace: false }, false],
      ["how long Helm waits", { ...content, helm: { ...content.helm, timeoutSeconds: 60 } }, false],
      ["atomic", { ...content, helm: { ...content.helm, atomic: true } }, false],
      ["force", { ...content, helm: { ...content.helm, force: true } }, false],
      ["takeOwnership", { ...content, helm: { ...content.helm, takeOwnership: true } }, false],
      ["waitForJobs", { ...content, helm: { ...content.helm, waitForJobs: true } }, false],
      ["disableDNS", { ...content, helm: { ...content.helm, disableDNS: false } }, false],
      [
        "skipSchemaValidation",
        { ...content, helm: { ...content.helm, skipSchemaValidation: true } },
        false,
      ],
      ["the history's limit", { ...content, helm: { ...content.helm, maxHistory: 3 } }, false],
      ["another Secret for the source", { ...content, access: { secret: "source" } }, false],
      ["as whom it is done", { ...content, serviceAccount: "deployer" }, false],
      [
        "templates that come to the same values",
        { ...content, templateValues: { replicas: "2" } },
        false,
      ],
      [
        "another place for the same values",
        { ...content, valuesFrom: [{ kind: "Secret", name: "more", key: "values.yaml" }] },
        false,
      ],
      ["the namespace's labels", { ...content, namespaceLabels: { team: "a" } }, false],
      ["what it depends on", { ...content, dependsOn: [{ name: "db" }] }, false],
      ["the Bundle's labels", { ...content, labels: { tier: "base" } }, false],
      ["disableLookup", { ...content, helm: { ...content.helm, disableLookup: false } }, false],
      ["the namespace's annotations", { ...content, namespaceAnnotations: { team: "a" } }, false],
      ["how certificates are checked", { ...content, access: { insecureSkipVerify: true } }, false],
      ["what a withdrawal leaves", { ...content, keepResources: true }, false],
      ["what becomes of its definitions", { ...content, deleteCRDResources: true }, false],
    ];
  for (const [what, changed, runsHelm] of cases) {
    test(`${runsHelm ? "Helm runs" : "Helm does not run"} for ${what}`, async () => {
      const before = await packContent(content);
      const after = await packContent(changed);

      assert.notEqual(after.deploymentId, before.deploymentId);
      assert.equal(releaseDigest(changed, changed) !== releaseDigest(content, content), runsHelm);
    });
  }
});

describe("a content that says the same has the same digests", () => {
  test("whatever the order of its fields", async () => {
    const reordered = Object.fromEntries(Object.entries(content).reverse());

    const packed = await packContent(reordered as DeploymentContent);

    assert.equal(packed.deploymentId, (await packContent(content)).deploymentId);
  });

  test("with values that are empty as without any, as far as Helm sees", () => {
    const { values: _, ...none } = content;

    assert.equal(releaseDigest(content, { values: {} }), releaseDigest(none, {}));
  });

  test("and with nothing to copy as without a word of it", () => {
    assert.equal(releaseDigest(content, { copies: [] }), releaseDigest(content, {}));
  });

  test("but not when what is copied beside the release changes", () => {
    const digests = [[], [{ data: "1" }], [{ data: "2" }]].map((copies) =>
      releaseDigest(content, { copies }),
    );

    assert.equal(new Set(digests).size, 3);
  });

  test("and the release digest fits into a label", () => {
    assert.match(releaseDigest(content, content), /^[0-9a-f]{56}$/);
  });
});

const packed = await packContent(content);

describe("a packed content", () => {
  test("opens as what it was, to the last digit of its numbers", async () => {
    const values = parseExact('{"big":12345678901234567890,"exact":1.10,"list":[{"a":null}]}');
    const exact = { ...content, values } as DeploymentContent;

    const opened = await unpackContent(await packContent(exact));

    assert.deepEqual(opened, exact);
  });

  test("is named by the digest of the JSON that it decompresses to", async () => {
    const { deploymentId, bytes } = await packContent(content);

    const digest = createHash("sha256").update(gunzipSync(bytes)).digest("hex");
    assert.equal(deploymentId, `sha256:${digest}`);
  });

  test("is refused beyond the size that is distributed", async () => {
    const values = { text: "x".repeat(maxContentBytes) };

    await assert.rejects(packContent({ ...content, values }), {
      code: "CONTENT_TOO_LARGE",
      message: /^the options for release apps\/web take \d+ bytes, more than the 8388608/,
    });
  });

  const foreign = Buffer.from(JSON.stringify({ format: 2 }));
  const broken = Buffer.from("{");
  const named = (bytes: Buffer) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const refused: readonly (readonly [string, string, Uint8Array, RegExp])[] = [
    [
      "that was cut off",
      packed.deploymentId,
      packed.bytes.subarray(0, 40),
      /it does not decompress/,
    ],
    [
      "of another digest",
      `sha256:${"0".repeat(64)}`,
      packed.bytes,
      new RegExp(`its bytes have the digest ${packed.deploymentId}`),
    ],
    [
      "of a format that is not known",
      named(foreign),
      gzipSync(foreign),
      /expected 1\s+→ at format/,
    ],
    ["that is no JSON", named(broken), gzipSync(broken), /it is no JSON/],
    [
      "that decompresses to more than is distributed",
      packed.deploymentId,
      gzipSync(Buffer.alloc(maxContentBytes + 1)),
      /it does not decompress/,
    ],
  ];
  for (const [what, deploymentId, bytes, message] of refused) {
    test(`${what} is refused`, async () => {
      await assert.rejects(unpackContent({ deploymentId, bytes }), {
        code: "CONTENT_INVALID",
        retryable: false,
        message,
      });
    });
  }
});
