import assert from "node:assert/strict";
import { test } from "vitest";
import { addressBlock } from "./address-block.ts";

const cases: readonly (readonly [string, string])[] = [
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:db8::9", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
];

for (const [address, block] of cases)
  test(`${address} counts as ${block}`, () => assert.equal(addressBlock(address), block));
