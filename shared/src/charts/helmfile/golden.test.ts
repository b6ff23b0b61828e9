/** Addresses mean what helmfile's own parser takes them for, but for the listed differences. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { goldenDir } from "../version/testing/index.ts";
import {
  differentAddresses,
  meaningOf,
  meaningToHelmfile,
  readHelmfileGolden,
  refusedAddresses,
  sameAddresses,
} from "./testing/index.ts";

const golden = await readHelmfileGolden();
const sources = new Map([...golden.rows, ...golden.random]);
const generate = "run node shared/generate/golden-helmfile.ts";

test("the golden file has these addresses, as the version of helmfile in go.mod parses them", async () => {
  const module = await readFile(join(goldenDir, "helmfile", "go.mod"), "utf8");
  const asked = [
    ...sameAddresses,
    ...Object.values(differentAddresses).flat(),
    ...refusedAddresses,
  ];

  assert.deepEqual(
    golden.rows.map(([address]) => address),
    asked,
    generate,
  );
  assert.equal(new Set(asked).size, asked.length, "an address is there twice");
  assert.match(
    module,
    new RegExp(`github.com/helmfile/helmfile ${golden.version}$`, "m"),
    generate,
  );
});

for (const address of sameAddresses) {
  test(`${JSON.stringify(address)} means what it means to helmfile`, () => {
    assert.notEqual(meaningOf(address), "refused");
    assert.equal(meaningOf(address), theirs(address));
  });
}

for (const [why, addresses] of Object.entries(differentAddresses)) {
  for (const address of addresses) {
    test(`${JSON.stringify(address)} is a listed difference: ${why}`, () => {
      assert.notEqual(meaningOf(address), theirs(address));
    });
  }
}

for (const address of refusedAddresses) {
  test(`${JSON.stringify(address)} is refused, as by helmfile`, () => {
    assert.equal(meaningOf(address), "refused");
    assert.equal(theirs(address), "refused");
  });
}

test("random addresses of the forms that both have mean what they mean to helmfile", () => {
  assert.ok(golden.random.length > 200);
  for (const [address, source] of golden.random)
    assert.equal(meaningOf(address), meaningToHelmfile(source), address);
});

function theirs(address: string): string {
  const source = sources.get(address);
  assert.ok(source !== undefined, generate);
  return meaningToHelmfile(source);
}
