import assert from "node:assert/strict";
import { test } from "vitest";
import { clientAddress } from "./client-address.ts";

const cases: readonly (readonly [
  what: string,
  header: string | undefined,
  value: string | string[] | undefined,
  address: string,
])[] = [
  ["without a configured header is that of the connection", undefined, "203.0.113.9", "10.0.0.1"],
  ["is the last entry of the header", "X-Forwarded-For", "forged, 203.0.113.9", "203.0.113.9"],
  ["is the last of several headers", "X-Forwarded-For", ["forged", "203.0.113.9"], "203.0.113.9"],
  ["without the header is that of the connection", "X-Forwarded-For", undefined, "10.0.0.1"],
  ["with an empty header is that of the connection", "X-Forwarded-For", " ", "10.0.0.1"],
];
for (const [what, header, value, address] of cases) {
  test(`the address of a client ${what}`, () => {
    const request = {
      headers: { "x-forwarded-for": value as string },
      socket: { remoteAddress: "10.0.0.1" },
    };

    assert.equal(clientAddress(request, header), address);
  });
}
