import assert from "node:assert/strict";
import { test } from "vitest";
import { apiReference } from "../../fleet/reference/index.ts";
import { rolloutReference } from "./index.ts";

function headingsOf(page: string): ReadonlySet<string> {
  return new Set(
    [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading.toLowerCase().replaceAll(" ", "-"),
    ),
  );
}

test("every link leads to a heading of this page, or of the page of Fleet's kinds", () => {
  const page = rolloutReference();
  const headings = { "": headingsOf(page), "api.md": headingsOf(apiReference()) };

  const dead = [...page.matchAll(/\]\((api\.md|)#([^)]*)\)/g)].filter(
    ([, path = "", heading = ""]) => !headings[path === "" ? "" : "api.md"].has(heading),
  );

  assert.deepEqual(dead, []);
});

test("stages are described with the strategy, and what is stored of them here", () => {
  assert.match(rolloutReference(), /\[RolloutStage\]\(api\.md#rolloutstage\)/);
  assert.match(rolloutReference(), /^### StageStatus$/m);
});
