import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { testDir } from "@flotilla/local/testing";
import { type TestContext, test } from "vitest";
import { proposedChange } from "./proposed-change.ts";

async function files(t: TestContext, ...contents: readonly string[]): Promise<readonly string[]> {
  const dir = await testDir(t);
  return await Promise.all(
    contents.map(async (content, index) => {
      const path = join(dir, `values-${index}.yaml`);
      await writeFile(path, content);
      return path;
    }),
  );
}

test("without flags nothing is changed", async () => {
  assert.equal(await proposedChange({}), undefined);
});

test("the version and the lines of --set are sent as they are", async () => {
  assert.equal(
    await proposedChange({ version: "~1.3", set: ["a=1,b=2"] }),
    '{"set":["a=1,b=2"],"version":"~1.3"}',
  );
});

test("a later file replaces what an earlier one has, and merges maps", async (t) => {
  const values = await files(
    t,
    "image: {tag: 1, pull: Always}\nlist: [1]\n",
    "image: {tag: 2}\nlist: [2]\n",
  );

  assert.equal(
    await proposedChange({ values }),
    '{"values":{"image":{"pull":"Always","tag":2},"list":[2]}}',
  );
});

test("null, and numbers with more digits than JavaScript has, stay what they are", async (t) => {
  const values = await files(t, "gone: null\nid: 12345678901234567890\n");

  assert.equal(
    await proposedChange({ values }),
    '{"values":{"gone":null,"id":12345678901234567890}}',
  );
});

test("an empty file has no values", async (t) => {
  assert.equal(await proposedChange({ values: await files(t, "# nothing\n") }), '{"values":{}}');
});

test("a file that is no YAML is named with the line, without its text", async (t) => {
  const values = await files(t, "password: hunter2\n  b: [\n");

  await assert.rejects(proposedChange({ values }), (thrown: Error) => {
    assert.match(thrown.message, /values-0\.yaml/);
    assert.ok(!thrown.message.includes("hunter2"));
    return true;
  });
});

test("a file that is a list, or is not there, is named", async (t) => {
  await assert.rejects(proposedChange({ values: await files(t, "- 1\n") }), {
    code: "VALUES_FILE_INVALID",
    message: /values-0\.yaml: they are not a map/,
  });
  await assert.rejects(proposedChange({ values: ["/nowhere/values.yaml"] }), {
    code: "VALUES_FILE_INVALID",
    message: /nowhere\/values\.yaml: ENOENT/,
  });
});
