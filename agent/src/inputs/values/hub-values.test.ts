import assert from "node:assert/strict";
import type { HubValuesSource } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import type { Values } from "@flotilla/shared/values";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import { describe, test } from "vitest";
import { readHubValues } from "./hub-values.ts";
import { redact, secretTexts } from "./redact-secrets.ts";

type Objects = Readonly<Record<string, Readonly<Record<string, string>> | "absent" | "deleted">>;

const file = { kind: "ConfigMap", name: "apps/file", key: "values.yaml" } as const;
const secret = { kind: "Secret", name: "apps/secret", key: "password" } as const;

/** Objects by name; of Secrets in clear text. */
function read(sources: readonly HubValuesSource[], objects: Objects) {
  return readHubValues(sources, {
    readYaml: (text, name) => Promise.resolve(parseHelmYaml(text, { name })),
    clusterInfo: { get: () => undefined },
    referenced: {
      get({ kind, name }) {
        const texts = objects[name];
        if (texts === undefined) return undefined;
        if (texts === "absent") return {};
        if (texts === "deleted") return { object: { data: { "values.yaml": "a: deleted" } } };
        const encode = (text: string) =>
          kind === "Secret" ? Buffer.from(text).toString("base64") : text;
        const data = Object.fromEntries(
          Object.entries(texts).map(([key, text]) => [key, encode(text)]),
        );
        return { digest: "sha256:1", object: { data } };
      },
    },
  });
}

describe("the values of a HelmRelease", () => {
  const cases: readonly (readonly [
    what: string,
    sources: readonly HubValuesSource[],
    own: Values | undefined,
    values: Values | undefined,
  ])[] = [
    ["are the inline ones over those of files", [file], { a: "own" }, { a: "own", b: 1, l: [1] }],
    ["are those of files without inline ones", [file], undefined, { a: "file", b: 1, l: [1] }],
    [
      "are those of the last file, with its lists as a whole",
      [file, { ...file, key: "more" }],
      undefined,
      { a: "more", b: 1, l: [2] },
    ],
    [
      "have a value at a path over the inline ones, wherever it stands in the list",
      [{ ...secret, targetPath: "a" }, file],
      { a: "own" },
      { a: 1234567, b: 1, l: [1] },
    ],
    [
      "have a literal value as a string",
      [{ ...secret, targetPath: "a.b", literal: true }],
      undefined,
      { a: { b: "1234567" } },
    ],
    ["lack those of an optional object that is absent", [optional("none")], { a: 1 }, { a: 1 }],
    ["lack those of an optional object that was deleted", [optional("old")], { a: 1 }, { a: 1 }],
    [
      "are those that the content has itself, whatever the object has by now",
      [
        { ...file, object: { data: { "values.yaml": "a: then" } } },
        { ...secret, targetPath: "b", object: { data: { password: "Nzc=" } } },
      ],
      undefined,
      { a: "then", b: 77 },
    ],
    ["are none without any", [], undefined, undefined],
  ];
  for (const [what, sources, own, values] of cases) {
    test(what, async () => {
      const found = await read(sources, {
        "apps/file": { "values.yaml": "{a: file, b: 1, l: [1]}", more: "{a: more, l: [2]}" },
        "apps/secret": { password: "1234567" },
        "apps/none": "absent",
        "apps/old": "deleted",
      });

      assert.deepEqual(found.around(own), values);
    });
  }

  function optional(name: string): HubValuesSource {
    return { ...file, name: `apps/${name}`, optional: true };
  }
});

describe("a source of values that cannot be used", () => {
  const cases: readonly (readonly [
    what: string,
    source: HubValuesSource,
    objects: Objects,
    code: string,
    message: RegExp,
  ])[] = [
    [
      "waits for an object that the hub has not sent",
      { ...file, optional: true },
      {},
      "REFERENCED_OBJECT_PENDING",
      /^waiting for the hub to send the ConfigMap apps\/file, which has values of the release$/,
    ],
    [
      "is reported when the hub has no such object",
      file,
      { "apps/file": "absent" },
      "REFERENCED_OBJECT_NOT_FOUND",
      /^the hub has no ConfigMap apps\/file, which valuesFrom references/,
    ],
    [
      "is reported when the object was deleted",
      file,
      { "apps/file": "deleted" },
      "REFERENCED_OBJECT_NOT_FOUND",
      /^ConfigMap apps\/file of the hub, which valuesFrom references, was deleted; the release stays as it is/,
    ],
    [
      "is reported when the key is missing, even if it is optional",
      { ...file, optional: true },
      { "apps/file": { other: "" } },
      "VALUES_SOURCE_MISSING",
      /^key values.yaml not found in ConfigMap apps\/file of the hub/,
    ],
    [
      "is reported when the key of a value at a path is missing",
      { ...secret, targetPath: "a" },
      { "apps/secret": { other: "" } },
      "VALUES_SOURCE_MISSING",
      /^key password not found in Secret apps\/secret of the hub/,
    ],
    [
      "is reported without its text when it cannot be set",
      { ...secret, targetPath: "a.b" },
      { "apps/secret": { password: "hunter2,hunter3" } },
      "VALUES_SOURCE_INVALID",
      /^valuesFrom: key password of Secret apps\/secret of the hub cannot be set at targetPath a\.b, its value, where a comma begins a path: a name has no value$/,
    ],
  ];
  for (const [what, source, objects, code, message] of cases) {
    test(what, async () => {
      await assert.rejects(
        async () => (await read([source], objects)).around({}),
        (thrown) => {
          assert.ok(thrown instanceof AppError);
          assert.equal(thrown.code, code);
          assert.match(thrown.message, message);
          assert.doesNotMatch(thrown.message, /hunter/);
          return true;
        },
      );
    });
  }
});

test("masks the values of Secrets, and their parts at a path", async () => {
  const { secrets } = await read(
    [
      { ...secret, targetPath: "list" },
      { ...secret, key: "values.yaml" },
      { ...file, key: "plain" },
    ],
    {
      "apps/secret": { password: "{hunter2,hunter3}", "values.yaml": "token: abcdefg" },
      "apps/file": { plain: "public: visible" },
    },
  );

  const texts = secretTexts(secrets);
  for (const text of ["hunter2", "hunter3", "{hunter2,hunter3}", "abcdefg"])
    assert.equal(redact(text, texts), "***");
  assert.equal(redact("visible", texts), "visible");
});

test("has the same sources while no text changes", async () => {
  const sources = [file, { ...secret, targetPath: "a" }];
  const objects: Objects = {
    "apps/file": { "values.yaml": "b: 1" },
    "apps/secret": { password: "x" },
  };

  const [one, same, other] = await Promise.all([
    read(sources, objects),
    read(sources, { ...objects, "apps/file": { "values.yaml": "b: 1 # the same" } }),
    read(sources, { ...objects, "apps/secret": { password: "y" } }),
  ]);

  assert.deepEqual(same.sources, one.sources);
  assert.notDeepEqual(other.sources, one.sources);
});
