import assert from "node:assert/strict";
import type { App } from "@flotilla/shared/dashboard";
import { createElement } from "react";
import { describe, test } from "vitest";
import { app, cluster, fleet } from "../fleet/testing/index.ts";
import { readPage } from "../testing/read-page.ts";
import { ChangesPanel } from "./changes-panel.tsx";

const clusters = ["paris", "rome"].map((name) => cluster(name, "Ready"));

function read(apps: readonly App[], installed: readonly string[] = []) {
  return readPage(createElement(ChangesPanel), { fleet: fleet(apps, clusters, { installed }) });
}

const upgrading = app("web", "WaitApplied", { isChanging: true, version: "1.1.0", ready: 1 });

describe("what is in progress", () => {
  test("says from which version to which, and on how many clusters it is there", () => {
    const { text, links } = read([upgrading], ["web"]);

    assert.match(text, /^In progress web from 1\.0\.0 to 1\.1\.0 ?1 of 2$/);
    assert.deepEqual(Object.values(links), ["/apps/HelmOp/ns/web"]);
  });

  test("has no earlier version where the app is new", () => {
    assert.match(read([upgrading]).text, /^In progress web to 1\.1\.0 ?1 of 2$/);
  });

  test("has neither what is done nor what waits for somebody", () => {
    const since = "2026-01-01T11:58:00Z";
    const waitsFor = [{ kind: "HelmOp", namespace: "ns", name: "base" }] as const;
    const blocked = app("db", "WaitApplied", { isChanging: true, since, waitsFor: [...waitsFor] });

    assert.equal(read([app("web", "Ready"), { ...upgrading, suspended: true }, blocked]).text, "");
  });
});
