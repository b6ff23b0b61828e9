import assert from "node:assert/strict";
import { growthOf } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { aHelmOp } from "../../testing/index.ts";
import { matchHelmOps } from "./match-helm-ops.ts";
import type { Push, PushedRepository } from "./registry-push.ts";

function polled(name: string, repo: string, spec: object = {}) {
  const chart = repo.startsWith("oci:") ? "" : "web";
  return aHelmOp(
    { pollingInterval: "1h", helm: { repo, chart, version: "1.x" }, ...spec },
    { name },
  );
}

const helmOps = [
  polled("oci", "oci://registry.example.com/charts/web"),
  polled("mirror", "oci://mirror.example.com:5000/charts/web"),
  polled("other", "oci://registry.example.com/charts/other"),
  polled("http", "https://charts.example.com/stable/"),
  polled("root", "https://charts.example.com"),
  polled("root-elsewhere", "https://elsewhere.example.com/"),
  polled("static", "oci://registry.example.com/charts/web", {
    helm: { repo: "oci://registry.example.com/charts/web", version: "1.0.0" },
  }),
  polled("suspended", "oci://registry.example.com/charts/web", { suspend: true }),
  polled("once", "oci://registry.example.com/charts/web", { pollingInterval: "0" }),
  polled("by-target", "https://charts.example.com/x", {
    targets: [{ helm: { repo: "oci://registry.example.com/by/target", chart: "" } }],
  }),
];

const named = (...repositories: PushedRepository[]): Push => ({ kind: "named", repositories });
const everyone = ["oci", "mirror", "other", "http", "root", "root-elsewhere", "by-target"];

const cases: readonly (readonly [what: string, push: Push, names: readonly string[]])[] = [
  ["a host and a path", named({ host: "registry.example.com", path: "charts/web" }), ["oci"]],
  ["an unused host", named({ host: "10.0.0.1", path: "charts/web" }), ["oci", "mirror"]],
  ["a path", named({ path: "charts/web" }), ["oci", "mirror"]],
  ["an unused path", named({ path: "charts/we" }), []],
  ["a repository below a path", named({ host: "charts.example.com", path: "stable" }), ["http"]],
  ["a repository at the root", named({ host: "charts.example.com", path: "" }), ["root"]],
  ["the root of an unused host", named({ host: "10.0.0.1", path: "" }), []],
  [
    "two, one of them twice",
    named({ path: "charts/other" }, { path: "charts/other" }, { path: "stable" }),
    ["other", "http"],
  ],
  ["a target's repository", named({ path: "by/target" }), ["by-target"]],
  ["everything", { kind: "all" }, everyone],
  ["nothing", { kind: "nothing" }, []],
  ["an invalid body", { kind: "invalid" }, []],
];
for (const [what, push, names] of cases) {
  test(`a sender that names ${what}: ${names.length} are polled`, () => {
    assert.deepEqual(
      matchHelmOps(push, helmOps).map(({ metadata }) => metadata.name),
      names,
    );
  });
}

test("repositories and HelmOps are not compared with each other one by one", () => {
  const numbers = Array.from({ length: 2_000 }, (_, at) => at);
  const all = numbers.map((at) =>
    polled(`web-${at}`, `oci://registry.example.com/charts/web-${at}`),
  );
  const push = named(...numbers.map((at) => ({ path: `charts/web-${at}` })));

  const growth = growthOf({ small: 125, large: 2_000 }, (size) => {
    const repositories = push.kind === "named" ? push.repositories.slice(0, size) : [];
    assert.equal(matchHelmOps(named(...repositories), all.slice(0, size)).length, size);
  });

  assert.ok(growth < 1.5, `it grows with the power of ${growth}`);
});
