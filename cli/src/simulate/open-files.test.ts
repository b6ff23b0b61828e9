import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { test } from "vitest";
import { checkOpenFiles, openFilesLimit } from "./open-files.ts";

test("a simulation with more connections than may be opened is refused, with what to do", () => {
  assert.throws(
    () => checkOpenFiles(5_000, 1_024),
    (thrown) =>
      AppError.from(thrown).code === "OPEN_FILES_LIMIT" &&
      AppError.from(thrown).message.includes("`ulimit -n 5100`"),
  );
});

test("one that fits, or whose limit is not known, is not", () => {
  checkOpenFiles(900, 1_024);
  checkOpenFiles(5_000, undefined);
});

test("this process knows its own limit", () => {
  const limit = openFilesLimit();
  assert.ok(limit === undefined || limit > 0);
});
