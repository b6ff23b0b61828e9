import assert from "node:assert/strict";
import type { App } from "@flotilla/shared/dashboard";
import { createElement } from "react";
import { describe, test } from "vitest";
import { app, cluster, fleet, source } from "../fleet/testing/index.ts";
import { readPage } from "../testing/read-page.ts";
import { AdviceAbout, AdviceForRelease } from "./advice.tsx";

const clusters = ["paris", "rome"].map((name) => cluster(name, "Ready"));
const web = { kind: "HelmOp", namespace: "ns", name: "web" } as const;
const long = "2026-01-01T11:58:00Z";

function aboutWeb(apps: readonly App[], options: Parameters<typeof fleet>[2] = {}) {
  const { kind } = apps[0] ?? web;
  const page = createElement(AdviceAbout, { object: { ...web, kind } });
  return readPage(page, { fleet: fleet(apps, clusters, options) });
}

describe("on the page of an app", () => {
  test("that is ready there is no advice", () => {
    assert.equal(aboutWeb([app("web", "Ready")]).text, "");
  });

  test("that has failed itself there is what to do, with a command", () => {
    const { text, buttons } = aboutWeb([app("web", "NotAccepted", { reason: "Invalid" })]);

    assert.match(text, /^What to do: Change the field that the message names\./);
    assert.match(text, /kubectl edit helmop web -n ns/);
    assert.deepEqual(buttons, ["copy"]);
  });

  test("whose source has failed there is a link to the source, and no other advice", () => {
    const charts = { kind: "HelmRepository", namespace: "ns", name: "charts" } as const;
    const release = app("web", "Stalled", {
      kind: "HelmRelease",
      reason: "SourceNotReady",
      source: charts,
    });
    const { text, links } = aboutWeb([release], { sources: [source(charts.kind, charts.name)] });

    assert.equal(
      text,
      "Caused by HelmRepository charts. What to do: correct that one first; this continues by itself.",
    );
    assert.match(links["HelmRepository charts"] ?? "", /HelmRepository\/ns\/charts/);
  });

  const waiting = (more: Partial<App>) => app("web", "WaitApplied", { since: long, ...more });
  const base = { ...web, name: "base" };
  const blocked: readonly (readonly [
    what: string,
    apps: readonly App[],
    text: RegExp,
    links: readonly string[],
  ])[] = [
    [
      "waits for what does not exist",
      [waiting({ waitsFor: [base] })],
      /^Blocked by HelmOp base: .*2 clusters wait\. What to do: .*Create it, or correct dependsOn/,
      ["HelmOp base"],
    ],
    [
      "waits for a suspended one",
      [waiting({ waitsFor: [base] }), app("base", "NotReady", { suspended: true })],
      /^Blocked by HelmOp base: .* What to do: Resume HelmOp base on its page/,
      ["HelmOp base"],
    ],
    [
      "is suspended itself",
      [waiting({ suspended: true })],
      /^It is suspended: 2 clusters wait for it until it is resumed\. What to do: Resume it/,
      [],
    ],
    [
      "waits for labels that no Bundle has, in one cluster",
      [waiting({ unmatched: ["tier=base"], ready: 1 })],
      /^Blocked: .*tier=base.* wait/,
      [],
    ],
  ];
  for (const [what, apps, expected, links] of blocked)
    test(`that ${what} there is what blocks it`, () => {
      const read = aboutWeb(apps);

      assert.match(read.text, expected);
      assert.deepEqual(Object.keys(read.links), links);
    });
});

describe("on the page of a release", () => {
  const releaseIn = (state: "Ready" | "NotReady", apps: readonly App[]) =>
    readPage(
      createElement(AdviceForRelease, {
        release: { app: web, state, message: "crashes" },
        cluster: "ns/paris",
      }),
      { fleet: fleet(apps, clusters) },
    ).text;

  test("the advice names the cluster", () => {
    assert.match(releaseIn("NotReady", [app("web", "NotReady")]), /--cluster paris/);
  });

  test("there is none where it is ready, or where the app is gone", () => {
    assert.equal(releaseIn("Ready", [app("web", "NotReady")]), "");
    assert.equal(releaseIn("NotReady", []), "");
  });
});
