import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors";
import { chartErrors, RepositoryError } from "@flotilla/shared/source";
import { describe, test } from "vitest";
import { SourceError, sourceErrorOf } from "./source-error.ts";

describe("the failure of a source", () => {
  const rows: readonly (readonly [what: string, thrown: unknown, reason: string])[] = [
    [
      "AuthenticationFailed for a rejected login",
      new AppError(chartErrors.REGISTRY_UNAUTHORIZED, "401"),
      "AuthenticationFailed",
    ],
    [
      "AuthenticationFailed for an unusable Secret",
      new AppError(chartErrors.REPOSITORY_SECRET_INVALID, "no password"),
      "AuthenticationFailed",
    ],
    [
      "IndexationFailed for an unreadable index",
      new AppError(chartErrors.INDEX_INVALID, "not YAML"),
      "IndexationFailed",
    ],
    [
      "that of its kind for a failed request",
      new AppError(chartErrors.INDEX_FETCH, "connection refused"),
      "BucketOperationFailed",
    ],
    ["that of its kind for any other error", new TypeError("x"), "BucketOperationFailed"],
    ["that of its kind for what is not an error", "x", "BucketOperationFailed"],
    ["its own", new SourceError("URLInvalid", "x"), "URLInvalid"],
  ];
  test.each(rows)("has the reason %s", (_, thrown, reason) => {
    const error = sourceErrorOf(thrown, "BucketOperationFailed");
    assert.deepEqual([error.reason, error.condition], [reason, "FetchFailed"]);
    assert.equal(error.stalls, false);
  });

  test("has the reason Failed where its kind has none", () => {
    assert.equal(sourceErrorOf(new Error("x")).reason, "Failed");
  });

  test("keeps the time that the server has named", () => {
    const error = new RepositoryError(chartErrors.INDEX_FETCH, "429", { retryAfterMs: 5_000 });
    assert.equal(sourceErrorOf(error).retryAfterMs, 5_000);
  });
});
