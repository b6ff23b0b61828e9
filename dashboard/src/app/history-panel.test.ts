import assert from "node:assert/strict";
import type { VersionRecord } from "@flotilla/shared/dashboard";
import { createElement } from "react";
import { describe, test } from "vitest";
import { app, cluster, fleet } from "../fleet/testing/index.ts";
import { readPage } from "../testing/read-page.ts";
import { HistoryPanel } from "./history-panel.tsx";

const ref = { kind: "HelmOp", namespace: "ns", name: "web" } as const;
const clusters = ["paris", "rome"].map((name) => cluster(name, "Ready"));
const first = "2026-01-01T11:57:00Z";
const last = "2026-01-01T11:58:00Z";

function read(versions: readonly VersionRecord[] | undefined) {
  const path = "/api/v1/apps/HelmOp/ns/web/history";
  return readPage(createElement(HistoryPanel, { app: ref }), {
    fleet: fleet([app("web", "Ready")], clusters, { installed: ["web"] }),
    details: versions === undefined ? {} : { [path]: { versions } },
  }).text;
}

const record = { version: "1.0.0", firstAt: first, lastAt: last, clusters: 2, current: 2 };

describe("the history of an app", () => {
  test("says when the clusters got each version, and what has become of it", () => {
    const before = { ...record, version: "0.9.0", firstAt: first, lastAt: first, current: 0 };
    const text = read([
      { ...record, failed: 0 },
      { ...before, failed: 1 },
    ]);

    assert.match(text, /1\.0\.0 ?from 3m ago to 2m ago installed on 2 clusters, running on 2 /);
    assert.match(
      text,
      /0\.9\.0 ?3m ago installed on 1 cluster, replaced on all of them; failed on 1 cluster$/,
    );
  });

  test("says that there is none, but not before it was read", () => {
    assert.match(read([]), /No cluster has installed it yet\./);
    assert.equal(read(undefined), "History");
  });
});
