import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { find } from "./find.ts";
import { shownStates } from "./shown-states.ts";
import { app, cluster, fleet, nowMs, source } from "./testing/index.ts";

const labelled = { ...cluster("paris", "Offline"), labels: { env: "prod" } };
const shown = fleet(
  [app("web", "Ready", { labels: { team: "core" } }), app("web-api", "NotReady")],
  [labelled, cluster("web-1", "Ready")],
  { sources: [source("HelmRepository", "charts")] },
);
const found = (text: string) =>
  find(shown, shownStates(shown, nowMs), text).map(({ heading, found: entries }) => [
    heading,
    entries.map((entry) => entry.text),
  ]);

describe("the palette", () => {
  const cases: readonly (readonly [
    what: string,
    text: string,
    groups: readonly (readonly [string, readonly string[]])[],
  ])[] = [
    ["finds nothing for what is not there", "nowhere", []],
    ["finds an app alone, and no empty groups", "api", [["Apps", ["web-api"]]]],
    [
      "finds a release by words of the app and of the cluster",
      "api paris",
      [["Releases", ["web-api on paris"]]],
    ],
    [
      "finds a release whose cluster is named as the app",
      "api web-1",
      [["Releases", ["web-api on web-1"]]],
    ],
    ["finds lists by a state", "not ready", [["Lists", ["Apps: Not ready"]]]],
    ["finds lists by a label", "env=", [["Lists", ["Clusters: env=prod"]]]],
    ["finds lists by a label of apps", "team=core", [["Lists", ["Apps: team=core"]]]],
    ["finds pages", "events", [["Pages", ["Events"]]]],
  ];
  test.each(cases)("%s", (_, text, groups) => {
    assert.deepEqual(found(text), groups);
  });

  test("has what has a page of its own before anything is typed", () => {
    assert.deepEqual(
      found("").map(([heading]) => heading),
      ["Apps", "Clusters", "Sources", "Pages"],
    );
  });

  test("opens a list with the filter in its address", () => {
    const [lists] = find(shown, shownStates(shown, nowMs), "env=prod");
    assert.deepEqual(
      lists?.found.map(({ href }) => href),
      ["/clusters?labels=env%3Dprod"],
    );
  });
});
