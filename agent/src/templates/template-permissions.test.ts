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
  isAgent: boolean,
  expected: RegExp | undefined,
])[] = [
  ["neither the cluster nor DNS", {}, { disableDNS: true, disableLookup: true }, true, undefined],
  ["the cluster, with an impersonated account", lookup, {}, false, undefined],
  [
    "the cluster, with the agent's rights",
    lookup,
    {},
    true,
    /^app\/templates\/a\.yaml calls lookup.* rights of the agent; give .* serviceAccount.* or allow it with helm\.disableLookup: false$/,
  ],
  [
    "the cluster, with the agent's rights, if that is allowed",
    lookup,
    { disableLookup: false },
    true,
    undefined,
  ],
  [
    "the cluster, if that is disabled",
    lookup,
    { disableLookup: true },
    false,
    /which helm\.disableLookup disables$/,
  ],
  [
    "DNS",
    dns,
    {},
    false,
    /^app\/templates\/b\.yaml calls getHostByName.* only with helm\.disableDNS: false/,
  ],
  ["DNS, if that is allowed", dns, { disableDNS: false }, true, undefined],
  ["DNS, if Helm returns nothing", dns, { disableDNS: true }, true, undefined],
  [
    "both, if only one is allowed",
    { ...lookup, ...dns },
    { disableLookup: false },
    true,
    /getHostByName/,
  ],
];

describe("templates that read", () => {
  for (const [what, calls, options, isAgent, expected] of cases) {
    test(`${what} ${expected === undefined ? "are rendered" : "are denied"}`, () => {
      const error = validateOutsideCalls(calls, options, isAgent);

      if (expected === undefined) assert.equal(error, undefined);
      else assert.match(error ?? "", expected);
    });
  }
});
