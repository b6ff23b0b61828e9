import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, test } from "vitest";
import { parseExact } from "../../text/json/index.ts";
import {
  type DeploymentContent,
  maxContentBytes,
  packContent,
  releaseDigest,
  unpackContent,
} from "./content.ts";
import { plainContent } from "./testing/index.ts";

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

describe("a change of the content is sent to agents, and", () => {
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
        "another address without a digest",
        { ...content, pin: { kind: "tarball", url: "https://mirror.example.com/web.tgz" } },
        true,
      ],
      ["another release name", { ...content, releaseName: "shop" }, true],
      ["another namespace", { ...content, namespace: "shop" }, true],
      ["other values", { ...content, values: { replicas: 3 } }, true],
      ["removed values", withoutValues, true],
      ["forceSyncGeneration", { ...content, forceSyncGeneration: 1 }, true],
      ["createNamespace", { ...content, createNamespace: false }, false],
      [
        "another timeout of Helm",
        { ...content, helm: { ...content.helm, timeoutSeconds: 60 } },
        false,
      ],
      ["atomic", { ...content, helm: { ...content.helm, atomic: true } }, false],
      ["force", { ...content, helm: { ...content.helm, force: true } }, false],
      ["takeOwnership", { ...content, helm: { ...content.helm, takeOwnership: true } }, false],
      [
        "the options of actions",
        { ...content, format: 2, actions: { timeoutSeconds: 60, upgrade: { force: true } } },
        false,
      ],
      [
        "post-renderers",
        { ...content, format: 2, postRenderers: [{ images: [{ name: "nginx", newTag: "1" }] }] },
        true,
      ],
      [
        "health checks",
        { ...content, format: 2, healthCheckExprs: [{ group: "", current: "true" }] },
        false,
      ],
      [
        "common metadata",
        { ...content, format: 2, commonMetadata: { labels: { team: "a" } } },
        true,
      ],
      ["labels that no user has asked for", { ...content, originLabels: ["team"] }, false],
      [
        "what is done about drift",
        { ...content, drift: { mode: "enabled", ignore: [{ paths: ["/spec/replicas"] }] } },
        false,
      ],
      ["waitForJobs", { ...content, helm: { ...content.helm, waitForJobs: true } }, false],
      ["disableDNS", { ...content, helm: { ...content.helm, disableDNS: false } }, false],
      [
        "skipSchemaValidation",
        { ...content, helm: { ...content.helm, skipSchemaValidation: true } },
        false,
      ],
      ["the history's limit", { ...content, helm: { ...content.helm, maxHistory: 3 } }, false],
      ["another Secret for the source", { ...content, access: { secret: "source" } }, false],
      ["another service account", { ...content, serviceAccount: "deployer" }, false],
      [
        "other templates that render to the same values",
        { ...content, templateValues: { replicas: "2" } },
        false,
      ],
      [
        "valuesFrom with the same values",
        { ...content, valuesFrom: [{ kind: "Secret", name: "more", key: "values.yaml" }] },
        false,
      ],
      ["the namespace's labels", { ...content, namespaceLabels: { team: "a" } }, false],
      ["its dependencies", { ...content, dependsOn: [{ name: "db" }] }, false],
      ["the Bundle's labels", { ...content, labels: { tier: "base" } }, false],
      ["disableLookup", { ...content, helm: { ...content.helm, disableLookup: false } }, false],
      ["the namespace's annotations", { ...content, namespaceAnnotations: { team: "a" } }, false],
      ["insecureSkipVerify", { ...content, access: { insecureSkipVerify: true } }, false],
      ["keepResources", { ...content, keepResources: true }, false],
      ["ignoredConditions", { ...content, ignoredConditions: [{ type: "Ready" }] }, false],
      ["deleteCRDResources", { ...content, deleteCRDResources: true }, false],
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

describe("equal contents have equal digests", () => {
  test("in any order of their fields", async () => {
    const reordered = Object.fromEntries(Object.entries(content).reverse());

    const packed = await packContent(reordered as DeploymentContent);

    assert.equal(packed.deploymentId, (await packContent(content)).deploymentId);
  });

  test("with empty values and without values, for the release digest", () => {
    const { values: _, ...none } = content;

    assert.equal(releaseDigest(content, { values: {} }), releaseDigest(none, {}));
  });

  test("with no downstream resources and without the field", () => {
    assert.equal(releaseDigest(content, { copies: [] }), releaseDigest(content, {}));
  });

  test("but not with changed downstream resources", () => {
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
  test("unpacks to the same content, with all digits of its numbers", async () => {
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

  test("is rejected beyond the size limit", async () => {
    const values = { text: "x".repeat(maxContentBytes) };

    await assert.rejects(packContent({ ...content, values }), {
      code: "CONTENT_TOO_LARGE",
      message: /^the options of release apps\/web have \d+ bytes; the limit is 8388608$/,
    });
  });

  const foreign = Buffer.from(JSON.stringify({ format: 3 }));
  const option = Buffer.from(JSON.stringify({ ...content, releaseName: "--dry-run=server" }));
  const broken = Buffer.from("{");
  const named = (bytes: Buffer) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const rejected: readonly (readonly [string, string, Uint8Array, RegExp])[] = [
    [
      "that was truncated",
      packed.deploymentId,
      packed.bytes.subarray(0, 40),
      /it cannot be decompressed/,
    ],
    [
      "of another digest",
      `sha256:${"0".repeat(64)}`,
      packed.bytes,
      new RegExp(`digest mismatch: the bytes have ${packed.deploymentId}`),
    ],
    [
      "of an unknown format",
      named(foreign),
      gzipSync(foreign),
      /this agent does not know all of its options: upgrade the agent .* → at format/s,
    ],
    [
      "whose release name Helm takes for an option",
      named(option),
      gzipSync(option),
      /→ at releaseName/,
    ],
    ["that is not JSON", named(broken), gzipSync(broken), /it is not JSON/],
    [
      "that decompresses beyond the size limit",
      packed.deploymentId,
      gzipSync(Buffer.alloc(maxContentBytes + 1)),
      /it cannot be decompressed/,
    ],
  ];
  for (const [what, deploymentId, bytes, message] of rejected) {
    test(`${what} is rejected`, async () => {
      await assert.rejects(unpackContent({ deploymentId, bytes }), {
        code: "CONTENT_INVALID",
        retryable: false,
        message,
      });
    });
  }
});
