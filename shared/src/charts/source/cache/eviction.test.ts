import assert from "node:assert/strict";
import { describe, test } from "vitest";
import {
  type CachedFile,
  evicted,
  formatArchiveName,
  isObsolete,
  parseArchiveName,
} from "./eviction.ts";

const originOf = (letter: string): string => letter.repeat(32);
const nameOf = (letter: string): string =>
  formatArchiveName({ digest: `sha256:${"0".repeat(64)}`, origin: originOf(letter) });
const fileOf = (letter: string, usedMs: number, sizeBytes = 10): CachedFile => ({
  name: nameOf(letter),
  sizeBytes,
  usedMs,
});

test("the name of an archive has its digest and its origin", () => {
  const archive = { digest: `sha256:${"a".repeat(64)}`, origin: originOf("b") };

  assert.deepEqual(parseArchiveName(formatArchiveName(archive)), archive);
  for (const name of ["origin-key", "part-1", `sha256-${"a".repeat(64)}.tgz`])
    assert.equal(parseArchiveName(name), undefined);
});

describe("eviction", () => {
  const files = [fileOf("c", 3), fileOf("a", 1), fileOf("b", 2)];

  for (const [what, maxBytes, inUse, expected] of [
    ["deletes nothing that fits", 30, [], []],
    ["deletes the least recently used", 20, [], ["a"]],
    ["deletes as many as it must", 10, [], ["a", "b"]],
    ["keeps what is in use", 20, ["a"], ["b"]],
    ["keeps what is in use beyond the limit", 0, ["a", "b", "c"], []],
  ] as const)
    test(what, () => {
      const used = new Set<string>(inUse.map(originOf));
      const names = [...evicted(files, maxBytes, (origin) => used.has(origin))].map(
        ({ name }) => name,
      );

      assert.deepEqual(names, expected.map(nameOf));
    });

  test("keeps a chart that comes into use while another one is deleted", () => {
    const used = new Set<string>();
    const names: string[] = [];
    for (const { name } of evicted(files, 10, (origin) => used.has(origin))) {
      names.push(name);
      used.add(originOf("b"));
    }

    assert.deepEqual(names, [nameOf("a"), nameOf("c")]);
  });

  test("counts archives alone", () => {
    const key = { name: "origin-key", sizeBytes: 1_000, usedMs: 0 };

    assert.deepEqual([...evicted([key, ...files], 30, () => false)], []);
  });
});

test("files of earlier versions and old parts are obsolete", () => {
  const hourMs = 3_600_000;
  const isObsoleteAt = (name: string, idleMs: number) => isObsolete({ name, usedMs: 0 }, idleMs);

  assert.equal(isObsoleteAt(`sha256-${"a".repeat(64)}.tgz`, 0), true);
  assert.equal(isObsoleteAt("part-1", hourMs), false);
  assert.equal(isObsoleteAt("part-1", hourMs + 1), true);
  assert.equal(isObsoleteAt(nameOf("a"), 100 * hourMs), false);
});
