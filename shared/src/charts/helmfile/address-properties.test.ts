/** What holds for every address. */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { describe, it } from "vitest";
import { AppError } from "../../runtime/errors/index.ts";
import {
  formatHelmfileAddress,
  maskAddress,
  type ParsedAddress,
  parseHelmfileAddress,
} from "./index.ts";
import { anyAddress, nearlyAddress } from "./testing/index.ts";

const secret = "hunter2";
const anyText = fc.oneof(
  nearlyAddress(secret),
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({ maxLength: 60 }).map((text) => `git::https://h/${text}`),
);

describe("any address", () => {
  it("is parsed from what it is formatted as", () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        assert.deepEqual(parseHelmfileAddress(formatHelmfileAddress(address)).address, address);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is parsed from its form again when it was parsed from a text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const address = parsed(text)?.address;
        if (address !== undefined)
          assert.deepEqual(parseHelmfileAddress(formatHelmfileAddress(address)).address, address);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("any text", () => {
  it("is an address or an error that says what to write, and shows no secret", () => {
    fc.assert(
      fc.property(anyText, fc.option(anyText, { nil: undefined }), (text, version) => {
        try {
          const { remarks } = parseHelmfileAddress(text, version);
          assert.ok(!remarks.join().includes(secret));
        } catch (thrown) {
          assert.ok(thrown instanceof AppError, String(thrown));
          assert.equal(thrown.code, "HELMFILE_SOURCE_INVALID");
          assert.match(thrown.message, /^spec\.(source|version) .*: write /);
          assert.ok(!JSON.stringify([thrown.message, thrown.cause]).includes(secret));
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it("names nothing outside of its tree, and no URL with credentials", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const address = parsed(text)?.address;
        if (address === undefined) return;
        const paths = [
          "path" in address ? address.path : "",
          "prefix" in address ? address.prefix.replace(/\/$/, "") : "",
        ];
        for (const path of paths.filter((each) => each !== ""))
          for (const name of path.split("/")) assert.ok(!/^\.{0,2}$|[\\\0\n]/.test(name), path);
        if (!("url" in address)) return;
        const url = new URL(address.url);
        assert.ok(["https:", "http:", "ssh:"].includes(url.protocol) && url.password === "");
        assert.ok(url.username === "" || url.protocol === "ssh:");
      }),
      { numRuns: 3_000 },
    );
  });
});

const encoded = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 12 })
  .map((text) => encodeURIComponent(`${secret}${text}`));
const user = fc
  .stringMatching(/^[a-z:@!$&'()*+,;=-]{0,12}$/)
  .map((text) => `user:${text}${secret}${text}@`);
const parameter = fc.constantFrom(
  "token",
  "X-Amz-Signature",
  "API_KEY",
  "My-Secret",
  "PASSWORD",
  "to%6Ben",
);

describe("the text for people", () => {
  it("has no password and no secret parameter of an address", () => {
    const address = fc
      .tuple(
        user,
        fc.constantFrom("h", "h:80", "[::1]"),
        fc.constantFrom("/helmfile.yaml", "/x.tgz//d@f", "/x.zip@f"),
        fc.array(fc.tuple(parameter, encoded), { maxLength: 3 }),
      )
      .map(
        ([as, host, path, parameters]) =>
          `https://${as}${host}${path}?ref=v1${parameters.map(([name, value]) => `&${name}=${value}`).join("")}`,
      );
    fc.assert(
      fc.property(address, (text) => {
        const shown = maskAddress(text);
        assert.ok(!shown.includes(secret), shown);
        assert.match(shown, /ref=v1/);
      }),
      { numRuns: 1_000 },
    );
  });

  it("has no secret that is written as a password or a parameter of any text", () => {
    fc.assert(
      fc.property(nearlyAddress(secret), (text) => {
        // Behind the colon of an image is its tag.
        fc.pre(!/oci:/i.test(text));
        assert.ok(!maskAddress(text).includes(secret), text);
      }),
      { numRuns: 3_000 },
    );
  });

  it("is formatted from an address without its credentials", () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        if (!("credentials" in address)) return;
        const password = `${secret}${address.credentials.password}`;
        const credentials = { username: "me", password };
        assert.ok(
          !maskAddress(formatHelmfileAddress({ ...address, credentials })).includes(secret),
        );
      }),
    );
  });
});

function parsed(text: string): ParsedAddress | undefined {
  try {
    return parseHelmfileAddress(text);
  } catch {
    return undefined;
  }
}
