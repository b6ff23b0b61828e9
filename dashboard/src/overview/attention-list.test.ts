import assert from "node:assert/strict";
import { createElement } from "react";
import { describe, test } from "vitest";
import { concernsOf } from "../fleet/index.ts";
import { app, cluster, fleet, nowMs, source } from "../fleet/testing/index.ts";
import { readPage } from "../testing/read-page.ts";
import { AttentionList } from "./attention-list.tsx";

type Options = Parameters<typeof fleet>[2];

function list(apps: Parameters<typeof fleet>[0], query = "", options: Options = {}) {
  const clusters = ["paris", "rome"].map((name) => cluster(name, "Ready"));
  const state = fleet(apps, clusters, options);
  const concerns = concernsOf(state, nowMs);
  return readPage(createElement(AttentionList, { concerns }), { fleet: state, query });
}

const broken = app("web", "NotReady", {
  since: "2026-01-01T11:58:00Z",
  message: "2 pods crash",
  desired: 12,
  ready: 8,
});
const rejected = app("db", "NotAccepted", { message: "the chart has no name" });

describe("the list of what needs attention", () => {
  test("says what it is, since when, why, and what to do", () => {
    const { text, links } = list([broken], "", { installed: ["web"] });

    assert.match(text, /HelmOp web in ns/);
    assert.match(text, /since 2m /);
    assert.match(text, /2 pods crash/);
    assert.match(text, /What to do: Read the reason at the object that is not ready/);
    assert.match(text, /flotilla logs helmop\/web -n ns/);
    assert.equal(links["HelmOp web in ns"], "/apps/HelmOp/ns/web");
  });

  test("names the first clusters of an app with the reason in each, and counts the others", () => {
    const examples = [
      { cluster: "ns/paris", state: "NotReady", message: "image not found" },
      { cluster: "ns/rome", state: "NotReady", message: "out of memory" },
    ] as const;
    const { text, links } = list([{ ...broken, examples: [...examples] }], "", {
      installed: ["web"],
    });

    assert.match(text, /paris: image not found rome: out of memory and 2 more/);
    assert.doesNotMatch(text, /2 pods crash/);
    assert.match(links["paris"] ?? "", /paris.*web/);
    assert.match(text, /--cluster paris/);
  });

  test("has a button with the number of each harm, and shows those of the one in the address alone", () => {
    const options = { installed: ["web"] };
    const all = list([broken, rejected], "", options);
    const down = list([broken, rejected], "harm=down", options);
    const none = list([broken, rejected], "harm=unchanged", options);

    assert.deepEqual(all.buttons.slice(0, 2), ["Down or unreachable 1", "Never deployed 1"]);
    assert.match(all.text, /HelmOp web.*HelmOp db/);
    assert.equal(down.buttons[0], "[Down or unreachable 1]");
    assert.match(down.text, /HelmOp web/);
    assert.doesNotMatch(down.text, /HelmOp db/);
    assert.match(none.text, /Nothing of that kind needs attention now\./);
  });

  test("has ten, a button for the others, and all when the address says so", () => {
    const apps = Array.from({ length: 13 }, (_, at) =>
      app(`app-${at}`, "NotAccepted", { message: `reason ${at}` }),
    );
    const count = ({ text }: ReturnType<typeof list>) => text.split("What to do:").length - 1;
    const first = list(apps);
    const all = list(apps, "concerns=all");

    assert.equal(count(first), 10);
    assert.ok(first.buttons.includes("Show 3 more"), first.buttons.join());
    assert.equal(count(all), 13);
    assert.ok(!all.buttons.some((button) => button.startsWith("Show")));
  });

  test("names the apps that a source affects, and how many there are besides", () => {
    const apps = Array.from({ length: 7 }, (_, at) =>
      app(`app-${at}`, "Stalled", {
        kind: "HelmRelease",
        reason: "SourceNotReady",
        source: { kind: "HelmRepository", namespace: "ns", name: "charts" },
      }),
    );
    const sources = [source("HelmRepository", "charts", { message: "connection refused" })];
    const { text } = list(apps, "", { sources });

    assert.match(text, /HelmRepository charts in ns/);
    assert.match(text, /7 apps affected: HelmRelease app-0, .*HelmRelease app-4 and 2 more/);
  });

  test("says what blocks an app", () => {
    const waiting = app("web", "WaitApplied", {
      since: "2026-01-01T11:58:00Z",
      waitsFor: [{ kind: "HelmOp", namespace: "ns", name: "base" }],
    });
    const { text } = list([waiting]);

    assert.match(text, /Blocked by HelmOp base: .*2 clusters wait/);
  });
});
