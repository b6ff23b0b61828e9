import assert from "node:assert/strict";
import type { SourceDetail } from "@flotilla/shared/dashboard";
import { createElement } from "react";
import { describe, test } from "vitest";
import { fleet, source } from "../fleet/testing/index.ts";
import { readPage } from "../testing/read-page.ts";
import { SourcePage } from "./source-page.tsx";

const ref = { kind: "HelmRepository", namespace: "ns", name: "charts" } as const;
const earlier = "2026-01-01T11:58:00Z";

function page(state: SourceDetail["state"], more: Partial<SourceDetail> = {}) {
  const inFleet = source(ref.kind, ref.name, { state });
  const detail: SourceDetail = {
    ...inFleet,
    polling: { failures: 0 },
    usedBy: [],
    actions: [],
    conditions: [],
    events: [],
    yaml: "kind: HelmRepository",
    ...more,
  };
  return readPage(createElement(SourcePage, ref), {
    fleet: fleet([], [], { sources: [inFleet] }),
    details: { "/api/v1/sources/HelmRepository/ns/charts": detail },
  });
}

describe("the page of a source", () => {
  test("says where it is, what was found there, and when it is read again", () => {
    const digest = `sha256:${"0123456789abcdef".repeat(4)}`;
    const polling = { interval: "1m", last: earlier, next: "2026-01-01T12:03:30Z", failures: 0 };
    const { text, buttons } = page("Ready", { revision: "1.2.3", digest, polling });

    assert.match(text, /HelmRepository charts Ready/);
    assert.match(text, /Address https:\/\/charts\.example\.com Revision 1\.2\.3 /);
    assert.match(text, /Digest sha256:0123456789ab… /);
    assert.match(text, /Interval 1m Last fetch 2m ago succeeded Next fetch in 3m/);
    assert.deepEqual(buttons, ["copy"]);
  });

  test("says why it could not be read, and what to do", () => {
    const polling = { last: earlier, failures: 3, error: "connection refused" };
    const { text } = page("Failed", { message: "connection refused", polling });

    assert.match(text, /connection refused What to do: Change the field/);
    assert.match(text, /Last fetch 2m ago failed: connection refused/);
    assert.doesNotMatch(text, /Interval|Next fetch|Revision|Digest/);
  });

  test("says who has changed it", () => {
    const { text } = page("Ready", { since: earlier, changedAt: earlier, changedBy: "kubectl" });

    assert.match(text, /since 2m, changed 2m ago by the field manager kubectl/);
  });

  test("leads to the HelmReleases that use it", () => {
    const usedBy = ["web", "db"].map((name) => ({ ...ref, kind: "HelmRelease" as const, name }));
    const { links } = page("Ready", { usedBy });

    assert.equal(links["ns/web"], "/apps/HelmRelease/ns/web");
    assert.equal(links["ns/db"], "/apps/HelmRelease/ns/db");
    assert.match(page("Ready").text, /Used by no HelmRelease that you may see/);
  });
});
