import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { OutsideCalls } from "./template-calls.ts";
import { refusalOf } from "./template-rights.ts";

const lookup: OutsideCalls = { lookup: "app/templates/a.yaml" };
const dns: OutsideCalls = { getHostByName: "app/templates/b.yaml" };

const cases: readonly (readonly [
  what: string,
  calls: OutsideCalls,
  allowance: Parameters<typeof refusalOf>[1],
  actsAsAgent: boolean,
  refusal: RegExp | undefined,
])[] = [
  ["nothing outside", {}, { disableDNS: true, disableLookup: true }, true, undefined],
  ["the cluster, as an account", lookup, {}, false, undefined],
  [
    "the cluster, as the agent",
    lookup,
    {},
    true,
    /^app\/templates\/a\.yaml calls lookup.* rights of the agent itself; give .* serviceAccount.* or allow it with helm\.disableLookup: false$/,
  ],
  [
    "the cluster, as the agent, where that is allowed",
    lookup,
    { disableLookup: false },
    true,
    undefined,
  ],
  [
    "the cluster, where that is forbidden",
    lookup,
    { disableLookup: true },
    false,
    /which helm\.disableLookup forbids$/,
  ],
  [
    "name servers",
    dns,
    {},
    false,
    /^app\/templates\/b\.yaml calls getHostByName.* allowed with helm\.disableDNS: false/,
  ],
  ["name servers, where that is allowed", dns, { disableDNS: false }, true, undefined],
  ["name servers, which Helm gives no answers of", dns, { disableDNS: true }, true, undefined],
  [
    "both, of which one is allowed",
    { ...lookup, ...dns },
    { disableLookup: false },
    true,
    /getHostByName/,
  ],
];

describe("templates that ask", () => {
  for (const [what, calls, allowance, actsAsAgent, refusal] of cases) {
    test(`${what} ${refusal === undefined ? "are rendered" : "are refused"}`, () => {
      const said = refusalOf(calls, allowance, actsAsAgent);

      if (refusal === undefined) assert.equal(said, undefined);
      else assert.match(said ?? "", refusal);
    });
  }
});
