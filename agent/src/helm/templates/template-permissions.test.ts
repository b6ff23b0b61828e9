import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { OutsideCalls } from "./template-calls.ts";
import { validateOutsideCalls } from "./template-guard.ts";

const lookup: OutsideCalls = { lookup: "app/templates/a.yaml" };
const dns: OutsideCalls = { getHostByName: "app/templates/b.yaml" };

const cases: readonly (readonly [
  what: string,
  calls: OutsideCalls,
  options: Parameters<typeof validateOutsideCalls>[1],
  expected: RegExp | undefined,
])[] = [
  ["neither the cluster nor DNS", {}, { disableDNS: true, disableLookup: true }, undefined],
  ["the cluster, if nothing is said of it", lookup, {}, undefined],
  ["the cluster, if that is allowed", lookup, { disableLookup: false }, undefined],
  [
    "the cluster, if that is disabled",
    lookup,
    { disableLookup: true },
    /which helm\.disableLookup disables$/,
  ],
  [
    "DNS",
    dns,
    {},
    /^app\/templates\/b\.yaml calls getHostByName.* only with helm\.disableDNS: false/,
  ],
  ["DNS, if that is allowed", dns, { disableDNS: false }, undefined],
  ["DNS, if Helm returns nothing", dns, { disableDNS: true }, undefined],
  [
    "both, if only one is allowed",
    { ...lookup, ...dns },
    { disableLookup: false },
    /getHostByName/,
  ],
];

describe("templates that read", () => {
  for (const [what, calls, options, expected] of cases) {
    test(`${what} ${expected === undefined ? "are rendered" : "are denied"}`, () => {
      const error = validateOutsideCalls(calls, options);

      if (expected === undefined) assert.equal(error, undefined);
      else assert.match(error ?? "", expected);
    });
  }
});
