import assert from "node:assert/strict";
import { test } from "vitest";
import { apiReference } from "../../fleet/reference/index.ts";
import { fluxReference } from "./index.ts";

function headingsOf(page: string): ReadonlySet<string> {
  return new Set(
    [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading.toLowerCase().replaceAll(" ", "-"),
    ),
  );
}

test("every link leads to a heading of this page, or of the page of our own kinds", () => {
  const page = fluxReference();
  const headings = { "": headingsOf(page), "api.md": headingsOf(apiReference()) };

  const dead = [...page.matchAll(/\]\((api\.md|)#([^)]*)\)/g)].filter(
    ([, path = "", heading = ""]) => !headings[path === "" ? "" : "api.md"].has(heading),
  );

  assert.deepEqual(dead, []);
});

test("a type of our own kinds is not described again", () => {
  assert.match(fluxReference(), /\[BundleTarget\]\(api\.md#bundletarget\)/);
  assert.doesNotMatch(fluxReference(), /^### (BundleTarget|BundleSummary)$/m);
});

test("a default that the API server writes is shown", () => {
  assert.match(fluxReference(), /^\| `reconcileStrategy` \| .* \| `ChartVersion` \|/m);
});
