import assert from "node:assert/strict";
import { test } from "vitest";
import type { ReleaseRecord } from "../../helm/cli/release-record.ts";
import type { StoredRelease } from "../../helm/record/stored-release.ts";
import { disownChanged } from "./in-sync.ts";

const record: ReleaseRecord = {
  ...{ namespace: "shop", name: "web", revision: 2, status: "deployed" },
  ...{ isOwn: true, modifiedAtMs: 0 },
};
const release: StoredRelease = {
  ...{ namespace: "shop", name: "web", revision: 2, status: "deployed", manifest: "" },
  ...{
    content: "c",
    hooks: [],
    tests: [],
    chartName: "web",
    chartVersion: "1.0.0",
    appVersion: "",
  },
};

async function disowned(content: string): Promise<readonly number[]> {
  const found: number[] = [];
  const isChanged = await disownChanged(
    {
      stored: { read: () => Promise.resolve({ ...release, content }) },
      inventory: {
        revisionOf: () => ({ revision: 2, content: "c" }),
        disown: (_, revision) => {
          found.push(revision);
          return Promise.resolve();
        },
      },
    },
    record,
  );
  assert.equal(isChanged, found.length > 0);
  return found;
}

test("a record that somebody has replaced is not the agent's any more", async () => {
  assert.deepEqual(await disowned("c"), []);
  assert.deepEqual(await disowned("theirs"), [2]);
});
