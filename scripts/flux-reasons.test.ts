/** Flux's types and reasons are written in one file, from which all programs have them: what one writes another waits for. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fluxReason, fluxType } from "@flotilla/shared/flux/reasons";
import { test } from "vitest";
import { root } from "./run.ts";

const home = "shared/src/api/flux/reasons/index.ts";
const sources = "{agent,cli,dashboard,hub,local,proto,shared}/src/**/*.{ts,tsx}";

/** Words that something else has too: phases, results of requests, reasons of BundleRollouts, Kubernetes and S3. */
const ordinary: ReadonlySet<string> = new Set([
  fluxReason.succeeded,
  fluxReason.failed,
  fluxReason.progressing,
  fluxReason.accessDenied,
  fluxReason.dependencyNotReady,
  fluxReason.driftCorrected,
  fluxReason.notFound,
  // The wire has these types as well, and `proto` imports no other package; others are states of the dashboard.
  fluxType.ready,
  fluxType.reconciling,
  fluxType.stalled,
  fluxType.released,
  fluxType.testSuccess,
  fluxType.remediated,
  fluxType.drifted,
]);
const distinctive = [...Object.values(fluxReason), ...Object.values(fluxType)].filter(
  (name) => !ordinary.has(name),
);
/** As a text or as a key. Documentation has them in backquotes. */
const literal = new RegExp(`"(${distinctive.join("|")})"|(^|[{,])\\s*(${distinctive.join("|")}):`);

test("Flux's reasons and types are written in no other file", () => {
  const files = globSync(sources, {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|build|generated|testing)$/.test(path),
  }).filter((path) => path !== home && !path.endsWith(".test.ts"));
  const found = files.flatMap((path) => {
    const lines = readFileSync(join(root, path), "utf8").split("\n");
    return lines.flatMap((line, at) =>
      literal.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [],
    );
  });

  assert.ok(files.length > 1_000);
  assert.deepEqual(found, []);
});

test("a planted reason is found, as a text and as a key", () => {
  for (const line of ['reason === "UpgradeFailed"', "  SourceNotReady: 1,", "{ ValuesError: 1 }"])
    assert.match(line, literal);
});

test("a reason in documentation, or of something else, is accepted", () => {
  for (const line of ["/** As `UpgradeFailed`. */", 'case "NotFound":', "fluxReason.valuesError"])
    assert.doesNotMatch(line, literal);
});
