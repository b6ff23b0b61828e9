import assert from "node:assert/strict";
import type { OCIRepositorySpec } from "@flotilla/shared/flux";
import { describe, test } from "vitest";
import { SourceError } from "../fluxsource/source-error.ts";
import { planOf } from "./validate.ts";

const spec: OCIRepositorySpec = {
  url: "oci://registry.example.com:5000/team/web",
  interval: "1m",
  timeout: "60s",
  provider: "generic",
};

describe("the spec of an OCIRepository", () => {
  const accepted: readonly (readonly [string, Partial<OCIRepositorySpec>])[] = [
    ["with an address alone", {}],
    ["with a digest", { ref: { digest: `sha256:${"a".repeat(64)}` } }],
    [
      "with ignore of a copied layer, which Flux does not apply",
      { ignore: "*.md", layerSelector: { operation: "copy" } },
    ],
  ];
  for (const [what, fields] of accepted)
    test(`is accepted ${what}`, () =>
      assert.equal(planOf({ ...spec, ...fields }).repository, spec.url));

  const rejected: readonly (readonly [string, Partial<OCIRepositorySpec>, string, RegExp])[] = [
    ["a tag in its address", { url: `${spec.url}:1.0` }, "URLInvalid", /spec\.ref\.tag/],
    ["a digest in its address", { url: `${spec.url}@sha256:a` }, "URLInvalid", /spec\.url/],
    ["an invalid digest", { ref: { digest: "sha1:a" } }, "URLInvalid", /spec\.ref\.digest/],
    [
      "an account",
      { serviceAccountName: "puller" },
      "AuthenticationFailed",
      /serviceAccountName is not supported.*spec\.secretRef/,
    ],
    [
      "ignored files",
      { ignore: "*.md" },
      "OCIArtifactLayerOperationFailed",
      /spec\.ignore is not supported.*\.helmignore/,
    ],
  ];
  for (const [what, fields, reason, message] of rejected)
    test(`is rejected with ${what}, and not retried`, () => {
      assert.throws(
        () => planOf({ ...spec, ...fields }),
        (thrown: unknown) => {
          assert.ok(thrown instanceof SourceError);
          assert.equal(thrown.reason, reason);
          assert.equal(thrown.stalls, true);
          assert.match(thrown.message, message);
          return true;
        },
      );
    });

  test("is rejected when it is missing", () => assert.throws(() => planOf(undefined), /no spec/));
});
