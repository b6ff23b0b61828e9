import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { archiveDigest, describePin, type Pin, pinSchema } from "./pin.ts";

const digest = `sha256:${"ab".repeat(32)}`;

describe("a pin", () => {
  const pins: readonly (readonly [pin: Pin, shown: string, digest: string | undefined])[] = [
    [
      { kind: "http", version: "1.2.3", url: "https://h/x-1.2.3.tgz?sig=s", digest },
      "1.2.3 at https://h/x-1.2.3.tgz?…",
      digest,
    ],
    [
      { kind: "http", version: "1.2.3", url: "https://h/x-1.2.3.tgz" },
      "1.2.3 at https://h/x-1.2.3.tgz",
      undefined,
    ],
    [
      {
        kind: "oci",
        version: "1.2.3+b",
        repository: "oci://h/p/x",
        tag: "1.2.3_b",
        manifestDigest: `sha256:${"cd".repeat(32)}`,
        layerDigest: digest,
        layerSizeBytes: 9,
      },
      "oci://h/p/x:1.2.3_b",
      digest,
    ],
    [{ kind: "tarball", url: "https://me:pw@h/x.tgz" }, "https://h/x.tgz", undefined],
  ];
  for (const [pin, shown, expected] of pins) {
    it(`is unchanged by JSON, and is described as ${shown}`, () => {
      assert.deepEqual(pinSchema.parse(JSON.parse(JSON.stringify(pin))), pin);
      assert.equal(describePin(pin), shown);
      assert.equal(archiveDigest(pin), expected);
    });
  }

  const broken = [
    { kind: "http", version: "1.0.0", url: "file:///etc/passwd" },
    { kind: "http", version: "1.0.0", url: "https://h/x.tgz", digest: "sha1:00" },
    { kind: "http", version: "", url: "https://h/x.tgz" },
    { kind: "tarball", url: "https://h/x.tgz", extra: 1 },
    {
      kind: "oci",
      version: "1.0.0",
      repository: "https://h/p",
      tag: "1.0.0",
      manifestDigest: digest,
      layerDigest: digest,
      layerSizeBytes: 1,
    },
    { kind: "git", url: "https://h/x" },
  ];
  for (const one of broken) {
    it(`is invalid when it is ${JSON.stringify(one).slice(0, 60)}`, () => {
      assert.equal(pinSchema.safeParse(one).success, false);
    });
  }
});
